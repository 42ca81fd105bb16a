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
    assert [text.get_text() for text in axis.get_legend().get_texts()] == ["walk", "fixed"]


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
    assert "0.41" in axis.get_legend().get_texts()[0].get_text()


def test_fit_shows_target_and_curves_in_both_panels():
    x = np.array([1.0, 0.0, 2.0])
    axes = plots.fit_figure(x, x**2, {"model": x}, (-1, 1)).axes
    assert [len(axis.lines) for axis in axes] == [2, 2]
    np.testing.assert_allclose(axes[0].lines[0].get_data(), [[0, 1, 2], [0, 1, 4]])
    assert axes[1].get_xlim() == (-1, 1)


def test_missing_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'fourierwalk\[plot\]'"):
        plots.new_figure()
