"""Figures by matplotlib. Every function returns a figure and shows nothing.

A figure is as wide as a phone. Several panels are several figures, which a page puts side by side where there is room.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fourierwalk.reporting import vector
from fourierwalk.reporting.colors import COLORS, LIGHT

INK, QUIET, FAINT, GRID = LIGHT["ink"], LIGHT["quiet"], LIGHT["faint"], LIGHT["grid"]
MARKERS = ("o", "s", "D", "^", "v", "*")
WIDTH, HEIGHT = 4.6, 3.5
SMALL, USUAL = 9.5, 10.5
GUIDE = "K^(−1/2)"
LAST = (GUIDE, "large and open: as printed")
"""Names that stand at the end of a legend."""

SHORTEST = 0.25
"""On a logarithmic axis a bar ends at this share of the mean, with an arrow, if it would go further down."""


def new_figure(n_panels: int = 1, width: float = WIDTH, height: float = HEIGHT) -> tuple[Any, Any]:
    """A figure without a window, and its axes in a row."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("Figures need matplotlib: pip install 'fourierwalk[plot]'.") from error
    figure = Figure(figsize=(width * n_panels, height), layout="constrained")
    axes = figure.subplots(1, n_panels, squeeze=False)[0]
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=SMALL)
        axis.locator_params(axis="x", nbins=6)
        axis.xaxis.label.set_size(USUAL)
        axis.yaxis.label.set_size(USUAL)
    return figure, axes


def legend(figure: Any, n_columns: int = 1) -> None:
    """Names above the axes, where they cover nothing."""
    (axis,) = figure.axes
    handles = axis.get_legend_handles_labels()
    order = sorted(range(len(handles[0])), key=lambda i: handles[1][i] in LAST)
    named = [[side[i] for i in order] for side in handles]
    figure.legend(*named, loc="outside upper left", ncols=n_columns, frameon=False, fontsize=SMALL, borderaxespad=0.2)


def logarithmic(axis: Any, x: str = "", y: str = "") -> None:
    """Logarithmic axes with plain numbers: "powers" for doubling K, "decades" for the rest, "" for a linear one."""
    for side, kind, which in ((axis.xaxis, x, "x"), (axis.yaxis, y, "y")):
        if kind:
            getattr(axis, f"set_{which}scale")("log", base=2 if kind == "powers" else 10)
            side.set_major_formatter(_plain)
            side.set_minor_formatter(_few_of(getattr(axis, f"get_{which}lim")) if kind == "decades" else _none)


def _plain(value: float, place: Any = None) -> str:
    """0.01, 16 or 10⁻⁵."""
    if value <= 0 or 1e-3 <= value < 1e4:
        return f"{value:g}"
    power = round(np.log10(value))
    return "10" + f"{power}".translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _few_of(limits: Callable[[], tuple[float, float]]) -> Callable[[float, Any], str]:
    """Between decades 2 and 5, where the axis shows few decades."""

    def shown(value: float, place: Any = None) -> str:
        low, high = limits()
        return _plain(value) if high < 4 * low or (high < 40 * low and f"{value:e}"[0] in "25") else ""

    return shown


def _none(value: float, place: Any = None) -> str:
    return ""


def bars(
    axis: Any, x: Any, mean: np.ndarray, spread: np.ndarray, words: Sequence[str] | None = None, **style: Any
) -> None:
    """A line of means with bars of ± `spread` that stay in the picture on a logarithmic axis.

    Parameters
    ----------
    axis : matplotlib.axes.Axes
        Where to draw.
    x, mean, spread : array of shape (n,)
        Positions, means, and the half lengths of the bars.
    words : sequence of str, optional
        The text of each point, shown when a reader points at it.
    **style
        Of the line: color, marker, label, zorder and the like.
    """
    mean, spread = np.asarray(mean, dtype=float), np.asarray(spread, dtype=float)
    down = np.minimum(spread, (1 - SHORTEST) * mean) if axis.get_yscale() == "log" else spread
    style = {"ms": 5, "lw": 1.4, "capsize": 2.5, "elinewidth": 1.0, **style}
    drawn = axis.errorbar(x, mean, yerr=np.stack([down, spread]), **style)
    if words is not None:
        vector.tell(drawn.lines[0], words)
    cut = down < spread
    if cut.any():
        color, order = drawn.lines[0].get_color(), drawn.lines[0].get_zorder()
        low = np.asarray(x)[cut], (mean - down)[cut]
        axis.plot(*low, ls="", marker="v", ms=5, mfc="none", color=color, zorder=order)


def fit_figure(x: np.ndarray, y: np.ndarray, curves: Mapping[str, np.ndarray]) -> Any:
    """A function of one variable and its approximations."""
    figure, (axis,) = new_figure()
    order = np.argsort(x)
    axis.plot(x[order], y[order], color=INK, lw=1.0, label="target")
    for color, (name, values) in zip(COLORS, curves.items(), strict=False):
        axis.plot(x[order], values[order], color=color, lw=1.3, alpha=0.85, label=name)
    axis.set_xlabel("x")
    axis.set_ylabel("f(x)")
    legend(figure, 2)
    return figure


def error_figure(
    widths: Sequence[int],
    errors: Mapping[str, np.ndarray],
    label: str,
    words: Mapping[str, Sequence[str]] | None = None,
) -> Any:
    """Error over the number of frequencies: mean over seeds (rows of each array), bars of ± 2 standard deviations."""
    figure, (axis,) = new_figure(height=4.0)
    logarithmic(axis, "powers", "decades")
    for color, marker, (name, values) in zip(COLORS, MARKERS, errors.items(), strict=False):
        mean = values.mean(axis=0)
        spread = 2 * values.std(axis=0, ddof=1) if values.shape[0] > 1 else np.zeros_like(mean)
        told = None if words is None else words[name]
        bars(axis, widths, mean, spread, told, color=color, marker=marker, label=name)
    axis.set_xticks(list(widths))
    axis.set_xlabel("number of frequencies K")
    axis.set_ylabel(label)
    legend(figure)
    return figure


def frequency_figure(
    frequencies: np.ndarray, omega: np.ndarray, modulus: np.ndarray, whose: str = "Algorithm 1"
) -> Any:
    """A histogram of |ω| against |f̂|, both as densities over a logarithmic axis."""
    figure, (axis,) = new_figure()
    sampled = np.abs(frequencies[frequencies != 0])
    low = max(1e-1, float(sampled.min()))
    high = max(float(sampled.max()), float(omega.max()))
    edges = np.geomspace(low, high, 31)
    axis.hist(sampled, bins=edges, density=True, color=COLORS[0], alpha=0.55, label=f"frequencies of {whose}")
    inside = (omega >= low) & (omega <= high)
    total = np.trapezoid(modulus[inside], omega[inside])
    axis.plot(omega[inside], modulus[inside] / total, color=INK, lw=1.2, label="|f̂| by FFT, as a density")
    axis.set_ylim(1e-7, None)
    logarithmic(axis, "decades", "decades")
    axis.set_xlabel("|ω|")
    axis.set_ylabel("density")
    legend(figure)
    return figure


def amplitude_figure(amplitudes: Mapping[str, np.ndarray]) -> Any:
    """|βₖ| in descending order, divided by their mean; equal amplitudes would be the dashed line."""
    figure, (axis,) = new_figure()
    for color, (name, values) in zip(COLORS, amplitudes.items(), strict=False):
        modulus = np.sort(np.abs(values))[::-1]
        variation = modulus.std() / modulus.mean()
        label = f"{name} (coefficient of variation {variation:.2f})"
        axis.plot(np.arange(1, modulus.size + 1) / modulus.size, modulus / modulus.mean(), color=color, label=label)
    axis.axhline(1.0, color=QUIET, ls="--", lw=0.9, label="all equal")
    logarithmic(axis, y="decades")
    axis.set_xlabel("share of the frequencies, largest amplitude first")
    axis.set_ylabel("|βₖ| / mean")
    legend(figure)
    return figure
