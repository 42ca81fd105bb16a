"""Streamed inputs on torch's CPU device; on a GPU the same code copies on a stream of its own (marker `cuda`)."""

from functools import partialmethod

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierRegressor, inputs
from fourierwalk.data import rows as rows_module
from fourierwalk.data.features import CosineSine
from fourierwalk.data.quartiles import column_blocks
from fourierwalk.data.rows import Rows
from fourierwalk.data.scaling import Scaling
from fourierwalk.data.streaming import Streamed
from fourierwalk.inputs import device as place
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.solver import Solver
from fourierwalk.training.folds import row_hash

torch = pytest.importorskip("torch")


def data(n=300, d=3, kind=np.float64):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, d)).astype(kind)
    return x, np.sin(2 * x[:, :1].astype(float)) + x[:, 1:2]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_block_is_its_rows_in_double(kind):
    x, _ = data(kind=kind)
    streamed = Streamed(x, "cpu")
    for block in (streamed[5:9, :], streamed[..., 5:9, :]):
        assert block.dtype == torch.float64
        assert_array_equal(block.numpy(), x[5:9].astype(float))


def test_a_block_that_was_fetched_before_is_used_once_and_only_for_its_rows():
    x, _ = data()
    streamed = Streamed(x, "cpu")
    streamed.prefetch(slice(0, 4))
    assert_array_equal(streamed[4:8, :].numpy(), x[4:8])
    streamed.prefetch(slice(0, 4))
    x[:4] = 7.0
    assert np.all(streamed[0:4, :].numpy() != 7.0)
    assert_array_equal(streamed[0:4, :].numpy(), x[:4])


def test_rows_are_taken_from_the_taken():
    x, _ = data()
    streamed = Streamed(x, "cpu").take(np.arange(0, 300, 2)).take(np.array([3, 1, 2]))
    assert streamed.shape == (3, 3)
    assert_array_equal(streamed[0:3, :].numpy(), x[[6, 2, 4]])
    assert_array_equal(streamed.on_host(slice(1, 3)), x[[2, 4]])


def test_scaled_rows():
    x, y = data()
    scaling = Scaling.fit(Streamed(x, "cpu"), torch.asarray(y))
    dense = Scaling.fit(torch.asarray(x), torch.asarray(y))
    assert_allclose(scaling.inputs.center, dense.inputs.center)
    assert_allclose(scaling.inputs.scale, dense.inputs.scale)
    assert_allclose(scaling.rows(Streamed(x, "cpu")).x[0:9, :], dense.rows(torch.asarray(x)).x[0:9, :], atol=1e-14)


def test_robustly_scaled_rows():
    """Of some of the rows, with weights."""
    x, y = data(kind=np.float32)
    x[:, 0], x[:, 2] = x[:, 0] ** 5, x[:, 2] > 0
    chosen, weight = np.arange(299, 0, -2), torch.asarray(np.random.default_rng(1).integers(0, 4, 150).astype(float))
    there, targets = torch.asarray(x[chosen]), torch.asarray(y[chosen])
    streamed = Streamed(x, "cpu").take(chosen)
    ours, theirs = (Scaling.fit(each, targets, weight, standardize="robust") for each in (streamed, there))
    assert ours.kind == "robust"
    assert_array_equal(ours.inputs.clipped, [True, True, False])
    assert_array_equal(ours.inputs.center[:2], theirs.inputs.center[:2])
    assert_array_equal(ours.inputs.scale[:2], theirs.inputs.scale[:2])
    block = ours.rows(streamed).x[0:99, :]
    assert block.dtype == torch.float64
    assert_allclose(block, theirs.rows(there).x[0:99, :], atol=1e-13)
    assert 2.5 < float(block[:, 0].abs().max()) <= 3
    again = ours.rows(streamed).take(np.array([5, 2])).x[0:2, :]
    assert_array_equal(again, block[[5, 2], :])


def test_columns_are_read_in_blocks():
    """With memory for two columns at a time; a row that was not taken is not among them."""
    x, _ = data(kind=np.float32)
    streamed = Streamed(x, "cpu").take(np.array([7, 2, 5]))
    blocks = list(column_blocks(streamed, 8 * 3 * 2))
    assert [block.shape for block in blocks] == [(2, 3), (1, 3)]
    assert_array_equal(np.concatenate(blocks).T, x[[7, 2, 5]])
    assert [block.shape for block in column_blocks(streamed)] == [(3, 3)]


@pytest.mark.cuda
def test_robustly_scaled_blocks_on_a_gpu():
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    x, y = data(10_000, 4)
    x[:, 0] = x[:, 0] ** 5
    scaling = Scaling.fit(Streamed(x, "cuda"), torch.asarray(y, device="cuda"), standardize="robust")
    block = scaling.rows(Streamed(x, "cuda")).x[0:5000, :]
    assert block.is_cuda
    assert_allclose(block.cpu(), Scaling.fit(x, y, standardize="robust").rows(x).x[:5000], atol=1e-12)


def test_huge_streamed_values_are_refused():
    x, y = data()
    x[7, 1] = -1e160
    with pytest.raises(ValueError, match=r"^X must have values of a magnitude below 1e\+150"):
        Scaling.fit(Streamed(x, "cpu"), torch.asarray(y))


@pytest.mark.parametrize("path", ["direct", "dual"])
@pytest.mark.parametrize("weighted", [True, False])
def test_sums_over_streamed_rows_are_those_over_dense_ones(path, weighted):
    x, y = data()
    weight = torch.asarray(np.random.default_rng(1).integers(1, 4, 300).astype(float)) if weighted else None
    omega = torch.asarray(np.random.default_rng(2).standard_normal((8, 3)))
    solutions = [
        LeastSquares(rows, CosineSine(), 0.1, Solver(path))(omega)
        for rows in (
            Rows(Streamed(x, "cpu"), torch.asarray(y), weight, block_bytes=8 * 16 * 50),  # several blocks
            Rows(torch.asarray(x), torch.asarray(y), weight),
        )
    ]
    assert_allclose(solutions[0].amplitudes, solutions[1].amplitudes, atol=1e-12)
    assert float(solutions[0].loss) == pytest.approx(float(solutions[1].loss))


def test_each_block_is_fetched_while_the_one_before_is_used(monkeypatch):
    x, y = data()
    begun = []
    exactly = Streamed._begun
    monkeypatch.setattr(Streamed, "_begun", lambda self, part: begun.append(part.start) or exactly(self, part))
    block_bytes = 8 * (16 + 4 * 3) * 107  # 104 is a multiple of eight
    blocks = Rows(Streamed(x, "cpu"), torch.asarray(y), block_bytes=block_bytes).blocks(16)
    seen = [(block.x.shape[0], list(begun)) for block in blocks]
    assert seen == [(104, [0, 104]), (104, [0, 104, 208]), (92, [0, 104, 208])]


@pytest.mark.cuda
def test_blocks_arrive_on_a_gpu(monkeypatch):
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    x, y = data(100_000, 20, np.float32)
    monkeypatch.setattr(rows_module, "accelerator_bytes", lambda values: 16 * 8 * 16 * 5000)  # twenty blocks
    omega = torch.asarray(np.random.default_rng(2).standard_normal((8, 20)), device="cuda")
    there = torch.asarray(y, device="cuda")
    solutions = [
        LeastSquares(Rows(each, there), CosineSine(), 0.1, Solver("direct"))(omega).amplitudes
        for each in (Streamed(x, "cuda"), torch.asarray(x, device="cuda"))
    ]
    assert solutions[0].is_cuda
    assert float((solutions[0] - solutions[1]).abs().max()) < 1e-10


def test_a_hash_is_that_of_the_contents():
    x, _ = data()
    assert_array_equal(row_hash(Streamed(x, "cpu"), 3), row_hash(x, 3))


@pytest.mark.parametrize("mapped", [True, False], ids=["memory map", "array"])
def test_a_whole_fit_and_its_predictions(mapped, monkeypatch, tmp_path):
    """What `device="cuda"` does with inputs that are large for the GPU, with torch's CPU in its place."""
    x, y = data(600)
    if mapped:
        np.save(tmp_path / "x.npy", x)
        x = np.load(tmp_path / "x.npy", mmap_mode="r")

    monkeypatch.setattr(place, "on_device", lambda values, device: torch.tensor(np.asarray(values)))
    monkeypatch.setattr(Streamed, "__init__", partialmethod(on_cpu, Streamed.__init__))

    def fitted(large):
        monkeypatch.setattr(place, "is_large", lambda values, device: large)
        model = AdaptiveFourierRegressor(8, n_steps=20, device="cuda", random_state=0).fit(x, y[:, 0])
        return model, model.predict(x)

    (streamed, ours), (dense, theirs) = fitted(True), fitted(False)
    assert isinstance(ours, np.ndarray)
    assert_allclose(streamed.frequencies_, dense.frequencies_, atol=1e-6)
    assert_allclose(ours, theirs, atol=1e-6)


def on_cpu(self, begin, host, device, *rest):
    """Streamed inputs on torch's CPU device, whatever device was asked for."""
    begin(self, host, "cpu", *rest)


def test_classes_too(monkeypatch):
    x, y = data(400)
    monkeypatch.setattr(place, "on_device", lambda values, device: torch.tensor(values))
    monkeypatch.setattr(place, "is_large", lambda values, device: True)
    monkeypatch.setattr(Streamed, "__init__", partialmethod(on_cpu, Streamed.__init__))
    model = AdaptiveFourierClassifier(8, n_steps=20, device="cuda", random_state=0).fit(x, y[:, 0] > 0)
    assert model.score(x, y[:, 0] > 0) > 0.9


def test_inputs_are_large_by_what_a_fit_makes_of_them(monkeypatch):
    x, _ = data(1000)
    monkeypatch.setattr(place, "on_device", lambda values, device: torch.tensor(values))
    monkeypatch.setattr(place, "accelerator_free_bytes", lambda reference: 2 * 3 * 8 * x.size)
    assert not inputs.is_large(x, "cuda")
    assert inputs.is_large(np.vstack((x, x[:1])).astype(np.float32), "cuda")
    assert not inputs.is_large(np.vstack((x, x)), "cpu")
    assert not inputs.is_large(np.vstack((x, x)), None)


def test_blocks_of_wide_inputs_are_low():
    rows = Rows(Streamed(np.zeros((100, 50)), "cpu"), block_bytes=8 * 1000)
    assert rows.block_height(0) == 5
    assert rows.block_height(800) == 1
