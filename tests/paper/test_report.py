"""Summary, figures and page, from the JSON of a toy run and from cells made by hand."""

from dataclasses import replace

import numpy as np
import pytest

from fourierwalk import cli
from fourierwalk.commands import reproduce
from fourierwalk.paper import plots, report, results, summary
from fourierwalk.paper.cases import CASES, at_scale


def toy_scale(case, scale):
    """Quick scale, smaller still: its figures show nothing but that they are drawn."""
    quick = at_scale(case, scale)
    shorter = tuple(replace(e, n_steps=min(e.n_steps, 40), look_every=e.look_every and 10) for e in quick.experiments)
    return replace(quick, n_rows=min(quick.n_rows, 300), n_test=min(quick.n_test, 200), experiments=shorter)


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quick")
    common = ["--scale", "quick", "--seeds", "0", "1", "--jobs", "1", "--images", "digits", "--out", str(folder)]
    walks, sweep = ["algorithm-1", "algorithm-2", "fixed"], ["spread-0.6", "spread-1.0", "spread-1.4"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reproduce, "at_scale", toy_scale)
        assert cli.main(["reproduce", *common, "--experiments", *walks, *sweep, "exponent"]) == 0
    return folder


def test_the_page_has_every_figure_and_says_its_scale(quick, capsys):
    assert cli.main(["report", str(quick)]) == 0
    html = (quick / "report.html").read_text()
    names = {path.stem for path in (quick / "figures").glob("*.png")}
    assert names == {"target", "case1", "histogram", "amplitudes", "case2", "case3", "case4", "sweep"}
    assert html.count("data:image/png;base64,") == len(names)
    assert "not the paper&#x27;s parameters" in html
    assert "digits, not MNIST" in html
    assert "What is missing" in html
    assert "does not hold" not in html
    assert "not testable at this scale" in html
    assert "True of the rough estimate alone" in html
    assert "How we read the paper" in html


def test_quick_figures_are_stamped(quick):
    found = results.read(quick)
    for name, figure, _ in report.figures(found):
        words = [text.get_text() for text in figure.texts]
        assert name == "target" or any("quick scale" in word for word in words)


def test_figures_show_the_means(quick):
    found = results.read(quick)
    axis = plots.width_figure(found, CASES["case2"]).axes[0]
    line = summary.curve(found, "case2", "algorithm-1")
    np.testing.assert_allclose(axis.containers[0].lines[0].get_ydata(), line.mean)


def test_an_empty_folder_is_a_clear_error(tmp_path):
    with pytest.raises(ValueError, match="holds no results: fourierwalk reproduce"):
        report.write_report(tmp_path)
