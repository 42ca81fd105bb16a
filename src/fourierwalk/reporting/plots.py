"""Numbers to matplotlib figures. Every function returns a figure and shows nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

COLORS = ("#1f6feb", "#d1495b", "#2e933c", "#e09f3e", "#7b4ea3", "#3c7a89")
MARKERS = ("o", "s", "D", "^", "v", "*")


def new_figure(n_panels: int = 1, width: float = 6.0, height: float = 3.8) -> tuple[Any, Any]:
    """A figure without a window, and its axes in a row."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("Figures need matplotlib: pip install 'fourierwalk[plot]'.") from error
    figure = Figure(figsize=(width * n_panels, height), layout="constrained")
    axes = figure.subplots(1, n_panels, squeeze=False)[0]
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def fit_figure(x: np.ndarray, y: np.ndarray, curves: Mapping[str, np.ndarray], zoom: tuple[float, float]) -> Any:
    """A function of one variable, its data and its approximations; on the right the same, closer."""
    figure, axes = new_figure(2)
    order = np.argsort(x)
    for axis in axes:
        axis.plot(x[order], y[order], color="black", lw=1.0, label="target")
        for color, (name, values) in zip(COLORS, curves.items(), strict=False):
            axis.plot(x[order], values[order], color=color, lw=1.3, alpha=0.85, label=name)
        axis.set_xlabel("x")
    axes[1].set_xlim(*zoom)
    axes[0].legend(frameon=False)
    axes[0].set_ylabel("f(x)")
    return figure


def error_figure(widths: Sequence[int], errors: Mapping[str, np.ndarray], label: str) -> Any:
    """Error over the number of frequencies: mean over seeds (rows of each array), bars of ± 2 standard deviations."""
    figure, (axis,) = new_figure()
    for color, marker, (name, values) in zip(COLORS, MARKERS, errors.items(), strict=False):
        mean = values.mean(axis=0)
        spread = 2 * values.std(axis=0, ddof=1) if values.shape[0] > 1 else np.zeros_like(mean)
        bars = np.stack([np.minimum(spread, 0.95 * mean), spread])
        axis.errorbar(widths, mean, yerr=bars, color=color, marker=marker, ms=5, lw=1.4, capsize=3, label=name)
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set_xlabel("number of frequencies K")
    axis.set_ylabel(label)
    axis.legend(frameon=False)
    return figure


def frequency_figure(frequencies: np.ndarray, omega: np.ndarray, modulus: np.ndarray) -> Any:
    """A histogram of |ω| against |f̂|, both as densities over a logarithmic axis."""
    figure, (axis,) = new_figure()
    sampled = np.abs(frequencies[frequencies != 0])
    low = max(1e-1, float(sampled.min()))
    high = max(float(sampled.max()), float(omega.max()))
    edges = np.geomspace(low, high, 31)
    axis.hist(sampled, bins=edges, density=True, color=COLORS[0], alpha=0.55, label="frequencies after the walk")
    inside = (omega >= low) & (omega <= high)
    total = np.trapezoid(modulus[inside], omega[inside])
    axis.plot(omega[inside], modulus[inside] / total, color="black", lw=1.2, label="|f̂| by FFT, scaled to density")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_ylim(1e-7, None)
    axis.set_xlabel("|ω|")
    axis.set_ylabel("density")
    axis.legend(frameon=False)
    return figure


def amplitude_figure(amplitudes: Mapping[str, np.ndarray]) -> Any:
    """|βₖ| in descending order, divided by their mean: flat is equidistributed."""
    figure, (axis,) = new_figure()
    for color, (name, values) in zip(COLORS, amplitudes.items(), strict=False):
        modulus = np.sort(np.abs(values))[::-1]
        variation = modulus.std() / modulus.mean()
        label = f"{name} (coefficient of variation {variation:.2f})"
        axis.plot(np.arange(1, modulus.size + 1) / modulus.size, modulus / modulus.mean(), color=color, label=label)
    axis.set_yscale("log")
    axis.set_xlabel("share of the frequencies, largest amplitude first")
    axis.set_ylabel("|βₖ| / mean")
    axis.legend(frameon=False)
    return figure
