"""Summary, figures and page, from the JSON of a toy run and from cells made by hand."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fourierwalk import cli
from fourierwalk.commands import reproduce
from fourierwalk.paper import plots, report, results, summary
from fourierwalk.paper.cases import CASES, at_scale

COMMITTED = Path(__file__).parents[2] / "results" / "paper"


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


@pytest.fixture(scope="module")
def page(quick):
    assert cli.main(["report", str(quick)]) == 0
    return quick / "report.html"


def test_the_page_has_every_figure_and_says_its_scale(quick, page):
    html = page.read_text()
    names = [path.stem.split("-")[0] for path in (quick / "figures").glob("*.svg")]
    panels = {"target": 3, "case1": 6, "histogram": 1, "amplitudes": 1, "case2": 1, "case3": 3, "case4": 1, "sweep": 1}
    assert {name: names.count(name) for name in names} == panels
    assert html.count("<svg ") == len(names)
    assert "not the paper&#x27;s parameters" in html
    assert "digits, not MNIST" in html
    assert "What is missing" in html
    assert 'class="verdict ' in html
    assert 'class="verdict does-not-hold"' not in html
    assert "True of the rough estimate alone" in html
    assert "How we read the paper" in html


def test_the_film_of_the_page_ends_as_its_cell(page):
    html = page.read_text()
    assert html.count('class="film"') == 1
    assert "the same to six digits" in html
    assert "not the same to six digits" not in html


def test_every_reader_sees_the_quick_page(page, browser):
    browser.check(page)


def test_every_reader_sees_the_page_of_the_committed_results(tmp_path, browser):
    shutil.copytree(COMMITTED / "gathered", tmp_path / "gathered")
    browser.check(report.write_report(tmp_path))


def test_a_point_of_figure_2_tells_its_cells(page, browser):
    browser.open(page, 1280)
    tips = browser.evaluate("[...document.querySelectorAll('main [data-tip]')].map(e => e.dataset.tip)")
    lines = next(tip for tip in tips if tip.startswith("Experiment 1: Algorithm 1, K = 16")).splitlines()
    assert [line.split(":")[0] for line in lines[1:3]] == ["seed 0", "seed 1"]
    assert all(line.endswith(" s") for line in lines[1:3])
    assert lines[3].startswith("commit ")


def test_quick_figures_are_stamped(quick):
    found = results.read(quick)
    for name, panels, _ in report.figures(found):
        for figure in panels if isinstance(panels, list) else [panels]:
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
