"""Another checkout's estimator in a process of its own: names, commits, predictions, failures."""

import os

import numpy as np
import pytest

from comparison.made_up import FAKE
from fourierwalk.comparison import checkouts
from fourierwalk.comparison.checkouts import AtCommit, Checkout, Elsewhere, copies
from fourierwalk.comparison.datasets import Dataset, TrainTest
from fourierwalk.comparison.run import Entry, compute, is_there, write

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def old(tmp_path):
    """A tiny checkout of another commit."""
    package = tmp_path / "old" / "src" / "fourierwalk"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(FAKE)
    (tmp_path / "old" / "COMMIT").write_text(COMMIT + "\n")
    return tmp_path / "old" / "src"


def toy():
    rows = TrainTest(np.zeros((6, 2)), np.ones(6), np.zeros((4, 2)), np.zeros(4))
    return Dataset("toy", "regression", lambda i: rows)


def test_the_commit_is_read_from_the_file_beside_and_shortened(old):
    assert Checkout.at(old).commit == "0123456789ab"
    (old.parent / "COMMIT").write_text(COMMIT + "+")
    assert Checkout.at(old).commit == "0123456789ab+"
    (old.parent / "COMMIT").unlink()
    with pytest.raises(ValueError, match=r"--beside .* has no commit"):
        Checkout.at(old)
    with pytest.raises(ValueError, match="--beside must be a folder that holds fourierwalk"):
        Checkout.at(old.parent)


def test_it_is_that_checkouts_estimator_that_is_fitted(old):
    method = AtCommit("regression", "auto", Checkout.at(old), threads=1)
    assert method.name == "ours-auto@0123456789ab"
    assert method.label == "ours, K = auto @ 0123456789ab"
    result = compute(Entry(toy(), method, 2), 1)
    assert result["error"] == 201.0  # seed 2, one thread
    assert result["chosen"] == {"n_frequencies": 5, "regularization": 0.25}
    assert result["columns"] == 10
    assert 0 <= result["fit_seconds"] < 5


@pytest.mark.parametrize(
    ("width", "words"), [(13, "ValueError: unlucky"), (14, "its process ended with code 3: a last word")]
)
def test_a_failure_there_is_a_failure_here(old, width, words):
    assert words in compute(Entry(toy(), AtCommit("regression", width, Checkout.at(old), 1), 0), 1)["failure"]


def test_a_process_ends_with_its_model(old):
    model = Elsewhere(old, 1)
    process = model._process
    del model
    assert process.returncode is not None


def test_our_own_estimator_is_the_public_one():
    from fourierwalk import AdaptiveFourierRegressor

    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (120, 2))
    y = np.sin(3 * x[:, 0])
    with copies([Checkout.here()]) as (source,):
        model = AtCommit("regression", 4, source, 1).fit(x, y, 3).model
        there = model.predict(x[:5])
    np.testing.assert_allclose(there, AdaptiveFourierRegressor(4, random_state=3).fit(x, y).predict(x[:5]), rtol=1e-6)


def test_cells_of_another_commit_are_not_taken_for_this_ones(old, tmp_path):
    one = Entry(toy(), AtCommit("regression", 8, Checkout(old, "aaa"), 1), 0)
    two = one._replace(method=AtCommit("regression", 8, Checkout(old, "bbb"), 1))
    path = write(tmp_path, one, {"error": 1.0}, {})
    assert path == tmp_path / "cells" / "toy" / "ours-8@aaa" / "split00.json"
    assert is_there(tmp_path, one, {})
    assert not is_there(tmp_path, two, {})


def test_two_states_of_a_tree_with_changes_differ(old, tmp_path):
    clean, changed = Checkout(old, "aaa"), Checkout(old, "aaa+")
    assert "source" not in AtCommit("regression", 8, clean, 1).settings()
    before = AtCommit("regression", 8, changed, 1).settings()["source"]
    with copies([changed]) as (same,):
        assert AtCommit("regression", 8, same, 1).settings()["source"] == before
    (old / "fourierwalk" / "__init__.py").write_text(FAKE + "\n")
    with copies([changed]) as (other,):
        assert AtCommit("regression", 8, other, 1).settings()["source"] != before


def test_this_checkout_is_the_one_that_runs(monkeypatch):
    monkeypatch.setenv("FOURIERWALK_COMMIT", COMMIT)
    here = Checkout.here()
    assert here.commit == "0123456789ab"
    assert os.path.samefile(here.source / "fourierwalk" / "comparison" / "checkouts.py", checkouts.__file__)
