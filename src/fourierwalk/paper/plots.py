"""The paper's figures, drawn from the results alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fourierwalk.paper import results
from fourierwalk.paper.cases import CASES, Case
from fourierwalk.paper.data import TARGETS, split
from fourierwalk.paper.summary import PRINTED, TABLE_COLUMNS, Curve, Found, curve, scales, sweep, trace
from fourierwalk.paper.targets import transform_modulus
from fourierwalk.reporting.plots import COLORS, MARKERS, frequency_figure, new_figure

ERROR = "rms of |Sβ − y| on test data"


def stamp(figure: Any, found: Found) -> Any:
    """Quick results say so on every figure."""
    if scales(found) != ["paper"]:
        words = " and ".join(scales(found))
        figure.text(
            0.99, 0.005, f"{words} scale: not the paper's parameters", ha="right", va="top", color="#b35900", size=8
        )
    return figure


def target_figure() -> Any:
    """Case 1's target with data near the step, and |f̂| by FFT in the inset."""
    figure, (axis,) = new_figure(width=8.0, height=4.2)
    x = np.linspace(-0.06, 0.06, 4_001)
    axis.plot(x, TARGETS["step"](x[:, None]), color="black", lw=1.0, label="f")
    data = split(CASES["case1"], 0)
    assert data.scaling is not None
    raw_x, raw_y = data.scaling.inputs.invert(data.x)[:, 0], data.scaling.targets.invert(data.y)[:, 0]
    near = np.abs(raw_x) < 0.06
    axis.plot(raw_x[near], raw_y[near], ".", color=COLORS[1], ms=4, label=f"data (N = {CASES['case1'].n_rows:,})")
    axis.set_xlabel("x")
    axis.legend(frameon=False, loc="upper left")
    inset = axis.inset_axes((0.6, 0.12, 0.38, 0.38))
    omega, modulus = transform_modulus(TARGETS["step"], 2 * CASES["case1"].n_rows)
    inset.loglog(omega, modulus, color=COLORS[0], lw=1.0)
    inset.set_ylim(1e-6, 3)
    inset.set_title("|f̂(ω)|", size=8)
    inset.tick_params(labelsize=7)
    return figure


def width_figure(found: Found, case: Case, highlight: str | None = None) -> Any:
    """Error over K of all experiments, with e_K ± 2σ_K and a line of slope −1/2."""
    figure, (axis,) = new_figure(width=7.0, height=4.4)
    _width_panel(axis, found, case, highlight)
    axis.legend(frameon=False, fontsize=8)
    return stamp(figure, found)


def six_panels(found: Found) -> Any:
    """Case 1: the same data in all panels, one experiment highlighted in each."""
    from matplotlib.figure import Figure

    order = ("gradient-50", "fixed", "gradient", "algorithm-1", "sigmoid", "algorithm-2")
    figure = Figure(figsize=(10, 11), layout="constrained")
    labels = {experiment.name: experiment.label for experiment in CASES["case1"].experiments}
    for axis, name in zip(figure.subplots(3, 2).ravel(), order, strict=True):
        axis.spines[["top", "right"]].set_visible(False)
        _width_panel(axis, found, CASES["case1"], name)
        axis.set_title(labels[name], size=10)
    return stamp(figure, found)


def _width_panel(axis: Any, found: Found, case: Case, highlight: str | None) -> None:
    lines = {experiment: curve(found, case.name, experiment.name) for experiment in case.experiments}
    for i, (experiment, line) in enumerate(lines.items()):
        if not line.widths.size:
            continue
        shown = highlight is None or experiment.name == highlight
        color = "#c8ccd1" if not shown else COLORS[0] if highlight else COLORS[i]
        _bars(axis, line, color, MARKERS[i], experiment.label, 3 if shown else 1)
    walk = lines[case.experiments[0]]
    if walk.widths.size > 1:
        middle = len(walk.widths) // 2
        guide = walk.mean[middle] * (walk.widths / walk.widths[middle]) ** -0.5
        axis.plot(walk.widths, guide, "k--", lw=0.9, label="K^(−1/2)")
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set_xlabel("K")
    axis.set_ylabel(ERROR)


def _bars(axis: Any, line: Curve, color: str, marker: str, label: str, order: int) -> None:
    spread = np.stack([np.minimum(2 * line.deviation, 0.95 * line.mean), 2 * line.deviation])
    style: dict[str, Any] = {"ms": 4.5, "lw": 1.3, "capsize": 2.5, "zorder": order}
    axis.errorbar(line.widths, line.mean, yerr=spread, color=color, marker=marker, label=label, **style)


def time_figure(found: Found) -> Any:
    """Case 3: error over seconds, and over steps for the walks."""
    figure, axes = new_figure(2, width=5.5, height=4.0)
    for i, experiment in enumerate(CASES["case3"].experiments):
        line = trace(found, experiment.name)
        if line is None:
            continue
        axes[0].plot(line[:, 1], line[:, 2], color=COLORS[i], label=experiment.label)
        if experiment.method == "walk":
            axes[1].plot(line[:, 0], line[:, 2], color=COLORS[i], label=experiment.label)
    axes[0].set_xlabel("seconds (of the method alone)")
    axes[1].set_xlabel("steps")
    for axis in axes:
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_ylabel(ERROR)
        axis.legend(frameon=False, fontsize=8)
    return stamp(figure, found)


def digits_figure(found: Found) -> Any:
    """Case 4: % misclassified over K, ours in lines, the paper's printed figures as open marks."""
    figure, (axis,) = new_figure(width=7.0, height=4.4)
    for i, experiment in enumerate(CASES["case4"].experiments):
        line = curve(found, "case4", experiment.name, "misclassified_modulus")
        if not line.widths.size:
            continue
        _bars(axis, line, COLORS[i], MARKERS[i], experiment.label, 3)
        if experiment.name in TABLE_COLUMNS:
            column = TABLE_COLUMNS.index(experiment.name)
            printed = [(width, row[column]) for width, row in PRINTED.items() if width in line.widths]
            style: dict[str, Any] = {"mfc": "none", "ls": "none", "ms": 9}
            axis.plot(*zip(*printed, strict=True), marker=MARKERS[i], color=COLORS[i], **style)
    axis.plot([], [], marker="o", mfc="none", ls="none", color="#555", ms=9, label="open marks: as printed")
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set_xlabel("K")
    axis.set_ylabel("% misclassified (argmax of the modulus)")
    axis.legend(frameon=False, fontsize=8)
    return stamp(figure, found)


def sweep_figure(found: Found) -> Any:
    """The σ_ω sweep: error over the spread of the frequencies."""
    figure, (axis,) = new_figure(width=7.0)
    values = sweep(found)
    spreads = list(values)
    means, deviations = np.array(list(values.values())).T
    axis.errorbar(spreads, means, yerr=2 * deviations, color=COLORS[0], marker="o", ms=4.5, capsize=2.5)
    axis.axvline(1.0, color="black", ls="--", lw=0.9)
    axis.set_yscale("log")
    axis.set_xlabel("σ_ω")
    axis.set_ylabel(ERROR)
    return stamp(figure, found)


def histogram_figure(found: Found) -> Any | None:
    """Case 1: the walk's frequencies, in the data's own units, against |f̂|."""
    kept = [result for _, _, result in results.of(found, "case1", "algorithm-1") if "frequencies" in result]
    if not kept:
        return None
    spread = split(CASES["case1"], 0).scaling
    assert spread is not None
    frequencies = np.array(kept[-1]["frequencies"]) / spread.inputs.scale[0]
    omega, modulus = transform_modulus(TARGETS["step"], 2 * CASES["case1"].n_rows)
    return stamp(frequency_figure(np.abs(frequencies), omega, modulus), found)


def variation_figure(found: Found) -> Any:
    """Case 1: the amplitudes' coefficient of variation over K, walk against fixed sampling."""
    figure, (axis,) = new_figure(width=7.0)
    names: Sequence[str] = ("algorithm-1", "algorithm-2", "fixed")
    labels = {experiment.name: experiment.label for experiment in CASES["case1"].experiments}
    for i, name in enumerate(names):
        line = curve(found, "case1", name, "amplitude_variation")
        if line.widths.size:
            _bars(axis, line, COLORS[i], MARKERS[i], labels[name], 3)
    axis.set_xscale("log", base=2)
    axis.set_xlabel("K")
    axis.set_ylabel("coefficient of variation of |βₖ|")
    axis.legend(frameon=False)
    return stamp(figure, found)
