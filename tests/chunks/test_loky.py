import os
import signal

import numpy as np
import pytest

from fourierwalk import AdaptiveFourierRegressor
from fourierwalk.chunks import Blocks, Loky, Sliced


def on_disk(folder):
    """Rows in two memory maps."""
    x = np.memmap(folder / "x", np.float64, "w+", shape=(400, 2))
    x[:] = np.random.default_rng(0).standard_normal((400, 2))
    y = np.memmap(folder / "y", np.float64, "w+", shape=(400,))
    y[:] = np.sin(2 * x[:, 0])
    return x, y


def test_processes_give_the_bits_of_one_process(tmp_path):
    chunks = Sliced(*on_disk(tmp_path), rows=90)
    settings = {"sampler": "metropolis", "n_frequencies": 4, "n_steps": 5, "regularization": 1e-3, "random_state": 0}
    one, two = (AdaptiveFourierRegressor(**settings).fit(each) for each in (chunks, Loky(chunks, n_jobs=2)))
    assert np.array_equal(one.amplitudes_, two.amplitudes_)


class Dying:
    """A share that kills its process the first few times."""

    def __init__(self, folder, times):
        self.folder, self.times = folder, times

    def __call__(self, chunk):
        for i in range(self.times):
            try:
                (self.folder / f"death {i}").touch(exist_ok=False)
            except FileExistsError:
                continue
            os.kill(os.getpid(), signal.SIGKILL)
        return len(chunk)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_pass_is_repeated_if_a_process_dies(tmp_path):
    chunks = Loky(Sliced(*on_disk(tmp_path), rows=100), n_jobs=2)
    assert chunks.sum(Dying(tmp_path, times=1)) == 400


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_pass_that_always_kills_is_given_up(tmp_path):
    chunks = Loky(Sliced(*on_disk(tmp_path), rows=200), n_jobs=2)
    with pytest.raises(RuntimeError, match="a process of n_jobs=2 died in each of 3 attempts"):
        chunks.sum(Dying(tmp_path, times=100))


def test_other_processes_must_be_able_to_open_the_arrays(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "rows.h5", "w") as file:
        x, y = file.create_dataset("x", data=np.ones((2, 1))), np.ones(2)
        with pytest.raises(ValueError, match="Loky needs arrays that other processes can open, got an h5py dataset"):
            Loky(Sliced(x, y))


def test_chunks_must_have_numbers():
    with pytest.raises(ValueError, match=r"Loky needs chunks that have numbers \(Sliced, ParquetChunks\), got Blocks"):
        Loky(Blocks([]))
