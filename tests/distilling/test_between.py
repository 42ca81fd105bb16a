import array_api_strict
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fourierwalk.distilling.between import MOST_NEAR, rows_between
from fourierwalk.tables.table import Table


def drawn(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack((rng.standard_normal(n), 100 * rng.standard_normal(n), rng.integers(0, 3, n)))


@given(st.integers(0, 100), st.integers(1, 50))
def test_new_rows_are_within_the_range_of_real_ones(seed, n):
    x = drawn(seed=seed)
    new = rows_between(x, x[:, 0], n, np.random.default_rng(seed))
    assert new.shape == (n, 3)
    assert np.all(new >= x.min(axis=0))
    assert np.all(new <= x.max(axis=0))
    assert np.all(np.isin(new[:, 2], x[:, 2]))  # few values: those of real rows
    assert not np.any(np.isin(new[:, 0], x[:, 0]))  # many: between them


def test_new_rows_are_near_real_ones():
    """In two far groups no row lies between the groups."""
    rng = np.random.default_rng(0)
    x = np.concatenate((rng.standard_normal((50, 2)), 100 + rng.standard_normal((50, 2))))
    new = rows_between(x, x[:, 0], 300, rng)
    assert not np.any((new > 10) & (new < 90))
    assert np.any(new < 10)
    assert np.any(new > 90)


def test_a_row_lies_on_the_line_between_two():
    x = np.random.default_rng(0).standard_normal((40, 2))
    for new in rows_between(x, x[:, 0], 20, np.random.default_rng(1)):
        directions = (x - new) / np.linalg.norm(x - new, axis=1)[:, None]
        assert np.min(directions @ directions.T) < -1 + 1e-9


def test_frames_stay_frames_of_the_same_types():
    n = 60
    frame = pd.DataFrame(
        {
            "number": np.random.default_rng(0).standard_normal(n),
            "single": np.random.default_rng(1).standard_normal(n).astype(np.float32),
            "whole": np.arange(n),
            "word": np.where(np.arange(n) % 2, "a", "b"),
            "level": pd.Categorical(np.where(np.arange(n) % 3, "c", "d")),
            "day": pd.date_range("2020-01-01", periods=n),
        }
    )
    frame.loc[::7, "number"] = np.nan
    new = rows_between(frame, np.arange(n, dtype=float), 30, np.random.default_rng(0))
    assert list(new.columns) == list(frame.columns)
    assert (new.dtypes == frame.dtypes).all()
    for name in ("whole", "word", "level", "day"):
        assert new[name].isin(frame[name]).all()
    assert not new["single"].isin(frame["single"]).any()


@pytest.mark.parametrize("kind", [Table.of, lambda frame: frame.to_numpy(dtype=object)], ids=["Table", "objects"])
def test_tables_and_arrays_of_objects(kind):
    frame = pd.DataFrame({"a": np.arange(30.0), "b": ["x", "y", "z"] * 10})
    new = Table.of(rows_between(kind(frame), np.arange(30.0), 12, np.random.default_rng(0)))
    assert new.shape == (12, 2)
    assert set(new.columns[1]) <= {"x", "y", "z"}


def test_missing_values_are_taken_from_real_rows():
    x = np.random.default_rng(0).standard_normal((50, 2))
    x[::2, 0] = np.nan
    new = rows_between(x, np.zeros(50), 200, np.random.default_rng(0))
    assert 0 < np.isnan(new[:, 0]).sum() < 200
    assert not np.any(np.isnan(new[:, 1]))


def test_partners_are_looked_for_among_some_rows():
    x = drawn(MOST_NEAR + 100)
    assert rows_between(x, x[:, 0], 20, np.random.default_rng(0)).shape == (20, 3)


@pytest.mark.parametrize("n", [1, 2])
def test_very_few_rows(n):
    new = rows_between(np.zeros((n, 2)), np.zeros(n), 5, np.random.default_rng(0))
    assert_array_equal(new, np.zeros((5, 2)))


@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, array_api_strict.asarray])
def test_other_kinds_have_no_rows_between(kind):
    with pytest.raises(ValueError, match="X must be a frame or a dense NumPy array to have rows between its rows, got"):
        rows_between(kind(drawn()), np.zeros(60), 5, np.random.default_rng(0))
