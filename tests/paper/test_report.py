"""Summary, figures and page, from the JSON of a toy run and from cells made by hand."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fourierwalk import cli
from fourierwalk.commands import reproduce
from fourierwalk.paper import plots, report, results, summary
from fourierwalk.paper.cases import CASES, Cell, at_scale

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


def made(case, experiment, errors, figure="rms_modulus"):
    """Cells with given errors by (width, seed)."""
    chosen = next(e for e in CASES[case].experiments if e.name == experiment)
    found = {}
    for (width, seed), error in errors.items():
        cell = Cell(CASES[case], chosen, width, seed)
        found[cell.key] = {"settings": results.settings(cell, "paper"), "result": {figure: error}, "provenance": {}}
    return found


def test_curve_and_slope_by_hand():
    found = made("case1", "algorithm-1", {(k, s): k**-0.5 * (1 + 0.1 * s) for k in (16, 32, 64, 128) for s in (0, 1)})
    line = summary.curve(found, "case1", "algorithm-1")
    np.testing.assert_array_equal(line.widths, [16, 32, 64, 128])
    np.testing.assert_allclose(line.mean, 1.05 * line.widths**-0.5)
    np.testing.assert_allclose(line.deviation, np.std([1, 1.1], ddof=1) * line.widths**-0.5)
    assert summary.slope(line) == pytest.approx(-0.5)
    claim = summary.claims(found)[0]
    assert claim.holds is True
    flat = made("case1", "algorithm-1", {(k, 0): 1.0 for k in (32, 64, 128)})
    assert summary.claims(flat)[0].verdict == "does not hold"


def test_without_cells_no_claim_is_made():
    assert {claim.verdict for claim in summary.claims({})} == {"not measured"}


def test_table_1_claim_needs_every_width_to_be_near_or_better():
    near = {(k, 0): row[2] * 1.05 for k, row in summary.PRINTED.items()}
    verdict = {c.claim[:7]: c for c in summary.claims(made("case4", "algorithm-1", near, "misclassified_modulus"))}
    assert verdict["Table 1"].holds is True
    far = {**near, (64, 0): summary.PRINTED[64][2] * 1.2}
    verdict = {c.claim[:7]: c for c in summary.claims(made("case4", "algorithm-1", far, "misclassified_modulus"))}
    assert verdict["Table 1"].holds is False
    assert "K = 64: 16.98 printed, 20.38 ours" in verdict["Table 1"].measured


def test_table_1_shows_scatter_and_says_which_walks_were_rounded():
    errors = {(2, 0): 80.0, (2, 1): 82.0, (4, 0): 70.0}
    found = made("case4", "algorithm-1", errors, "misclassified_modulus")
    _, rows = summary.table_1(found)
    assert [row[6] for row in rows] == ["81.00 ± 1.41", "70.00"]
    assert rows[0][2] == "–"
    assert summary.rounded(found, "case4") == ""
    settings = {width: found[f"case4/algorithm-1/K{width:05d}-seed00"]["settings"] for width in (2, 4)}
    settings[4]["experiment"]["precision"] = "bf16"
    assert summary.rounded(found, "case4").startswith("One walk (K = 4) had products in bf16,")
    settings[2]["experiment"]["precision"] = "bf16"
    assert summary.rounded(found, "case4").startswith("2 walks (K = 2 to 4) had products in bf16,")
    assert summary.rounded(found, "case1") == ""


def test_time_to_an_error():
    line = np.array([[1, 0.5, 0.9, 0], [2, 1.0, 0.4, 0], [3, 1.5, 0.6, 0]])
    assert summary.time_to(line, 0.5) == 1.0
    assert summary.time_to(line, 0.1) == np.inf


def test_missing_cells_are_named():
    found = made("case1", "algorithm-1", {(2, 0): 1.0})
    lines = summary.missing(found, "paper")
    assert any("Algorithm 1: K = 2 (9 of 10), K = 4 (10 of 10)" in line for line in lines)


@pytest.fixture(scope="module")
def page(quick):
    assert cli.main(["report", str(quick)]) == 0
    return quick / "report.html"


def test_the_page_has_every_figure_and_says_its_scale(quick, page):
    html = page.read_text()
    names = [path.stem.split("-")[0] for path in (quick / "figures").glob("*.svg")]
    panels = {"target": 3, "case1": 6, "histogram": 1, "amplitudes": 1, "case2": 1, "case3": 2, "case4": 1, "sweep": 1}
    assert {name: names.count(name) for name in names} == panels
    assert html.count("<svg ") == len(names)
    assert "not the paper&#x27;s parameters" in html
    assert "digits, not MNIST" in html
    assert "What is missing" in html
    assert 'class="verdict ' in html


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


def test_the_old_verdicts_become_the_four():
    found = made("case1", "algorithm-1", {(k, 0): 1.0 for k in (32, 64, 128)})
    told = report.claims(found)
    assert (told[0].where, told[0].verdict) == ("Case 1", "does not hold")
    assert {claim.verdict for claim in told[1:]} == {"not testable at this scale"}
    check = {"claim": "Example I: it diverges", "measured": "m", "verdict": "holds for the bound only"}
    (only,) = report.theory({"theory/x/K00000-seed00": {"result": check}})
    assert (only.verdict, only.text) == ("partly", "It diverges")
    assert "bound" in only.restriction


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


def test_distance_to_the_transform_by_sampling_it():
    omega, modulus = summary.transform_modulus(lambda x: summary.sine_integral(x, 1e-3), 20_000)
    rng = np.random.default_rng(0)
    drawn = rng.choice(omega, 4000, p=modulus / modulus.sum())
    assert summary.distance_to_transform(drawn) < 0.03
    assert summary.distance_to_transform(np.abs(rng.standard_normal(4000))) > 0.4
