"""The cases hold the paper's parameters, and cells cover them."""

import pytest

from fourierwalk.paper import cases


def experiment(case, name):
    return next(e for e in cases.CASES[case].experiments if e.name == name)


def test_parameters_are_those_of_the_papers_table():
    walk = experiment("case1", "algorithm-1")
    assert (walk.n_steps, walk.step_size, walk.exponent, walk.regularization, walk.refit_every) == (
        1000,
        5.76,
        1,
        0.1,
        10,
    )
    walk = experiment("case1", "algorithm-2")
    assert (walk.n_steps, walk.step_size, walk.refit_every, walk.adapt_after) == (5000, 0.1, 50, 500)
    walk = experiment("case1", "sigmoid")
    assert (walk.n_steps, walk.step_size, walk.refit_every, walk.features) == (10_000, 5.76, 100, "sigmoid")
    walk = experiment("case2", "algorithm-1")
    assert (walk.n_steps, walk.exponent, walk.refit_every) == (2500, 3 * 5 - 2, 25)
    assert walk.step_size == pytest.approx(2.4**2 / (10 * 5))
    walk = experiment("case4", "algorithm-1")
    assert (walk.n_steps, walk.step_size, walk.exponent, walk.refit_every) == (100, 0.1, 3 * 784 - 2, 101)
    assert [experiment(c, "gradient").step_size for c in ("case1", "case2", "case3")] == [1.5e-4, 3e-4, 1.5e-3]
    assert [experiment(c, "gradient").n_steps for c in ("case1", "case2", "case3")] == [10**7, 10**7, 3 * 10**7]
    assert cases.CASE_1.widths == tuple(2**i for i in range(1, 12))
    assert cases.CASE_4.widths[-1] == 8192
    assert (cases.SWEEP.d, cases.SWEEP.widths, cases.SWEEP.n_rows, cases.SWEEP.noise) == (7, (500,), 100_000, 0.1)


def test_case_2_and_3_do_the_experiments_of_the_text():
    assert [e.number for e in cases.CASE_2.experiments] == [1, 3, 4]
    assert [e.number for e in cases.CASE_3.experiments] == [1, 2, 4]


def test_table_has_a_row_per_experiment():
    header, rows = cases.parameter_table(list(cases.CASES.values()))
    assert all(len(row) == len(header) for row in rows)
    assert len(rows) == sum(len(c.experiments) for c in cases.CASES.values() if c.name != "theory")


def test_cells_cover_and_restrict():
    everything = list(cases.cells([cases.CASE_1]))
    assert len(everything) == 6 * 11 * 10
    assert len({cell.key for cell in everything}) == len(everything)
    some = list(cases.cells([cases.CASE_1], [2, 4], [7], ["fixed"]))
    assert [cell.key for cell in some] == ["case1/fixed/K00002-seed07", "case1/fixed/K00004-seed07"]


def test_quick_scale_is_smaller_everywhere():
    assert cases.at_scale(cases.GAP, "quick").experiments == ()  # it is about the largest K alone
    for case in (case for case in cases.CASES.values() if case is not cases.GAP):
        quick = cases.at_scale(case, "quick")
        assert quick.n_rows <= case.n_rows
        assert max(quick.widths) <= 128
        assert [e.name for e in quick.experiments] == [e.name for e in case.experiments]
        assert all(q.n_steps <= p.n_steps for q, p in zip(quick.experiments, case.experiments, strict=True))
        assert cases.at_scale(case, "paper") is case
        assert quick.n_seeds == min(case.n_seeds, 2 if case.more_realisations else 3)
    with pytest.raises(ValueError, match=r"scale must be one of .* got 'big'"):
        cases.at_scale(cases.CASE_1, "big")


def test_digits_stand_in_by_name():
    case = cases.on_digits(cases.CASE_4)
    assert (case.target, case.d) == ("digits", 64)
    assert "not MNIST" in case.title
    assert case.experiments[0].exponent == 3 * 64 - 2
