"""Steps ahead of a device. Tensors on the CPU stand in for those of a GPU: only the waiting is missing."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fourierwalk.arrays.draws import DeviceDraws
from fourierwalk.arrays.library import like
from fourierwalk.data.features import ComplexExponentials, CosineSine
from fourierwalk.data.rows import Rows
from fourierwalk.sampling.descent import Descent
from fourierwalk.sampling.proposals import AdaptiveWalk, RandomWalk, ScaledWalk, ShapedWalk, TargetedWalk
from fourierwalk.sampling.resampling import Resampling
from fourierwalk.sampling.sampler import Info, Metropolis, State
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.minibatch import Minibatch
from fourierwalk.solving.solver import Solver
from fourierwalk.training import ahead

SAMPLERS = {
    "Algorithm 1": Metropolis(RandomWalk(0.5), 3.0, refit_every=3),
    "Algorithm 2": Metropolis(AdaptiveWalk(0.5, 5), 3.0, refit_every=3, max_norm=4.0),
    "targeted": Metropolis(TargetedWalk(RandomWalk(0.5), 0.4), 3.0),
    "resampling": Resampling(ScaledWalk(ShapedWalk(0.5))),
    "resampling with a test": Resampling(ShapedWalk(0.5), exponent=3.0),
}


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


class Drift:
    """A sampler of the user's own, from scratch: frequencies drift, and are taken back where a test refuses."""

    def init(self, minimize, frequencies):
        return State(0, frequencies, minimize(frequencies).amplitudes, None)

    def sample(self, minimize, state, rng, n_steps):
        for _ in range(n_steps):
            state, info = self.moved(minimize, state, rng)
            yield state, info

    def moved(self, minimize, state, rng):
        proposed = state.frequencies + 0.3 * like(
            rng.standard_normal(tuple(state.frequencies.shape)), state.frequencies
        )
        solution = minimize(proposed)
        return State(state.step + 1, proposed, solution.amplitudes, None), Info(state.step + 1, 1.0, 0.3, solution.loss)


class Picky(Drift):
    """One that reads the loss of each step, and cannot do without a number."""

    def moved(self, minimize, state, rng):
        after, info = super().moved(minimize, state, rng)
        loss = float(info.loss)
        if not np.isfinite(loss):
            raise ArithmeticError("no number")
        return (after if loss < 0.9 else state._replace(step=after.step)), info


class Tired(Drift):
    """One that ends before its steps are done."""

    def sample(self, minimize, state, rng, n_steps):
        for _ in range(min(n_steps, 21 - state.step)):
            state, info = self.moved(minimize, state, rng)
            yield state, info


OWN = {"drift": Drift(), "picky": Picky(), "tired": Tired()}


def problem(torch, regularization=0.1, precision="double", features=None, path="direct"):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 2))
    y = np.sin(3 * x[:, :1]) + x[:, 1:]
    rows = Rows(torch.asarray(x), torch.asarray(y))
    return LeastSquares(rows, features or ComplexExponentials(), regularization, Solver(path, precision))


def start(torch, n=8):
    return torch.asarray(np.random.default_rng(1).standard_normal((n, 2)))


def walked(torch, sampler, n_steps, rng=None, **settings):
    minimize = problem(torch, **settings)
    state = sampler.init(minimize, start(torch))
    return list(ahead.sample(sampler, minimize, state, rng or np.random.default_rng(2), n_steps))


@pytest.mark.parametrize("n_steps", [0, 1, ahead.STEPS_AT_ONCE, 2 * ahead.STEPS_AT_ONCE + 3])
@pytest.mark.parametrize("name", SAMPLERS)
def test_a_walk_ahead_is_the_same_walk(torch, name, n_steps, request):
    expected = walked(torch, SAMPLERS[name], n_steps)
    request.getfixturevalue("remote")
    found = walked(torch, SAMPLERS[name], n_steps)
    assert len(found) == len(expected) == n_steps
    for (state, info), (same_state, same_info) in zip(found, expected, strict=True):
        assert_allclose(state.frequencies, same_state.frequencies, atol=1e-9)
        assert_allclose(state.amplitudes, same_state.amplitudes, atol=1e-9)
        assert all(isinstance(value, float) for value in info[1:4])
        assert info[1:4] == pytest.approx(same_info[1:4])
        assert info.step == same_info.step
        assert info.phase == same_info.phase


@pytest.mark.parametrize("name", OWN)
def test_a_sampler_of_the_users_own_runs_ahead_too(torch, name, request, monkeypatch):
    """The same walk, though one of its solutions could not be trusted; nobody waits for the others."""
    expected = walked(torch, OWN[name], 40)
    remote, exact, calls, careful = request.getfixturevalue("remote"), LeastSquares.ahead, [], []
    answer = LeastSquares.__call__

    def doubtful(self, frequencies):
        calls.append(1)
        solution = exact(self, frequencies)
        if len(calls) != 5:
            return solution
        nothing = float("nan")
        info = solution.info._replace(trusted=remote.asarray(False))
        return solution._replace(amplitudes=solution.amplitudes * nothing, loss=solution.loss * nothing, info=info)

    monkeypatch.setattr(LeastSquares, "ahead", doubtful)
    monkeypatch.setattr(LeastSquares, "__call__", lambda self, omega: careful.append(1) or answer(self, omega))
    steps = walked(torch, OWN[name], 40)
    assert len(steps) == len(expected) == (21 if name == "tired" else 40)
    assert [info.step for _, info in steps] == [info.step for _, info in expected]
    for (state, info), (same_state, same_info) in zip(steps, expected, strict=True):
        assert_allclose(state.frequencies, same_state.frequencies, atol=1e-12)
        assert info.loss == pytest.approx(float(same_info.loss))
        assert isinstance(info.loss, float)
    assert len(careful) == 2  # the start, and the step that was taken again
    assert len(calls) >= len(steps)


def test_what_fails_for_a_reason_of_its_own_fails_ahead_too(torch, remote):
    class Failing(Drift):
        def moved(self, minimize, state, rng):
            if state.step == 3:
                raise ArithmeticError("mine")
            return super().moved(minimize, state, rng)

    with pytest.raises(ArithmeticError, match="mine"):
        walked(torch, Failing(), 10)


@pytest.mark.parametrize("step_size", [0.01, 1.0], ids=["on one grid", "out of the grid"])
@pytest.mark.parametrize("features", [ComplexExponentials(), CosineSine()], ids=lambda f: f.name)
def test_a_walk_ahead_in_fourier_space_is_the_same_walk(torch, features, step_size, request, monkeypatch):
    """A step whose frequencies outgrow the grid is taken again, with a larger one."""
    trusted, exact = [], LeastSquares.ahead

    def watched(self, frequencies):
        solution = exact(self, frequencies)
        assert solution.info.path == "spectral"
        trusted.append(bool(solution.info.trusted))
        return solution

    monkeypatch.setattr(LeastSquares, "ahead", watched)
    sampler, n_steps = Metropolis(RandomWalk(step_size), 3.0, refit_every=3), 2 * ahead.STEPS_AT_ONCE + 3
    expected = walked(torch, sampler, n_steps, features=features, path="spectral")
    assert trusted == []
    request.getfixturevalue("remote")
    found = walked(torch, sampler, n_steps, features=features, path="spectral")
    assert all(trusted) == (step_size < 0.1)
    assert len(found) == n_steps
    for (state, info), (same_state, same_info) in zip(found, expected, strict=True):
        assert_allclose(state.frequencies, same_state.frequencies, atol=1e-9)
        assert_allclose(state.amplitudes, same_state.amplitudes, atol=1e-9)
        assert float(info.loss) == pytest.approx(float(same_info.loss))
        assert info.solve.trusted is True


@pytest.mark.parametrize("path", ["direct", "dual", "spectral", "auto"])
def test_nothing_is_asked_inside_a_step(torch, remote, monkeypatch, path):
    """Reading a number waits for the device: none is read but by the one question after each sixteen steps."""
    minimize, asked = problem(torch, path=path), []
    assert (minimize.paths.space is None) == (path in ("direct", "dual"))
    for sampler in SAMPLERS.values():
        state = sampler.init(minimize, start(torch))
        with monkeypatch.context() as patch:
            for name in ("__float__", "__bool__", "__int__", "item", "tolist", "cpu", "numpy", "__index__"):
                patch.setattr(torch.Tensor, name, lambda self, *_, name=name: asked.append(name) or pytest.fail(name))
            for _ in range(4):
                state, _ = sampler.step(np.random.default_rng(0), state, ahead._Watched(minimize, minimize))
    assert not asked


def test_a_step_that_cannot_be_trusted_is_taken_again(torch, remote, monkeypatch):
    """From the state and the random numbers that it started with: the walk is the one that asks at every step."""
    exact = LeastSquares.ahead
    calls = []

    def doubtful(self, frequencies):
        calls.append(1)
        solution = exact(self, frequencies)
        if len(calls) != 5:
            return solution
        nonsense = solution.amplitudes * float("nan")
        return solution._replace(amplitudes=nonsense, info=solution.info._replace(trusted=torch.asarray(False)))

    sampler = Metropolis(RandomWalk(0.5), 3.0, refit_every=3)
    expected = walked(torch, sampler, 25)
    monkeypatch.setattr(LeastSquares, "ahead", doubtful)
    found = walked(torch, sampler, 25)
    assert_allclose(found[-1][0].frequencies, expected[-1][0].frequencies, atol=1e-12)
    assert [info.step for _, info in found] == list(range(1, 26))
    assert len(calls) > 25 * 4 / 3


def test_low_precision_that_fails_is_raised_and_counted(torch, remote):
    minimize, sampler = problem(torch, 1e-9, "bf16"), Metropolis(RandomWalk(1e-4), 3.0)
    state = sampler.init(minimize, 1e-3 * start(torch, 12))  # nearly equal frequencies: nearly singular equations
    found = list(ahead.sample(sampler, minimize, state, np.random.default_rng(2), 3))
    assert [info.solve.raised for _, info in found] == [True] * 3
    assert {info.solve.precision for _, info in found} == {"double"}


def test_device_numbers_walk_too(torch, remote):
    def run():
        rng = DeviceDraws(np.random.default_rng(0), torch.device("cpu"))
        return walked(torch, SAMPLERS["resampling"], 20, rng=rng)[-1][0].frequencies.numpy()

    assert_array_equal(run(), run())


def test_what_cannot_run_ahead_does_not(torch, remote):
    minimize = problem(torch, features=CosineSine())
    state = Descent().init(minimize, start(torch))
    steps = list(ahead.sample(Descent(), minimize, state, None, 5))
    assert [info.step for _, info in steps] == [1, 2, 3, 4, 5]


def test_gathered_leaves_floats_as_they_are():
    infos = [Info(1, 0.5, 1.0, 2.0), Info(2, 0.25, 1.0, 3.0)]
    assert ahead.gathered(infos) == infos


def test_gathered_brings_stacked_numbers_as_arrays(torch):
    info = Info(1, torch.asarray([0.5, 0.25]), 1.0, torch.asarray([1.0, 2.0]))
    found = ahead.gathered([info])[0]
    assert_array_equal(found.acceptance, [0.5, 0.25])
    assert_array_equal(found.loss, [1.0, 2.0])
    assert found.step_size == 1.0


def test_batches_of_rows_are_asked_about_one_by_one(torch, remote):
    """A walk that cannot run ahead still brings its numbers home."""
    minimize = Minibatch(problem(torch), np.random.default_rng(0))
    sampler = SAMPLERS["Algorithm 1"]
    steps = list(ahead.sample(sampler, minimize, sampler.init(minimize, start(torch)), np.random.default_rng(2), 3))
    assert all(isinstance(value, float) for _, info in steps for value in info[1:4])


def test_numbers_of_numpy_are_no_arrays(torch):
    found = ahead.gathered([Info(1, torch.asarray(0.5), np.float64(0.3), torch.asarray(2.0))])[0]
    assert found[1:4] == (0.5, 0.3, 2.0)


def test_few_steps_are_wasted_where_none_can_be_trusted(torch, remote, monkeypatch):
    calls, exactly = [], LeastSquares.ahead

    def never(self, frequencies):
        calls.append(1)
        solution = exactly(self, frequencies)
        return solution._replace(info=solution.info._replace(trusted=torch.asarray(False)))

    monkeypatch.setattr(LeastSquares, "ahead", never)
    found = walked(torch, Metropolis(RandomWalk(0.5), 3.0, refit_every=1000), 40)
    assert len(found) == 40
    assert len(calls) <= ahead.STEPS_AT_ONCE + 40


@pytest.mark.cuda
@pytest.mark.parametrize("precision", ["double", "bf16"])
@pytest.mark.parametrize("name", SAMPLERS)
def test_a_step_waits_for_nothing(torch, name, precision):
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    here = problem(torch, precision=precision)
    there = LeastSquares(Rows(here.rows.x.cuda(), here.rows.y.cuda()), here.features, 0.1, here.solver)
    minimize = ahead._Watched(there, there)
    rng, state = np.random.default_rng(2), SAMPLERS[name].init(minimize, start(torch).cuda())
    for _ in range(3):  # what is made once may wait
        state, _ = SAMPLERS[name].step(rng, state, minimize)
    try:
        with warnings.catch_warnings(action="ignore"):  # torch says that this mode does not find every wait
            torch.cuda.set_sync_debug_mode("error")
        for _ in range(3):
            state, _ = SAMPLERS[name].step(rng, state, minimize)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert state.frequencies.is_cuda


def test_doubtful_steps_of_a_recording_are_taken_again_by_the_problem(torch, remote, monkeypatch):
    """With a stand-in for a recording whose solutions are never to be trusted, and wrong."""

    class Wrong:
        def __init__(self, minimize):
            self._minimize = minimize

        def ahead(self, frequencies):
            solution = self._minimize.ahead(frequencies)
            info = solution.info._replace(trusted=torch.asarray(False))
            return solution._replace(amplitudes=0 * solution.amplitudes, info=info)

    n_steps = ahead.WORTH_RECORDING
    expected = walked(torch, SAMPLERS["Algorithm 1"], n_steps)
    monkeypatch.setattr(ahead, "recorded", lambda minimize, frequencies: Wrong(minimize))
    found = walked(torch, SAMPLERS["Algorithm 1"], n_steps)
    assert len(found) == n_steps
    assert_allclose(found[-1][0].frequencies, expected[-1][0].frequencies, atol=1e-9)
    assert_allclose(found[-1][0].amplitudes, expected[-1][0].amplitudes, atol=1e-9)
