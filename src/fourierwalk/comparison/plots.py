"""The figure of a comparison: error over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fourierwalk.comparison.summary import Row, front
from fourierwalk.comparison.tuning import BESIDE, OURS, PEER
from fourierwalk.reporting import vector
from fourierwalk.reporting.plots import COLORS, GRID, QUIET, logarithmic, new_figure

STYLES = {
    OURS: {"color": COLORS[1], "marker": "*", "ms": 12, "zorder": 4},
    PEER: {"color": COLORS[0], "marker": "o", "ms": 6, "zorder": 3},
    BESIDE: {"color": QUIET, "marker": "s", "ms": 5, "zorder": 3},
}
PLACES = (  # of a name beside its marker, in points, the best first
    (8, -3, "left"),
    (-8, -3, "right"),
    *(
        (dx, dy, side)
        for away in range(6, 76, 11)
        for dx, side in ((0, "center"), (6, "left"), (-6, "right"))
        for dy in (away, -away - 7)
    ),
)


def pareto_figure(table: Sequence[Row], label: str, words: Mapping[str, str] | None = None) -> Any:
    """Error over seconds to fit. A thin line leads from a marker to its last fit alone. The front is dotted.

    `words` has the text of each method's marker, shown when a reader points at it.
    """
    figure, (axis,) = new_figure(height=4.6)
    for row in table:
        style = STYLES[row.family]
        axis.plot([row.last_fit_seconds, row.fit_seconds], [row.mean] * 2, color=style["color"], lw=0.8, alpha=0.5)
        axis.errorbar(row.fit_seconds, row.mean, yerr=_bars(row), color=style["color"], lw=0.8, alpha=0.35)
        (mark,) = axis.plot(row.fit_seconds, row.mean, ls="", **style)
        if words is not None:
            vector.tell(mark, [words[row.method]])
    best = front(table)
    steps = [row.fit_seconds for row in best], [row.mean for row in best]
    axis.step(*steps, where="post", color=QUIET, ls=":", lw=1)
    axis.margins(x=0.18, y=0.12)
    above_zero = all(row.mean > 0 for row in table)
    logarithmic(axis, "decades", "decades" if above_zero else "")
    if not above_zero:
        axis.set_ylim(bottom=-0.04 * axis.get_ylim()[1])
    axis.grid(True, which="major", color=GRID, lw=0.7)
    axis.set_axisbelow(True)
    axis.set_xlabel("seconds to fit, tuning included")
    axis.set_ylabel(label)
    _label(figure, axis, table)
    return figure


def _label(figure: Any, axis: Any, table: Sequence[Row]) -> None:
    """Put a name beside every marker, where it covers no marker or name. Ours come first, for the best places."""
    figure.draw_without_rendering()
    points = [axis.transData.transform((row.fit_seconds, row.mean)) for row in table]
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in points]
    inside = axis.get_window_extent()
    for row in table:
        for dx, dy, side in PLACES:
            text = axis.annotate(
                row.label,
                (row.fit_seconds, row.mean),
                (dx, dy),
                textcoords="offset points",
                ha=side,
                size=8.5,
                color=STYLES[row.family]["color"],
                weight="bold" if row.family == OURS else "normal",
                zorder=5,
                gid=vector.HALO,
            )
            box = tuple(text.get_window_extent().extents)
            if _is_within(box, inside.extents) and not any(_overlap(box, other) for other in taken):
                break
            text.remove()
        else:
            axis.add_artist(text)
        taken.append(box)


def _bars(row: Row) -> list[list[float]]:
    """Bars of one standard deviation down and up. Down they end above zero, which a logarithm cannot show."""
    bar = row.deviation if len(row.errors) > 1 else 0.0
    return [[min(bar, 0.8 * row.mean)], [bar]]


def _is_within(box: Sequence[float], frame: Sequence[float]) -> bool:
    return frame[0] <= box[0] and box[2] <= frame[2] and frame[1] <= box[1] and box[3] <= frame[3]


def _overlap(one: Sequence[float], other: Sequence[float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
