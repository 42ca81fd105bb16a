"""A fit that was interrupted goes on where it was."""

import os

import killed
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierRegressor, Checkpoint, load
from fourierwalk.checkpoints import generations
from fourierwalk.files import container
from fourierwalk.sampling.descent import Descent
from fourierwalk.sampling.sampler import State


class Stopped(Exception):
    """The fit was stopped here."""


@pytest.fixture
def stop_at(monkeypatch):
    """Stop a fit at its n-th write, before anything is written."""
    write = generations.Generations.write

    def stop(n):
        left = [n]

        def counted(self, tree):
            left[0] -= 1
            if left[0] <= 0:
                raise Stopped
            write(self, tree)

        monkeypatch.setattr(generations.Generations, "write", counted if n else write)

    return stop


def often(folder, name="fit.fw"):
    return Checkpoint(folder / name, every_steps=4, every_seconds=None)


def interrupted(case, folder, stop_at, n, library="numpy"):
    """The file of a fit that was stopped at its n-th write."""
    stop_at(n)
    with pytest.raises(Stopped):
        killed.fitted(case, often(folder), library)
    stop_at(0)
    return folder / "fit.fw"


@pytest.mark.parametrize("library", ["numpy", "torch", pytest.param("cuda", marks=pytest.mark.cuda)])
@pytest.mark.parametrize("case", killed.CASES)
def test_it_goes_on_bit_for_bit(case, library, tmp_path, stop_at):
    if library != "numpy":
        torch = pytest.importorskip("torch")
        if library == "cuda" and not torch.cuda.is_available():
            pytest.skip("there is no GPU")
    interrupted(case, tmp_path, stop_at, 9, library)
    whole = killed.told(killed.fitted(case, library=library))
    assert killed.told(killed.fitted(case, often(tmp_path), library)) == whole
    assert killed.told(killed.fitted(case, often(tmp_path), library)) == whole  # the finished file answers again


def test_work_that_was_done_is_not_done_again(tmp_path, stop_at, monkeypatch):
    interrupted("descent", tmp_path, stop_at, 20)
    steps, step = [], Descent.step
    monkeypatch.setattr(Descent, "step", lambda *arguments: steps.append(1) or step(*arguments))
    model = killed.fitted("descent", often(tmp_path))
    assert len(steps) == len(model.history_.infos) - 4 * 19


def test_finished_members_are_not_searched_again(tmp_path, monkeypatch):
    first = killed.told(killed.fitted("auto", often(tmp_path)))
    monkeypatch.setattr(Descent, "step", lambda *arguments: pytest.fail("a step was taken"))
    assert killed.told(killed.fitted("auto", often(tmp_path))) == first


def damaged(path, how):
    data = path.read_bytes()
    half = len(data) // 2
    path.write_bytes({"cut": data[:half], "altered": data[:half] + b"?" + data[half + 1 :], "empty": b""}[how])


@pytest.mark.parametrize("how", ["cut", "altered", "empty"])
@pytest.mark.parametrize("case", ["auto", "algorithm 2"])
def test_a_damaged_file_falls_back_to_the_one_before(case, how, tmp_path, stop_at):
    damaged(interrupted(case, tmp_path, stop_at, 9), how)
    with pytest.warns(RuntimeWarning, match=r"The fit continues from .*fit\.fw\.before\.$"):
        model = killed.fitted(case, often(tmp_path))
    assert killed.told(model) == killed.told(killed.fitted(case))


def test_without_one_before_a_damaged_file_is_refused(tmp_path, stop_at):
    path = interrupted("algorithm 1", tmp_path, stop_at, 1)
    damaged(path, "cut")
    with pytest.raises(ValueError, match="There is no older checkpoint beside it: remove the file to begin anew"):
        killed.fitted("algorithm 1", often(tmp_path))


def test_a_file_that_was_lost_in_a_write_is_the_one_before(tmp_path, stop_at):
    path = interrupted("algorithm 1", tmp_path, stop_at, 9)
    path.unlink()
    (tmp_path / ".fit.fw.abc.part").write_bytes(b"half")
    assert killed.told(killed.fitted("algorithm 1", often(tmp_path))) == killed.told(killed.fitted("algorithm 1"))


def small(**changed):
    settings = {"n_frequencies": 4, "sampler": "metropolis", "n_steps": 12, "random_state": 0, **changed}
    return AdaptiveFourierRegressor(**settings)


X = np.random.default_rng(0).normal(size=(150, 2))
Y = np.sin(X[:, 0])


@pytest.mark.parametrize(
    ("changed", "x", "said"),
    [
        ({}, X + 1e-9, "other data"),
        ({"n_steps": 13}, X, "another n_steps"),
        ({"n_frequencies": 5, "exponent": 3.0}, X, "another exponent and n_frequencies"),
        ({"random_state": 1}, X, "another random_state"),
        ({"random_state": None}, X, "another random_state"),
    ],
)
def test_the_file_of_another_fit_is_refused(changed, x, said, tmp_path):
    path = tmp_path / "fit.fw"
    small(checkpoint=path).fit(X, Y)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"^checkpoint") as error:
        small(checkpoint=path, **changed).fit(x, Y)
    assert str(error.value) == (
        f"checkpoint {path} belongs to a fit with {said}: give another name, remove the file, or give a folder in "
        f"which each fit has a file of its own."
    )
    assert path.read_bytes() == before


def test_verbosity_and_seconds_may_change(tmp_path, capsys):
    path = tmp_path / "fit.fw"
    first = small(checkpoint=path).fit(X, Y)
    second = small(checkpoint=str(path), verbose=1, max_seconds=100.0).fit(X, Y)
    np.testing.assert_array_equal(first.frequencies_, second.frequencies_)


def test_a_fit_without_a_seed_goes_on_with_its_own_numbers(tmp_path):
    first, second, other = (
        small(checkpoint=tmp_path / name, random_state=None).fit(X, Y) for name in ("a.fw", "a.fw", "b.fw")
    )
    np.testing.assert_array_equal(first.frequencies_, second.frequencies_)
    assert not np.array_equal(first.frequencies_, other.frequencies_)


def test_a_users_generator_is_left_as_without_a_checkpoint(tmp_path):
    after = []
    for checkpoint in (None, tmp_path / "a.fw", tmp_path / "a.fw"):
        rng = np.random.default_rng(5)
        small(checkpoint=checkpoint, random_state=rng).fit(X, Y)
        after.append(rng.random())
    assert len(set(after)) == 1


def test_a_model_file_or_another_version_is_no_checkpoint(tmp_path):
    path = tmp_path / "model.fw"
    small().fit(X, Y).save(path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"holds 'AdaptiveFourierRegressor' and no checkpoint: give another name\.$"):
        small(checkpoint=path).fit(X, Y)
    assert path.read_bytes() == before


def test_the_file_of_another_version_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "fit.fw"
    with monkeypatch.context() as patch:
        patch.setattr(container, "VERSION", "0.0.1")
        small(checkpoint=path).fit(X, Y)
    with pytest.raises(ValueError, match=r"is of fourierwalk 0\.0\.1, and this is .* remove the file to begin anew\.$"):
        small(checkpoint=path).fit(X, Y)


@pytest.mark.parametrize("what", ["pieces", "run", "fit"])
def test_a_file_that_makes_no_sense_is_refused(what, tmp_path):
    path = tmp_path / "fit.fw"
    small(checkpoint=path).fit(X, Y)
    tree = container.read(path).tree
    container.write(path, "Checkpoint", {**tree, what: {"is": "State"}})
    with pytest.raises(ValueError, match=r"makes no sense: remove the file to begin anew\.$"):
        small(checkpoint=path).fit(X, Y)


def test_a_checkpoint_is_no_model(tmp_path):
    small(checkpoint=tmp_path / "fit.fw").fit(X, Y)
    with pytest.raises(ValueError, match="got 'Checkpoint'"):
        load(tmp_path / "fit.fw")


def test_a_place_that_cannot_be_written_is_told_before_the_work(tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(OSError, match="cannot be written"):
        small(checkpoint=tmp_path / "file" / "fit.fw").fit(X, Y)


def test_a_failed_write_is_a_warning_and_the_fit_goes_on(tmp_path, monkeypatch):
    """The disk is full from the second write on: the file that was there stays readable."""
    whole = small().fit(X, Y)
    fsync, left = os.fsync, [2]

    def full(handle):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        fsync(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.warns(RuntimeWarning, match="cannot be written: No space left on device. The fit goes on"):
            model = small(checkpoint=often(tmp_path)).fit(X, Y)
    np.testing.assert_array_equal(model.frequencies_, whole.frequencies_)
    again = small(checkpoint=often(tmp_path)).fit(X, Y)
    np.testing.assert_array_equal(again.frequencies_, whole.frequencies_)


def test_two_fits_at_once_do_not_share_a_file(tmp_path):
    """The file of the first is replaced while it runs: it says so, and goes on without a checkpoint."""

    first = small(checkpoint=often(tmp_path), n_steps=40)
    write, calls = generations.Generations.write, []

    def meddled(self, tree):
        calls.append(1)
        if len(calls) == 2:
            container.write(self.path, "Checkpoint", {"of": "another"})
        write(self, tree)

    generations.Generations.write = meddled
    try:
        with pytest.warns(RuntimeWarning, match="is written by another fit too: this one goes on without a checkpoint"):
            first.fit(X, Y)
    finally:
        generations.Generations.write = write
    assert container.read(tmp_path / "fit.fw").tree == {"of": "another"}


def test_the_fits_of_a_grid_search_share_a_folder_but_no_file(tmp_path):
    grid = {"n_frequencies": [3, 4]}
    folder = tmp_path / "fits"
    search = GridSearchCV(small(checkpoint=f"{folder}/"), grid, cv=2).fit(X, Y)
    assert len(list(folder.glob("*.fw"))) == 2 * 2 + 1
    again = GridSearchCV(small(checkpoint=f"{folder}/"), grid, cv=2).fit(X, Y)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], again.cv_results_["mean_test_score"])
    with pytest.raises(ValueError, match="give a folder in which each fit has a file of its own"):
        GridSearchCV(small(checkpoint=tmp_path / "one.fw"), grid, cv=2, error_score="raise").fit(X, Y)


def test_an_interrupted_fit_leaves_a_file_and_goes_on(tmp_path):
    """max_seconds end the fit after the first model; without them it goes on to the whole fit."""
    path, (x, y) = tmp_path / "fit.fw", killed.problem()
    settings = {"n_frequencies": 48, "n_steps": 30, "random_state": 0, "checkpoint": path}
    short = AdaptiveFourierRegressor(**settings, max_seconds=1e-9).fit(x, y)
    whole = AdaptiveFourierRegressor(**settings).fit(x, y)
    assert len(short.history_.infos) < len(whole.history_.infos)
    assert killed.told(whole) == killed.told(AdaptiveFourierRegressor(**{**settings, "checkpoint": None}).fit(x, y))


def test_a_warm_start_has_a_file_of_its_own(tmp_path):
    model = small(checkpoint=f"{tmp_path}/", warm_start=True).fit(X, Y).fit(X, Y)
    assert model.n_steps_ == 24
    assert len(list(tmp_path.glob("*.fw"))) == 2
    plain = small(warm_start=True).fit(X, Y).fit(X, Y)
    np.testing.assert_array_equal(model.frequencies_, plain.frequencies_)


def test_classes_weights_and_sparse_rows(tmp_path):
    import scipy.sparse

    rows, labels, weight = scipy.sparse.csr_array(X * (X > 0)), Y > 0, np.arange(150) % 3 + 0.5
    fits = [
        AdaptiveFourierClassifier(6, n_steps=8, random_state=0, checkpoint=path).fit(rows, labels, weight)
        for path in (None, tmp_path / "a.fw", tmp_path / "a.fw")
    ]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.predict_proba(rows), fits[0].predict_proba(rows))


def test_a_sampler_of_the_users_own_is_refused_in_a_sentence(tmp_path):
    class Own(Descent):
        def init(self, minimize, frequencies):
            return State(0, frequencies, minimize(frequencies).amplitudes, None)

    with pytest.raises(ValueError, match="sampler must be plain data or an object of fourierwalk"):
        small(sampler=Own(), checkpoint=tmp_path / "a.fw").fit(X, Y)


def test_error_bars_are_those_of_the_whole_fit(tmp_path, stop_at):
    interrupted("auto", tmp_path, stop_at, 9)
    x, _ = killed.problem()
    stds = [killed.fitted("auto", path).predict(x, return_std=True)[1] for path in (None, often(tmp_path))]
    np.testing.assert_array_equal(*stds)
