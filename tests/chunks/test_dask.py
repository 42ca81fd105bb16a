"""Fits on a real cluster: two worker processes of one thread, and their scheduler."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierRegressor
from fourierwalk.chunks import DaskChunks, Sliced
from fourierwalk.sampling.proposals import RandomWalk
from fourierwalk.sampling.sampler import Metropolis

dask = pytest.importorskip("dask")
for module in ("dask.array", "dask.dataframe", "distributed"):
    pytest.importorskip(module)
from distributed import Client, LocalCluster  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((600, 3))
Y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * RNG.standard_normal(600)
WALK = {"n_frequencies": 8, "n_steps": 12, "regularization": 1e-3, "random_state": 0}


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        yield client


def divided(*sizes):
    """X and y as Dask arrays, on the workers of the client."""
    x = dask.array.from_array(X, chunks=(sizes, 3)).persist()
    return x, dask.array.from_array(Y, chunks=(sizes,)).persist()


def walked(*data, **options):
    return AdaptiveFourierRegressor(**{"sampler": "metropolis", **WALK, **options}).fit(*data)


def test_the_same_chunks_give_the_same_bits_as_in_this_process(client):
    local, there = walked(Sliced(X, Y, rows=130)), walked(*divided(130, 130, 130, 130, 80))
    assert np.array_equal(there.frequencies_, local.frequencies_)
    assert np.array_equal(there.amplitudes_, local.amplitudes_)


@pytest.mark.parametrize("sampler", ["metropolis", "descent", "resampling", "fixed"])
def test_other_chunks_agree(client, sampler):
    some, others = (walked(*divided(*sizes), sampler=sampler) for sizes in ((300, 300), (7, 93, 0, 500)))
    assert np.max(np.abs(some.model_(X) - others.model_(X))) < 1e-10


def test_the_default_training_is_the_same_for_all_chunks(client):
    some, others = (
        AdaptiveFourierRegressor(4, n_steps=4, random_state=0).fit(*divided(*s)) for s in ((600,), (99, 501))
    )
    assert np.array_equal(some.amplitudes_, others.amplitudes_)


def test_predictions_are_lazy(client):
    x, y = divided(200, 400)
    model = walked(x, y)
    values = model.predict(x)
    assert isinstance(values, dask.array.Array)
    assert values.chunks == ((200, 400),)
    assert np.array_equal(values.compute(), model.predict(X))


def test_classes_are_found_on_the_workers(client):
    x, y = divided(200, 400)
    labels = dask.array.where(y > 0, "up", "down")
    model = AdaptiveFourierClassifier(**WALK, sampler="descent").fit(x, labels)
    assert model.classes_.tolist() == ["down", "up"]
    assert np.mean(model.predict(x).compute() == labels.compute()) > 0.9
    assert model.predict_proba(x).shape == (600, 2)


def test_frames_name_their_target(client):
    frame = dask.dataframe.from_pandas(pd.DataFrame(X, columns=list("abc")).assign(price=Y), npartitions=3)
    model = walked(frame, "price")
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    values = model.predict(frame[list("abc")])
    assert np.max(np.abs(values.compute() - model.model_(X)[:, 0])) < 1e-12


def test_chunks_of_unknown_size_are_counted(client):
    x, y = divided(200, 400)
    picked = x[y > 0], y[y > 0]
    assert np.isnan(picked[0].shape[0])
    assert np.array_equal(walked(*picked).amplitudes_, walked(picked_here()).amplitudes_)


def picked_here():
    """The same rows in the same two chunks."""
    return [(X[part][Y[part] > 0], Y[part][Y[part] > 0]) for part in (slice(0, 200), slice(200, 600))]


def test_chunks_of_torch_are_computed_where_they_are(client):
    torch = pytest.importorskip("torch")
    tensors = dask.array.from_array(X, chunks=(300, 3)).map_blocks(torch.as_tensor, meta=np.empty((0, 0)))
    x, y = divided(300, 300)
    assert np.max(np.abs(walked(tensors, y).model_(X) - walked(x, y).model_(X))) < 1e-10


@dataclass(frozen=True)
class Deadly(Metropolis):
    """A walk that kills a process after its fifth step."""

    victim: Any = None

    def sample(self, *args):
        for state, info in super().sample(*args):
            if info.step == 5:
                os.kill(self.victim, signal.SIGKILL)
            yield state, info


def test_a_fit_survives_the_death_of_a_worker(client):
    sampler = Metropolis(RandomWalk(0.5), 4.0)
    data = divided(100, 100, 100, 100, 200)
    calm = walked(*data, sampler=sampler)
    victim = next(iter(client.run(os.getpid).values()))
    model = walked(*data, sampler=Deadly(RandomWalk(0.5), 4.0, victim=victim))
    assert np.array_equal(model.amplitudes_, calm.amplitudes_)
    assert np.array_equal(model.frequencies_, calm.frequencies_)
    client.wait_for_workers(2, timeout=60)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Y, "y must be a Dask collection like X, got ndarray"),
        (dask.array.from_array(Y, chunks=300), r"y must be chunked like X, in rows of \(200, 400\), got \(300, 300\)"),
    ],
)
def test_targets_must_be_chunked_like_the_inputs(y, message):
    with pytest.raises(ValueError, match=message):
        walked(dask.array.from_array(X, chunks=((200, 400), 3)), y)


def test_a_bad_block_is_named(client):
    torn = np.where(np.arange(600)[:, None] == 450, np.inf, X)
    x = dask.array.from_array(torn, chunks=((200, 400), 3))
    with pytest.raises(ValueError, match="X must be finite in blocks, got NaN or infinity in block 1"):
        walked(x, dask.array.from_array(Y, chunks=((200, 400),)))


COLOURS = np.array(["red", "green", "blue"], dtype=object)[np.arange(600) % 3]
TABLE = pd.DataFrame(
    {
        "a": np.where(np.arange(600) % 7 == 3, np.nan, X[:, 0]),
        "colour": pd.Categorical(np.where(np.arange(600) < 500, COLOURS, "black")),  # black is in the last blocks only
        "place": [f"p{code}" for code in np.arange(600) % 17],
        "day": np.datetime64("2020-01-01", "us") + np.arange(600) * np.timedelta64(86_400, "s"),
        "price": Y + (COLOURS == "red") + np.arange(600) % 17 / 5,
    }
)
INPUTS = TABLE.drop(columns="price")


def in_partitions(is_known):
    """The table as a Dask frame of three partitions, whose categories may not be known."""
    frame = dask.dataframe.from_pandas(TABLE, npartitions=3)
    return frame if is_known else frame.assign(colour=frame["colour"].cat.as_unknown())


@pytest.mark.parametrize("sampler", ["metropolis", "descent", "auto"])
@pytest.mark.parametrize("is_known", [True, False])
def test_tables_on_the_workers_give_the_bits_of_this_process(client, monkeypatch, sampler, is_known):
    monkeypatch.setattr("fourierwalk.chunks.whole.SAMPLE_ROWS", 400)
    options = {"sampler": sampler, **({"regularization": "auto", "n_frequencies": 64} if sampler == "auto" else {})}
    there = walked(in_partitions(is_known), "price", **options)
    ends = [0, *np.cumsum([len(part) for part in in_partitions(True).partitions])]
    parts = [TABLE[i:j] for i, j in pairwise(ends)]
    here = walked([(part.drop(columns="price"), part["price"]) for part in parts], **options)
    assert np.array_equal(there.frequencies_, here.frequencies_)
    assert np.array_equal(there.amplitudes_, here.amplitudes_)
    assert there.feature_names_in_.tolist() == list(INPUTS.columns)
    assert there.encoder_.columns_[1].levels == ("black", "blue", "green", "red")
    lazy = there.predict(in_partitions(is_known)[list(INPUTS.columns)])
    assert np.array_equal(lazy.compute(), here.predict(INPUTS))


def test_tables_that_fit_in_memory_are_fitted_there(client):
    there, here = walked(in_partitions(False), "price"), walked(INPUTS, TABLE["price"])
    assert np.array_equal(there.amplitudes_, here.amplitudes_)
    np.testing.assert_equal(there.encoder_.to_tables(), here.encoder_.to_tables())


def test_labels_of_tables_may_be_categories(client):
    frame = in_partitions(True)
    model = AdaptiveFourierClassifier(**WALK, sampler="descent").fit(frame, "colour")
    assert model.classes_.tolist() == ["black", "blue", "green", "red"]


def test_what_is_wrong_with_a_table_is_said_with_block_and_column(client):
    frame = dask.dataframe.from_pandas(TABLE.assign(a=np.where(np.arange(600) == 250, np.inf, 1.0)), npartitions=3)
    with pytest.raises(ValueError, match="finite or missing in column 'a', got inf in row 50, in block 1"):
        walked(frame, "price")


def test_missing_values_of_arrays_are_filled(client, monkeypatch):
    monkeypatch.setattr("fourierwalk.chunks.whole.SAMPLE_ROWS", 200)
    holed = np.where(np.arange(600)[:, None] % 9 == 4, np.nan, X)
    x = dask.array.from_array(holed, chunks=((200, 400), 3))
    model = walked(x, dask.array.from_array(Y, chunks=((200, 400),)))
    assert model.encoder_.get_feature_names_out().tolist()[:2] == ["x0", "x0_missing"]
    assert np.array_equal(model.predict(x).compute(), model.predict(holed))


def test_without_a_client_threads_of_this_process_do_it():
    chunks = DaskChunks(dask.array.from_array(X, chunks=(150, 3)), dask.array.from_array(Y, chunks=150))
    chunks.client = None
    assert np.array_equal(walked(chunks).amplitudes_, walked(Sliced(X, Y, rows=150)).amplitudes_)


@pytest.mark.parametrize(
    ("victim", "message"),
    [
        ("scheduler", "the Dask scheduler was lost in the middle of a fit"),
        ("worker", "the Dask cluster has had no worker for 1 seconds: start workers."),
    ],
)
def test_a_lost_cluster_is_said_in_time(tmp_path, victim, message):
    program = Path(__file__).parents[1] / "dask_program.py"
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    command = [sys.executable, str(program), str(tmp_path), victim]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=120, text=True, check=False)
    assert message in done.stdout, done.stderr[-2000:]
