"""Fits on a real cluster: two worker processes of one thread, and their scheduler."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
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
    holed = np.where(np.arange(600)[:, None] == 450, np.nan, X)
    x = dask.array.from_array(holed, chunks=((200, 400), 3))
    with pytest.raises(ValueError, match="X must be finite in blocks, got NaN or infinity in block 1"):
        walked(x, dask.array.from_array(Y, chunks=((200, 400),)))


def test_categories_are_refused_in_one_sentence(client):
    frame = pd.DataFrame({"a": X[:, 0], "colour": pd.Categorical(["red"] * 600), "price": Y})
    with pytest.raises(ValueError, match="got Categorical in column 'colour': encode categories"):
        walked(dask.dataframe.from_pandas(frame, npartitions=2), "price")


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
