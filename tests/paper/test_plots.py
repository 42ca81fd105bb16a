"""The figures say what the paper's figures say, in its marks and its numbers."""

import numpy as np

from fourierwalk.paper import plots, results
from fourierwalk.paper.cases import CASES, Cell

CASE = CASES["case1"]


def found():
    """Two seeds of every experiment of Case 1."""
    cells = {}
    for number, experiment in enumerate(CASE.experiments):
        for width in (2, 4, 8):
            for seed in (0, 1):
                cell = Cell(CASE, experiment, width, seed)
                error = (1 + number) / width * (1 + 0.5 * seed)
                result = {"rms_modulus": error, "seconds": 2.0, "amplitude_variation": error}
                origin = {"commit": "abc", "machine": {"gpu": "H200"}}
                cells[cell.key] = {
                    "settings": results.settings(cell, "paper"),
                    "result": result,
                    "provenance": origin,
                }
    return cells


def test_six_panels_in_the_papers_order_with_its_marks_and_numbers():
    panels = plots.six_panels(found())
    titles = [panel.axes[0].get_title(loc="left") for panel in panels]
    assert [title.split(":")[0] for title in titles] == [f"Experiment {n}" for n in (4, 3, 4, 1, 5, 2)]
    order = ["*", "s", "o", "<", "v", "D"]  # stars, squares, circles, triangles to the left and down, diamonds
    for panel, mark in zip(panels, order, strict=True):
        lines = [container.lines[0] for container in panel.axes[0].containers]
        assert len(lines) == 6
        (highlighted,) = [line for line in lines if line.get_color() == plots.COLORS[0]]
        assert highlighted.get_marker() == mark
        assert {line.get_color() for line in lines} == {plots.COLORS[0], plots.FAINT}


def test_no_bar_leaves_the_picture():
    for panel in plots.six_panels(found()):
        panel.draw_without_rendering()
        axis = panel.axes[0]
        low, high = axis.get_ylim()
        for container in axis.containers:
            ends = np.array([segment[:, 1] for segment in container.lines[2][0].get_segments()])
            assert np.all((ends >= low) & (ends <= high))


def test_the_target_is_shown_whole_with_data_and_transform():
    whole, near, transform = (panel.axes[0] for panel in plots.target_figure())
    assert whole.get_xlim()[1] > 3.5
    assert near.get_xlim()[1] < 0.1
    y = whole.lines[-1].get_ydata()
    assert y.max() > 1.8
    assert abs(y[0]) < 1e-2
    assert transform.get_xscale() == transform.get_yscale() == "log"
    assert len(whole.lines[0].get_xdata()) > 500
