"""Figures show the numbers that they are given."""

import sys

import numpy as np
import pytest

from fourierwalk.reporting import plots


def test_errors_are_means_with_two_deviations():
    errors = {"walk": np.array([[1.0, 0.5], [1.2, 0.7]]), "fixed": np.array([[2.0, 2.0], [2.0, 2.0]])}
    (axis,) = plots.error_figure([16, 32], errors, "error").axes
    line = axis.containers[0].lines[0]
    np.testing.assert_allclose(line.get_ydata(), [1.1, 0.6])
    low, high = axis.containers[0].lines[2][0].get_segments()[0][:, 1]
    np.testing.assert_allclose(high - 1.1, 2 * np.std([1.0, 1.2], ddof=1))
    np.testing.assert_allclose(1.1 - low, 2 * np.std([1.0, 1.2], ddof=1))
    assert [text.get_text() for text in axis.figure.legends[0].get_texts()] == ["walk", "fixed"]


def test_histogram_is_a_density_against_a_density():
    omega = np.geomspace(0.1, 100, 500)
    (axis,) = plots.frequency_figure(np.geomspace(0.2, 50, 400), omega, 1 / omega).axes
    area = sum(patch.get_width() * patch.get_height() for patch in axis.patches)
    np.testing.assert_allclose(area, 1.0, rtol=1e-6)
    x, y = axis.lines[0].get_data()
    np.testing.assert_allclose(np.trapezoid(y, x), 1.0, rtol=1e-6)


def test_amplitudes_are_sorted_and_their_variation_is_named():
    (axis,) = plots.amplitude_figure({"walk": np.array([1.0, 3.0 + 0j, 2.0])}).axes
    np.testing.assert_allclose(axis.lines[0].get_ydata(), [1.5, 1.0, 0.5])
    assert "0.41" in axis.figure.legends[0].get_texts()[0].get_text()


def test_fit_shows_target_and_curves():
    x = np.array([1.0, 0.0, 2.0])
    (axis,) = plots.fit_figure(x, x**2, {"model": x}).axes
    assert len(axis.lines) == 2
    np.testing.assert_allclose(axis.lines[0].get_data(), [[0, 1, 2], [0, 1, 4]])


def test_bars_stay_in_the_picture_on_a_logarithmic_axis():
    figure, (axis,) = plots.new_figure()
    plots.logarithmic(axis, "powers", "decades")
    mean, spread = np.array([1.0, 0.5, 0.2]), np.array([0.1, 0.49, 0.6])
    plots.bars(axis, [2, 4, 8], mean, spread, color="k", marker="o")
    figure.draw_without_rendering()
    low, high = axis.get_ylim()
    ends = np.array([segment[:, 1] for segment in axis.containers[0].lines[2][0].get_segments()])
    assert np.all((ends > low) & (ends < high))
    np.testing.assert_allclose(ends[0], [0.9, 1.1])  # a short bar is as long as it is
    np.testing.assert_allclose(ends[:, 1], mean + spread)
    np.testing.assert_allclose(axis.lines[-1].get_data(), [[4, 8], [0.125, 0.05]])  # arrows where bars are cut


def test_bars_are_whole_on_a_linear_axis():
    _, (axis,) = plots.new_figure()
    plots.bars(axis, [1, 2], np.array([1.0, 0.2]), np.array([0.1, 0.6]), color="k")
    ends = np.array([segment[:, 1] for segment in axis.containers[0].lines[2][0].get_segments()])
    np.testing.assert_allclose(ends, [[0.9, 1.1], [-0.4, 0.8]])


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.05, 3.0, {"0.1", "1"}), (0.11, 0.17, {"0.12", "0.15"}), (1e-7, 10.0, {"10⁻⁶", "10⁻⁴", "0.01"})],
)
def test_logarithmic_axes_have_plain_numbers(low, high, expected):
    figure, (axis,) = plots.new_figure()
    plots.logarithmic(axis, y="decades")
    axis.plot([1, 2], [low, high])
    figure.draw_without_rendering()
    ticks = [tick.get_text() for tick in axis.get_yticklabels(which="both")]
    assert expected <= set(ticks)


def test_a_guide_stands_at_the_end_of_the_legend():
    figure, (axis,) = plots.new_figure()
    axis.plot([1, 2], [1, 2], label=plots.GUIDE)
    plots.bars(axis, [1, 2], np.ones(2), np.ones(2), label="walk")
    plots.legend(figure)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["walk", plots.GUIDE]


def test_missing_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'fourierwalk\[plot\]'"):
        plots.new_figure()
