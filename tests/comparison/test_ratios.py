"""The suite's arithmetic, on made-up cells."""

import math

import numpy as np
import pytest

from fourierwalk.comparison import ratios, verdicts
from fourierwalk.comparison.tuning import BESIDE, OURS, PEER

ORIGIN = {"command": "", "commit": "c", "date": "d", "machine": {}, "versions": {}}
OLD, NEW = "ours-auto@aaa", "ours-auto@bbb"


def cells(dataset, method, errors, task="regression", group="tabular", **more):
    """One per split: {split: error}."""
    family = OURS if method.startswith("ours") else BESIDE if method == "lightgbm" else PEER
    made = {"n_train": 3_000, "n_test": 99, "fit_seconds": 1.0, "target_spread": 2.0, "chosen": {"n_frequencies": 7}}
    return {
        f"{dataset}/{method}/split{split:02d}": {
            "settings": {
                "dataset": {"name": dataset, "task": task, "group": group},
                "method": {"name": method, "label": method, "family": family},
                "split": split,
            },
            "result": {"error": error, **made, **more},
            "provenance": ORIGIN,
        }
        for split, error in errors.items()
    }


def test_a_regressions_error_is_a_root_mean_square_over_the_splits_that_both_have():
    found = cells("a", NEW, {0: 3.0, 1: 4.0, 2: 100.0}) | cells("a", "svm", {0: 5.0, 1: 5.0})
    (ratio,) = ratios.against(ratios.beds_of(found), NEW, "svm")
    assert ratio.ratio == pytest.approx(math.sqrt((9 + 16) / 50))
    assert ratio.logs == pytest.approx({0: math.log(0.6), 1: math.log(0.8)})
    assert ratio.standard_error == pytest.approx(np.std([math.log(0.6), math.log(0.8)], ddof=1) / math.sqrt(2))


def test_classes_are_pooled_with_half_a_row():
    wrong = {0: 100 * 2 / 99, 1: 0.0}
    found = cells("a", NEW, wrong, "classification") | cells("a", "svm", {0: 0.0, 1: 0.0}, "classification")
    (ratio,) = ratios.against(ratios.beds_of(found), NEW, "svm")
    assert ratio.ratio == pytest.approx(2.5 / 0.5)
    assert ratio.logs == pytest.approx({0: math.log(5), 1: 0.0})


def test_ratios_are_clipped_and_standard_errors_are_over_sets():
    found = cells("a", NEW, {0: 9.0, 1: 9.0}) | cells("a", "svm", {0: 1.0, 1: 1.0})
    found |= cells("b", NEW, {0: 0.8, 1: 1.0}) | cells("b", "svm", {0: 1.0, 1: 1.0})
    verdict = ratios.verdict(ratios.against(ratios.beds_of(found), NEW, "svm"))
    b = math.sqrt((0.64 + 1) / 2)
    assert (verdict.n_sets, verdict.n_ahead, verdict.n_behind) == (2, 1, 1)
    assert verdict.ratio == pytest.approx(math.sqrt(2 * b))
    assert verdict.standard_error == pytest.approx(np.std([math.log(2), math.log(b)], ddof=1) / math.sqrt(2))
    assert [each.dataset for each in verdict.worse] == ["a"]


@pytest.mark.parametrize(
    ("errors", "is_worse"),
    [
        ({0: 1.04, 1: 1.04}, False),  # less than 5 %
        ({0: 1.06, 1: 1.07}, True),
        ({0: 0.80, 1: 1.50}, False),  # within two standard errors
        ({0: 1.50}, False),  # one split has no standard error
    ],
)
def test_worse_is_by_five_percent_and_two_standard_errors(errors, is_worse):
    found = cells("a", NEW, errors) | cells("a", "svm", dict.fromkeys(errors, 1.0))
    assert bool(ratios.verdict(ratios.against(ratios.beds_of(found), NEW, "svm")).worse) is is_worse


def test_the_best_peer_is_of_each_set_and_no_tree():
    found = cells("a", NEW, {0: 1.0, 1: 1.0}) | cells("b", NEW, {0: 1.0, 1: 1.0})
    found |= cells("a", "svm", {0: 2.0, 1: 2.0}) | cells("a", "network", {0: 4.0, 1: 4.0})
    found |= cells("b", "network", {0: 1.5, 1: 1.5}) | cells("b", "fixed", {0: 0.1})  # of one split only
    found |= cells("a", "lightgbm", {0: 0.1, 1: 0.1})
    best = ratios.against_best(ratios.beds_of(found), NEW)
    assert [(each.dataset, each.other) for each in best] == [("a", "svm"), ("b", "network")]
    assert [each.ratio for each in best] == pytest.approx([1 / 2, 1 / 1.5])


def test_seconds_are_a_geometric_mean():
    found = cells("a", NEW, {0: 1.0}, fit_seconds=2.0) | cells("a", "network", {0: 1.0})
    found |= cells("b", NEW, {0: 1.0}, fit_seconds=8.0) | cells("b", "network", {0: 1.0})
    assert ratios.seconds_ratio(ratios.beds_of(found), NEW, "network") == pytest.approx((4.0, 2))
    assert ratios.seconds_ratio(ratios.beds_of(found), NEW, "xrfm") is None


def test_seconds_of_different_machines_are_not_compared():
    found = cells("a", NEW, {0: 1.0, 1: 1.0}, fit_seconds=2.0) | cells("a", "network", {0: 1.0, 1: 1.0})
    keys = sorted(found)
    for key in keys:
        there = found[key]["settings"]["split"] == 1 and found[key]["settings"]["method"]["name"] == "network"
        found[key] = {**found[key], "provenance": {"machine": "there" if there else "here"}}
    ours = next(key for key in keys if NEW in key and found[key]["settings"]["split"] == 1)
    found[ours]["result"]["fit_seconds"] = 100.0
    assert ratios.seconds_ratio(ratios.beds_of(found), NEW, "network") == pytest.approx((2.0, 1))


def test_the_page_has_all_tables():
    found = cells("a", NEW, {0: 1.0, 1: 1.2}) | cells("a", OLD, {0: 2.0, 1: 2.4}) | cells("a", "network", {0: 4.0})
    found |= cells("wine", NEW, {0: 3.0}, "classification", "other", n_train=100, fit_seconds=4.0)
    found |= cells("wine", "network", {0: 5.0}, "classification", "other", n_train=100)
    text = verdicts.markdown(found)
    assert "| a | 3,000 | RMSE / sd | 1.1 | 0.55 | 2 (1) |" in text
    assert f"| {NEW} | {OLD} | 1 | 1 | 0 | 0.500 |  |" in text
    assert f"| {OLD} | {NEW} | 1 | 0 | 1 | 2.000 | a 2.00 ± 0.00 |" in text
    assert f"| {NEW} | network | 1.00 (1) | 2.00 (2) |" in text
    assert "### The 1 tables of `tabular`" in text
    assert "### All 2 sets" in text
    assert "| a | 7, 7 | 7, 7 |" in text  # frequencies


def test_the_page_tells_what_a_part_is_worth():
    found = cells("a", "ours-8@aaa", {0: 1.0, 1: 1.0}) | cells("a", "ablation-dense-8@aaa", {0: 1.5, 1: 1.5})
    found |= cells("a", "ablation-dense-8@bbb", {0: 9.0}) | cells("a", "ours-16@aaa", {0: 0.1})
    text = verdicts.markdown(found)
    assert "| ablation-dense-8@aaa | ours-8@aaa | 1 | 0 | 1 | 1.500 | a 1.50 ± 0.00 |" in text
    assert "ablation-dense-8@bbb" not in text.partition("## Where")[0]
    assert "## Few rows" not in text
    assert "LightGBM\n\n" not in text  # no such cells, no such table


def test_the_page_tells_the_worst_of_few_rows():
    found = cells("a-60", NEW, {0: 1.0, 1: 0.2}, group="few") | cells("a-60", "ridge", {0: 0.0, 1: 2.0}, group="few")
    found |= cells("b-60", NEW, {0: 10.0}, "classification", group="few")
    text = verdicts.markdown(found)
    assert "| a-60 | R² | 0.870 (0.750) | 0.500 (0.000) |" in text
    assert "| b-60 | accuracy | 0.900 (0.900) | – |" in text
