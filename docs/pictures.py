"""The figures of the pages, drawn when the documentation is built.

`python docs/pictures.py FOLDER` draws them alone. `python docs/pictures.py front` draws README's picture,
docs/photograph.png.
"""

import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from fourierwalk import AdaptiveFourierRegressor
from fourierwalk.reporting.provenance import provenance

STYLE = Path(__file__).parents[1] / "examples" / "gallery.mplstyle"


def target(x: np.ndarray) -> np.ndarray:
    """A function of one input with slow and fast parts."""
    return np.sin(2 * x) + 0.5 * np.sin(11 * x) * np.exp(-(x**2))


def data(n: int, seed: int = 0, noise: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the target, with noise."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3, 3, size=(n, 1))
    return x, target(x[:, 0]) + noise * rng.normal(size=n)


def error(model: AdaptiveFourierRegressor) -> float:
    """The root mean square error without noise."""
    x = np.linspace(-2.9, 2.9, 500)[:, None]
    return float(np.sqrt(np.mean((model.predict(x) - target(x[:, 0])) ** 2)))


def idea() -> plt.Figure:
    """Random features against adapted ones at the same K."""
    x, y = data(600)
    grid = np.linspace(-3, 3, 600)[:, None]
    figure, axes = plt.subplots(2, 2, figsize=(10, 5.6), sharex="col", sharey="col", width_ratios=[1.5, 1])
    kinds = [
        ("32 frequencies, drawn once", {"sampler": "fixed", "initial": 4.0, "regularization": 1e-3}, "#d1495b"),
        (
            "32 frequencies that moved",
            {"sampler": "resampling", "initial": 4.0, "regularization": 1e-3, "n_steps": 60},
            "#2a6f97",
        ),
    ]
    for (left, right), (name, settings, colour) in zip(axes, kinds, strict=True):
        model = AdaptiveFourierRegressor(32, random_state=0, **settings).fit(x, y)
        left.plot(x[:, 0], y, ".", color="#8d99ae", markersize=3)
        left.plot(grid[:, 0], target(grid[:, 0]), "--", color="#1d2530", linewidth=1)
        left.plot(grid[:, 0], model.predict(grid), color=colour)
        left.set(title=f"{name}: error {error(model):.2f}", ylabel="y")
        frequencies, amplitudes = model.model_.spectrum()
        right.vlines(np.abs(frequencies[:, 0]), 0, np.abs(amplitudes[:, 0]), color=colour)
        right.plot(np.abs(frequencies[:, 0]), np.abs(amplitudes[:, 0]), "o", color=colour, markersize=5)
        right.set(title="Amplitudes", ylabel="|β|", xlim=(0, 16), ylim=(0, None))
    axes[1, 0].set_xlabel("x")
    axes[1, 1].set_xlabel("frequency |ω|, rad per unit of x")
    return figure


def knobs() -> plt.Figure:
    """Error over four settings, each alone."""
    x, y = data(600)
    fixed = {"sampler": "resampling", "n_frequencies": 32, "initial": 4.0, "n_steps": 60, "regularization": 1e-3}
    sweeps = [
        ("n_frequencies", "number of frequencies K", [2, 4, 8, 16, 32, 64, 128]),
        ("regularization", "ridge λ", [1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0]),
        ("initial", "spread σ of the first frequencies", [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0]),
        ("n_steps", "steps M", [1, 3, 10, 30, 100, 300]),
    ]
    figure, axes = plt.subplots(2, 2, figsize=(9, 6.4), sharey=True)
    for panel, (name, label, values) in zip(axes.flat, sweeps, strict=True):
        for sampler, colour in (("fixed", "#d1495b"), ("resampling", "#2a6f97")):
            if name == "n_steps" and sampler == "fixed":
                continue
            errors = [
                [
                    error(
                        AdaptiveFourierRegressor(random_state=seed, **{**fixed, "sampler": sampler, name: value}).fit(
                            x, y
                        )
                    )
                    for value in values
                ]
                for seed in range(3)
            ]
            panel.loglog(
                values,
                np.mean(errors, axis=0),
                "o-",
                color=colour,
                label="drawn once" if sampler == "fixed" else "moved",
            )
        panel.set(xlabel=label)
    for panel in axes[:, 0]:
        panel.set_ylabel("error without noise")
    axes[0, 0].set_title("The same problem, one knob at a time")
    axes[0, 0].legend()
    return figure


def exponent() -> plt.Figure:
    """What γ and δ do to the share of accepted moves and to the error of the paper's walk."""
    x, y = data(400)
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.8))
    colours = plt.get_cmap("viridis")
    exponents = [0.3, 1.0, 3.0, 10.0]
    sizes = [0.1, 0.3, 1.0, 3.0, 10.0]
    for row, gamma in enumerate(exponents):
        accepted, errors = [], []
        for size in sizes:
            settings = {"step_size": size, "exponent": gamma, "n_steps": 200, "initial": 0.0, "regularization": 1e-3}
            model = AdaptiveFourierRegressor(24, sampler="metropolis", random_state=0, **settings).fit(x, y)
            accepted.append(np.mean([info.acceptance for info in model.history_.infos]))
            errors.append(error(model))
        axes[0].semilogx(sizes, accepted, "o-", color=colours(row / 4), label=f"γ = {gamma:g}")
        axes[1].loglog(sizes, errors, "o-", color=colours(row / 4), label=f"γ = {gamma:g}")
    axes[0].set(title="Accepted moves", xlabel="step size δ", ylabel="share", ylim=(0, 1))
    axes[1].set(title="Error after 200 steps", xlabel="step size δ", ylabel="error without noise")
    axes[1].legend()
    return figure


def bars() -> plt.Figure:
    """Intervals where noise grows from left to right, and where there are no rows."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, size=1200)
    x = x[(x < 0.4) | (x > 1.3)]
    y = np.sin(2 * x) + (0.05 + 0.12 * (x + 3)) * rng.normal(size=x.size)
    model = AdaptiveFourierRegressor(random_state=0).fit(x[:, None], y)
    grid = np.linspace(-3, 3, 500)
    figure, panel = plt.subplots(figsize=(9, 4.2))
    intervals = model.predict_interval(grid[:, None], [0.95, 0.5])
    for level, name, shade in ((0, "95 %", 0.18), (1, "50 %", 0.35)):
        low, high = intervals[:, 0, level], intervals[:, 1, level]
        panel.fill_between(grid, low, high, color="#2a6f97", alpha=shade, linewidth=0, label=f"{name} interval")
    panel.plot(x, y, ".", color="#5b6470", markersize=3, label="rows")
    panel.plot(grid, model.predict(grid[:, None]), color="#d1495b", label="prediction")
    panel.plot(grid, np.sin(2 * grid), "--", color="#1d2530", linewidth=1, label="the truth")
    panel.set(
        title="More noise on the right, no rows in the gap", xlabel="x", ylabel="y", xlim=(-3, 3), ylim=(-3.5, 3.5)
    )
    panel.legend(ncols=5, loc="upper left", fontsize=9, markerscale=2)
    return figure


PICTURES: dict[str, Callable[[], plt.Figure]] = {"idea": idea, "knobs": knobs, "exponent": exponent, "bars": bars}


def draw(folder: Path) -> None:
    """Draw the pictures that are missing, or older than this file."""
    written = Path(__file__).stat().st_mtime
    with plt.style.context(STYLE):
        for name, picture in PICTURES.items():
            path = folder / f"{name}.png"
            if not path.exists() or path.stat().st_mtime < written:
                figure = picture()
                figure.savefig(path, dpi=110)
                plt.close(figure)


def front() -> None:
    """README's picture: the figure of an example, with its origin in the file."""
    with plt.style.context(STYLE), plt.rc_context({"backend": "agg"}):
        runpy.run_path(str(STYLE.parent / "plot_photograph.py"))
        about = {"seed": 0, **provenance("python docs/pictures.py front")}
        plt.gcf().savefig(Path(__file__).with_name("photograph.png"), dpi=64, metadata={"Comment": json.dumps(about)})


if __name__ == "__main__":
    front() if sys.argv[1] == "front" else draw(Path(sys.argv[1]))
