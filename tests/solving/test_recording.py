"""Recordings are made on a GPU alone (marker `cuda`)."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fourierwalk.arrays import cosines
from fourierwalk.data.features import Activation, ComplexExponentials, named
from fourierwalk.data.rows import Rows
from fourierwalk.sampling.proposals import RandomWalk
from fourierwalk.sampling.sampler import Metropolis
from fourierwalk.solving import recording
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.solver import Solver
from fourierwalk.training import ahead

torch = pytest.importorskip("torch")


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def problem(device, features=ComplexExponentials(), path="direct", precision="double", n_rows=300):  # noqa: B008
    x = torch.asarray(drawn(n_rows, 4), device=device)
    return LeastSquares(Rows(x, torch.sin(3 * x[:, :2])), features, 0.1, Solver(path, precision))


@pytest.fixture
def device():
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    return "cuda"


@pytest.mark.cuda
@pytest.mark.parametrize("precision", ["double", "tf32", "bf16"])
@pytest.mark.parametrize("features", ["complex", "cos-sin", "sigmoid"])
def test_a_recording_plays_the_solve(device, features, precision, monkeypatch):
    monkeypatch.setattr(cosines, "WORTH_A_KERNEL", 0)
    features = named(features)
    minimize = problem(device, features, precision=precision)
    vectors = [torch.asarray(drawn(20, features.dimension(4), seed=seed), device=device) for seed in range(3)]
    played = recording.recorded(minimize, vectors[0])
    assert isinstance(played, recording.Recorded)
    solutions = [played.ahead(omega) for omega in vectors]  # a later one does not change an earlier one
    for omega, solution in zip(vectors, solutions, strict=True):
        expected = minimize.ahead(omega + 0)
        assert_allclose(solution.amplitudes.cpu(), expected.amplitudes.cpu(), atol=1e-12)
        assert float(solution.loss) == pytest.approx(float(expected.loss))
        assert bool(solution.info.trusted)
        assert solution.info.path == expected.info.path
        assert solution.info.precision == expected.info.precision


@pytest.mark.cuda
def test_a_recording_tells_what_cannot_be_trusted(device):
    minimize = replace(problem(device), regularization=1e-18)
    omega = torch.asarray(drawn(20, 4), device=device)
    played = recording.recorded(minimize, omega)
    assert bool(played.ahead(omega).info.trusted)
    assert not bool(played.ahead(0 * omega).info.trusted)


@pytest.mark.cuda
@pytest.mark.parametrize("precision", ["double", "bf16"])
def test_a_recorded_walk_is_the_same_walk(device, precision, monkeypatch):
    ends = []
    for least in (1, 1000):
        made = []
        monkeypatch.setattr(ahead, "recorded", lambda *of, made=made: made.append(recording.recorded(*of)) or made[-1])
        minimize = problem(device, precision=precision)
        walk = Metropolis(RandomWalk(0.3), 3.0, refit_every=7)
        state = walk.init(minimize, torch.zeros((20, 4), dtype=torch.float64, device=device))
        *_, (state, _) = ahead.sample(walk, minimize, state, np.random.default_rng(2), 50, least)
        ends.append(state)
        assert [isinstance(each, recording.Recorded) for each in made] == ([True] if least == 1 else [])
    assert_allclose(ends[0].frequencies.cpu(), ends[1].frequencies.cpu(), atol=1e-9)
    assert_allclose(ends[0].amplitudes.cpu(), ends[1].amplitudes.cpu(), atol=1e-9)


@pytest.mark.cuda
def test_the_last_recording_is_kept(device):
    minimize, omega = problem(device), torch.asarray(drawn(20, 4), device=device)
    first = recording.recorded(minimize, omega)
    assert recording.recorded(minimize, omega + 1) is first
    other = recording.recorded(replace(minimize, regularization=0.2), omega)
    assert other is not first
    expected = replace(minimize, regularization=0.2)(omega).amplitudes
    assert_allclose(other.ahead(omega).amplitudes.cpu(), expected.cpu(), atol=1e-12)
    assert recording.recorded(replace(minimize, rows=Rows(minimize.rows.x, minimize.rows.y)), omega) is not other
    minimize.latest.forget()
    assert minimize.latest.recording is None


@pytest.mark.cuda
def test_what_is_not_recorded(device):
    minimize, omega = problem(device), torch.asarray(drawn(20, 4), device=device)
    for other in (problem(device, Activation(torch.tanh)), problem(device, path="dual")):  # others' code might wait
        vectors = torch.asarray(drawn(20, other.features.dimension(4)), device=device)
        assert recording.recorded(other, vectors) is other
    x = torch.stack((minimize.rows.x, minimize.rows.x))
    stacked = replace(minimize, rows=Rows(x, torch.sin(x)))
    assert recording.recorded(stacked, torch.stack((omega, omega))) is stacked
    assert recording.recorded(minimize, omega, most_bytes=0) is minimize


def test_on_a_cpu_nothing_is_recorded():
    minimize = problem("cpu")
    assert recording.recorded(minimize, torch.zeros((3, 4), dtype=torch.float64)) is minimize
    assert recording.recorded(len, np.zeros((3, 4))) is len
