"""The paper's figures, drawn from the results alone. A figure of several panels is a list of figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fourierwalk.paper import results
from fourierwalk.paper.cases import CASES, Case, Experiment, at_scale
from fourierwalk.paper.data import TARGETS, split
from fourierwalk.paper.points import titled, told, told_trace
from fourierwalk.paper.summary import PRINTED, TABLE_COLUMNS, Cells, Curve, curve, scales, sweep, trace
from fourierwalk.paper.targets import transform_modulus
from fourierwalk.paper.work import evaluations
from fourierwalk.reporting import vector
from fourierwalk.reporting.plots import (
    COLORS,
    FAINT,
    GUIDE,
    INK,
    QUIET,
    SMALL,
    USUAL,
    bars,
    frequency_figure,
    legend,
    logarithmic,
    new_figure,
)

ERROR = "rms of |Sβ − y| on test data"
MARKERS = {  # as Section 5 describes Figure 2
    "algorithm-1": "<",
    "algorithm-2": "D",
    "fixed": "s",
    "fixed-0.1": "p",
    "gradient": "o",
    "gradient-50": "*",
    "sigmoid": "v",
    "tuned": "^",
}
PANELS = ("gradient-50", "fixed", "gradient", "algorithm-1", "sigmoid", "algorithm-2")  # in the paper's order


def stamp(figure: Any, cells: Cells) -> Any:
    """Mark every figure of results that are not at paper scale."""
    if scales(cells) != ["paper"]:
        words = f"{' and '.join(scales(cells))} scale: not the paper's parameters"
        figure.text(0.99, 0.01, words, ha="right", va="bottom", color=COLORS[3], size=8)
        figure.get_layout_engine().set(rect=(0, 0.05, 1, 0.95))
    return figure


def target_figure() -> list[Any]:
    """Case 1's target whole and near the step, with data, and |f̂| by FFT."""
    case = CASES["case1"]
    data = split(case, 0)
    assert data.scaling is not None
    raw_x, raw_y = data.scaling.inputs.invert(data.x)[:, 0], data.scaling.targets.invert(data.y)[:, 0]
    panels = []
    for reach, title in ((4.0, "the whole target"), (0.06, "near the step")):
        figure, (axis,) = new_figure()
        x = np.linspace(-reach, reach, 8_001)
        near = np.abs(raw_x) < reach
        step = max(1, near.sum() // 800)  # no more dots than a reader can tell apart
        shown = f"every {step}th of N = {case.n_rows:,}" if step > 1 else f"N = {case.n_rows:,}"
        axis.plot(raw_x[near][::step], raw_y[near][::step], ".", color=COLORS[1], ms=3, label=f"data ({shown})")
        axis.plot(x, TARGETS[case.target](x[:, None]), color=INK, lw=1.0, label="f")
        axis.set_xlabel("x")
        axis.set_ylabel("f(x)")
        axis.set_title(title, size=USUAL, loc="left")
        legend(figure, 2)
        panels.append(figure)
    figure, (axis,) = new_figure()
    omega, modulus = transform_modulus(TARGETS[case.target], 2 * case.n_rows)
    inside = omega <= 3_000
    logarithmic(axis, "decades", "decades")
    axis.plot(omega[inside], modulus[inside], color=COLORS[0], lw=1.0)
    axis.set_ylim(1e-6, 3)
    axis.set_xlabel("ω")
    axis.set_ylabel("|f̂(ω)|")
    axis.set_title("its Fourier transform", size=USUAL, loc="left")
    return [*panels, figure]


def six_panels(cells: Cells) -> list[Any]:
    """Case 1: the same data in all panels, one experiment highlighted in each."""
    return [width_figure(cells, CASES["case1"], name) for name in PANELS]


def width_figure(cells: Cells, case: Case, highlight: str | None = None) -> Any:
    """Error over K of all experiments, with e_K ± 2σ_K and a line of slope −1/2."""
    figure, (axis,) = new_figure(height=3.5 if highlight else 4.2)
    logarithmic(axis, "powers", "decades")
    lines = {experiment: curve(cells, case.name, experiment.name) for experiment in case.experiments}
    for i, (experiment, line) in enumerate(lines.items()):
        if line.widths.size:
            shown = highlight is None or experiment.name == highlight
            color = FAINT if not shown else COLORS[0] if highlight else COLORS[i]
            _bars(axis, cells, case, experiment, line, color=color, zorder=3 if shown else 1)
    _guide(axis, lines[case.experiments[0]])
    axis.set_xlabel("K")
    axis.set_ylabel(ERROR)
    if highlight is None:
        legend(figure)
    else:
        (one,) = [experiment for experiment in case.experiments if experiment.name == highlight]
        axis.set_title(titled(one), size=USUAL, loc="left")
    return stamp(figure, cells)


def _guide(axis: Any, walk: Curve) -> None:
    if walk.widths.size > 1:
        middle = len(walk.widths) // 2
        guide = walk.mean[middle] * (walk.widths / walk.widths[middle]) ** -0.5
        axis.plot(walk.widths, guide, color=INK, ls="--", lw=0.9, label=GUIDE)


def _bars(
    axis: Any, cells: Cells, case: Case, experiment: Experiment, line: Curve, figure: str = "rms_modulus", **style: Any
) -> None:
    """A curve with the paper's marker. Its points show their cells."""
    words = [told(cells, case, experiment, int(width), figure) for width in line.widths]
    style = {"marker": MARKERS.get(experiment.name, "o"), "label": titled(experiment), **style}
    bars(axis, line.widths, line.mean, 2 * line.deviation, words, **style)


def time_figure(cells: Cells) -> list[Any]:
    """Case 3: error over seconds, over work, and over steps for the walks."""
    case = at_scale(CASES["case3"], scales(cells)[0])
    axes: dict[str, Callable[[Experiment, np.ndarray], np.ndarray | None]] = {
        "seconds (of the method alone)": lambda experiment, line: line[:, 1],
        "values exp(iω·x) computed": lambda experiment, line: np.array(
            [evaluations(case, experiment, case.widths[0], int(step)) for step in line[:, 0]]
        ),
        "steps": lambda experiment, line: line[:, 0] if experiment.method == "walk" else None,
    }
    panels = []
    for label, places in axes.items():
        figure, (axis,) = new_figure(height=4.0)
        logarithmic(axis, "decades", "decades")
        for i, experiment in enumerate(case.experiments):
            line = trace(cells, experiment.name)
            x = None if line is None else places(experiment, line)
            if line is not None and x is not None:
                every = max(1, len(x) // 10)
                style: dict[str, Any] = {"marker": MARKERS[experiment.name], "ms": 4, "markevery": every}
                (drawn,) = axis.plot(x, line[:, 2], color=COLORS[i], label=titled(experiment), **style)
                vector.tell(drawn, told_trace(cells, experiment, line[::every]))
        axis.set_xlabel(label)
        axis.set_ylabel(ERROR)
        legend(figure)
        panels.append(stamp(figure, cells))
    return panels


def digits_figure(cells: Cells) -> Any:
    """Case 4: % misclassified over K, ours in lines, the paper's printed figures as open marks."""
    figure, (axis,) = new_figure(height=4.4)
    logarithmic(axis, "powers", "decades")
    case = CASES["case4"]
    for i, experiment in enumerate(case.experiments):
        line = curve(cells, case.name, experiment.name, "misclassified_modulus")
        if not line.widths.size:
            continue
        _bars(axis, cells, case, experiment, line, "misclassified_modulus", color=COLORS[i])
        if experiment.name in TABLE_COLUMNS:
            column = TABLE_COLUMNS.index(experiment.name)
            printed = [(width, row[column]) for width, row in PRINTED.items() if width in line.widths]
            style: dict[str, Any] = {"mfc": "none", "ls": "none", "ms": 9, "marker": MARKERS[experiment.name]}
            axis.plot(*zip(*printed, strict=True), color=COLORS[i], **style)
    axis.plot([], [], marker="o", mfc="none", ls="none", color=QUIET, ms=9, label="large and open: as printed")
    axis.set_xlabel("K")
    axis.set_ylabel("% misclassified")
    legend(figure)
    return stamp(figure, cells)


def sweep_figure(cells: Cells) -> Any:
    """The σ_ω sweep: error over the spread of the frequencies, against targets with and without their noise."""
    figure, (axis,) = new_figure()
    logarithmic(axis, y="decades")
    series = {"rms_modulus": "noisy targets, as printed", "rms_modulus_clean": "targets without noise"}
    for i, (kind, label) in enumerate(series.items()):
        if values := sweep(cells, kind):
            means, deviations = np.array(list(values.values())).T
            words = [told(cells, CASES["sweep"], *each, kind) for each in _swept(cells)]
            style: dict[str, Any] = {"color": COLORS[i], "marker": "os"[i], "label": label}
            bars(axis, list(values), means, 2 * deviations, words, **style)
    axis.axvline(1.0, color=INK, ls="--", lw=0.9)
    axis.set_xlabel("σ_ω")
    axis.set_ylabel(ERROR)
    legend(figure)
    return stamp(figure, cells)


def _swept(cells: Cells) -> list[tuple[Experiment, int]]:
    """The sweep's experiments that have cells, in the order of their spread, with their K."""
    widths = {key.split("/")[1]: cell["settings"]["width"] for key, cell in cells.items() if key.startswith("sweep/")}
    fixed = [one for one in CASES["sweep"].experiments if one.method == "fixed"]
    each = [(one, widths[one.name]) for one in fixed if one.name in widths]
    return sorted(each, key=lambda pair: pair[0].spread)


def histogram_figure(cells: Cells) -> Any | None:
    """Case 1: the walk's frequencies, in the data's own units, against |f̂|."""
    kept = [result for _, _, result in results.of(cells, "case1", "algorithm-1") if "frequencies" in result]
    if not kept:
        return None
    spread = split(CASES["case1"], 0).scaling
    assert spread is not None
    frequencies = np.array(kept[-1]["frequencies"]) / spread.inputs.scale[0]
    omega, modulus = transform_modulus(TARGETS["step"], 2 * CASES["case1"].n_rows)
    return stamp(frequency_figure(np.abs(frequencies), omega, modulus), cells)


def variation_figure(cells: Cells) -> Any:
    """Case 1: the amplitudes' coefficient of variation over K, walk against fixed sampling."""
    figure, (axis,) = new_figure()
    case = CASES["case1"]
    for i, name in enumerate(("algorithm-1", "algorithm-2", "fixed")):
        line = curve(cells, "case1", name, "amplitude_variation")
        experiment = next(each for each in case.experiments if each.name == name)
        if line.widths.size:
            _bars(axis, cells, case, experiment, line, "amplitude_variation", color=COLORS[i])
    logarithmic(axis, "powers")
    axis.set_xlabel("K")
    axis.set_ylabel("coefficient of variation of |βₖ|")
    axis.tick_params(labelsize=SMALL)
    legend(figure)
    return stamp(figure, cells)
