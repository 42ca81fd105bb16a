"""Every case at toy size, and the numbers of a cell against plain NumPy."""

from dataclasses import replace

import numpy as np
import oracle
import pytest

from fourierwalk.data.features import named
from fourierwalk.paper import cases
from fourierwalk.paper.cases import Cell
from fourierwalk.paper.data import Realisation, split
from fourierwalk.paper.place import Place
from fourierwalk.paper.run import (
    TUNED_REGULARIZATIONS,
    TUNED_SPREADS,
    _rng,
    can_run_together,
    errors,
    groups,
    run,
    run_together,
)
from fourierwalk.solving.direct import Direct


def toy(name, experiment):
    case = cases.on_digits(cases.CASE_4) if name == "case4" else cases.CASES[name]
    case = replace(case, n_rows=min(case.n_rows, 400), n_test=min(case.n_test, 200))
    chosen = next(e for e in case.experiments if e.name == experiment)
    shorter = replace(chosen, n_steps=min(chosen.n_steps, 30), refit_every=min(chosen.refit_every, 10))
    if shorter.look_every:
        shorter = replace(shorter, look_every=10)
    return Cell(case, replace(shorter, adapt_after=shorter.adapt_after and 15), 8, 0)


EVERYTHING = [
    (case.name, experiment.name)
    for case in cases.CASES.values()
    for experiment in case.experiments
    if case.name not in ("theory", "sweep", "gap")
    or experiment.name in ("spread-1.0", "exponent")
    or (case.name, experiment.name) == ("sweep", "algorithm-1")
]


@pytest.mark.parametrize(("case", "experiment"), EVERYTHING)
def test_every_experiment_runs(case, experiment):
    result = run(toy(case, experiment), Place())
    if case == "theory":
        assert set(result) == {"rough", "exact"}
        return
    assert 0 < result["rms_real"] <= result["rms_modulus"] * (1 + 1e-12) < 10
    assert result["seconds"] > 0
    if case == "case4":
        assert 0 <= result["misclassified_modulus"] <= 100
    if case == "case3":
        assert [row[0] for row in result["trace"]] == [10, 20, 30]
        assert result["trace"][-1][2] == pytest.approx(result["rms_modulus"], rel=0.5)
        assert np.array(result["covariance"]).shape == (2, 2)
        assert result["threads"] == 1 or experiment != "gradient"
        seconds = [(row[1], row[4]) for row in result["trace"]]
        assert seconds == sorted(seconds)
    if case == "sweep":
        assert result["rms_modulus_clean"] < result["rms_modulus"]


def test_a_walk_is_the_printed_algorithm():
    cell = toy("case1", "algorithm-1")
    rows, e = split(cell.case, 0), cell.experiment
    omega, beta = oracle.algorithm_1(rows.x, rows.y, 8, 30, e.step_size, e.exponent, e.regularization, 10, _rng(cell))
    expected = np.exp(1j * rows.x_test @ omega.T) @ beta - rows.y_test
    result = run(cell, Place())
    assert result["error_as_printed"] == pytest.approx(np.sqrt(np.sum(np.abs(expected) ** 2)), rel=1e-9)
    assert result["rms_modulus"] == pytest.approx(np.sqrt(np.mean(np.abs(expected) ** 2)), rel=1e-9)
    assert result["rms_real"] == pytest.approx(np.sqrt(np.mean(expected.real**2)), rel=1e-9)


def test_misclassified_counts_argmax_of_modulus_and_of_real_part():
    amplitudes = np.array([[-2.0, 1.0]]) + 0j  # ω = 0: the model is constant
    data = Realisation(np.zeros((1, 1)), np.eye(2)[:1], np.zeros((4, 1)), np.eye(2)[[0, 0, 0, 1]], None)
    found = errors(named("complex"), np.zeros((1, 1)), amplitudes, data)
    assert found["misclassified_modulus"] == 25.0
    assert found["misclassified_real"] == 75.0


def test_tuned_chooses_by_held_out_rows():
    result = run(toy("case4", "tuned")._replace(width=32), Place())
    fixed = run(toy("case4", "fixed")._replace(width=32), Place())
    assert result["misclassified_modulus"] < 0.5 * fixed["misclassified_modulus"]
    assert result["tuned_spread"] in TUNED_SPREADS
    assert result["tuned_regularization"] in TUNED_REGULARIZATIONS


def test_torch_gives_the_same_cell():
    pytest.importorskip("torch")
    cell = toy("case1", "algorithm-2")

    class Torch(Place):
        def put(self, values):
            import torch

            return torch.asarray(values)

    ours, theirs = run(cell, Place()), run(cell, Torch())
    assert theirs["rms_modulus"] == pytest.approx(ours["rms_modulus"], rel=1e-8)


class OnTorch(Place):
    def put(self, values):
        return pytest.importorskip("torch").asarray(values)


@pytest.mark.parametrize("place", [Place(), OnTorch()], ids=["numpy", "torch"])
@pytest.mark.parametrize(
    ("case", "experiment"), [("case1", "algorithm-1"), ("case1", "algorithm-2"), ("case1", "sigmoid")]
)
def test_realisations_side_by_side_are_those_one_by_one(case, experiment, place):
    cells = [toy(case, experiment)._replace(seed=seed) for seed in (0, 1, 2)]
    together = run_together(cells, place)
    for cell, found in zip(cells, together, strict=True):
        alone = run(cell, Place())
        assert found.keys() == alone.keys()
        for name in ("rms_modulus", "rms_real", "acceptance", "loss", "frequency_spread"):
            assert found[name] == pytest.approx(alone[name], rel=1e-6), name


def test_only_small_walks_run_side_by_side():
    small = toy("case1", "algorithm-1")
    assert can_run_together(small)
    assert not can_run_together(small._replace(width=10**6))
    assert not can_run_together(toy("case1", "fixed"))
    assert not can_run_together(toy("case3", "algorithm-1"))  # its errors are looked at on the way


def test_realisations_of_one_small_walk_are_grouped():
    cells = [toy("case1", name)._replace(seed=seed) for name in ("algorithm-1", "fixed") for seed in (0, 1)]
    assert groups(cells, together=True) == [cells[:2], cells[2:3], cells[3:]]
    assert groups(cells, together=False) == [[cell] for cell in cells]


def test_a_walk_in_low_precision_ends_with_a_fit_in_double(monkeypatch):
    pytest.importorskip("torch")
    asked, exactly = [], Direct.system
    monkeypatch.setattr(Direct, "system", lambda self, precision: asked.append(precision) or exactly(self, precision))
    cell = toy("case1", "algorithm-1")
    low = cell._replace(experiment=replace(cell.experiment, precision="bf16"))
    ours = run(low, OnTorch())
    assert set(asked[:-1]) == {"bf16"}
    assert asked[-1] == "double"
    assert ours["rms_modulus"] == pytest.approx(run(cell, OnTorch())["rms_modulus"], rel=0.5)
