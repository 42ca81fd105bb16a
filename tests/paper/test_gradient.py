import pickle
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fourierwalk.paper import gradient
from fourierwalk.paper.gradient import GradientState, StochasticGradient, advance, advance_plain, drawn, in_order

KERNELS = [advance_plain, advance]


def problem(n_frequencies, n_inputs, n_rows, spread=2.0, seed=0):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((n_rows, n_inputs)), rng.standard_normal(n_rows)
    amplitudes = rng.standard_normal(n_frequencies) + 1j * rng.standard_normal(n_frequencies)
    return GradientState(spread * rng.standard_normal((n_frequencies, n_inputs)), amplitudes / n_frequencies), x, y


def loss(frequencies, amplitudes, x, y):
    return abs(np.exp(1j * (frequencies @ x)) @ amplitudes - y) ** 2


def slope(function, at, eps=1e-6):
    """The gradient by central differences, one entry at a time."""
    result = np.zeros(at.shape)
    for i in np.ndindex(at.shape):
        shift = np.zeros(at.shape)
        shift[i] = eps
        result[i] = (function(at + shift) - function(at - shift)) / (2 * eps)
    return result


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_inputs", [1, 3])
def test_one_step_follows_the_numerical_gradient(kernel, n_inputs):
    state, x, y = problem(5, n_inputs, 1)
    (omega, beta), step_size = state[:2], 0.01
    after = kernel(state, x, y, step_size)
    along_omega = slope(lambda w: loss(w, beta, x[0], y[0]), omega)
    along_real = slope(lambda a: loss(omega, a + 1j * beta.imag, x[0], y[0]), beta.real)
    along_imaginary = slope(lambda b: loss(omega, beta.real + 1j * b, x[0], y[0]), beta.imag)
    assert_allclose((omega - after.frequencies) / step_size, along_omega, atol=1e-7)
    assert_allclose((beta - after.amplitudes) / step_size, along_real + 1j * along_imaginary, atol=1e-7)
    assert np.abs(along_omega).min() > 1e-4


@pytest.mark.parametrize("n_inputs", [1, 2, 5])
@pytest.mark.parametrize("n_frequencies", [1, 2, 7, 8, 16, 17, 64, 130])
def test_compiled_equals_plain(n_frequencies, n_inputs):
    state, x, y = problem(n_frequencies, n_inputs, 1000)
    plain, fast = (kernel(state, x, y, 1.5e-3) for kernel in KERNELS)
    assert_allclose(fast.frequencies, plain.frequencies, rtol=0, atol=1e-10)
    assert_allclose(fast.amplitudes, plain.amplitudes, rtol=0, atol=1e-10)
    assert fast.step == plain.step == 1000
    assert np.abs(fast.frequencies - state.frequencies).max() > 1e-3


def test_compiled_equals_plain_at_large_frequencies():
    state, x, y = problem(32, 1, 1000, spread=50.0)
    plain, fast = (kernel(state, x, y, 1.5e-4) for kernel in KERNELS)
    assert_allclose(fast.frequencies, plain.frequencies, rtol=0, atol=1e-10)
    assert_allclose(fast.amplitudes, plain.amplitudes, rtol=0, atol=1e-10)


@pytest.mark.parametrize("largest", [1.0, 100.0, 1e4, 1e6, 6e6])
def test_sine_and_cosine_are_accurate(largest):
    angles = np.random.default_rng(0).uniform(-largest, largest, 20_000)
    quarters = np.pi / 2 * np.round(angles / (np.pi / 2))
    frequencies = np.concatenate([angles, quarters, [0.0, largest, -largest]])[:, None]
    state = GradientState(frequencies, np.zeros(len(frequencies), complex))
    after = advance(state, [[1.0]], [1.0], 0.5)  # from zero, one such step leaves β = conj(exp(iω))
    assert_allclose(after.amplitudes.real, np.cos(frequencies[:, 0]), rtol=0, atol=2e-15)
    assert_allclose(after.amplitudes.imag, -np.sin(frequencies[:, 0]), rtol=0, atol=2e-15)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_step_leaves_its_input_alone(kernel):
    state, x, y = problem(3, 2, 10)
    copy = pickle.loads(pickle.dumps(state))
    kernel(state, x, y, 0.1)
    assert_array_equal(state.frequencies, copy.frequencies)
    assert_array_equal(state.amplitudes, copy.amplitudes)


@pytest.mark.parametrize("kernel", KERNELS)
def test_divergence_shows(kernel):
    state, x, y = problem(3, 1, 3000)
    with np.errstate(all="ignore"):
        assert not np.isfinite(kernel(state, x, y, 10.0).amplitudes).any()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("x", "y"), [(np.ones((4, 3)), np.ones(4)), (np.ones((4, 2)), np.ones(3)), (np.ones(4), np.ones(4))]
)
def test_rows_of_the_wrong_shape_are_refused(kernel, x, y):
    state, _, _ = problem(3, 2, 1)
    with pytest.raises(ValueError, match=r"need x of shape \(n, 2\)"):
        kernel(state, x, y, 0.1)


def test_amplitudes_of_the_wrong_shape_are_refused():
    with pytest.raises(ValueError, match="3 frequencies need as many amplitudes"):
        advance(GradientState(np.zeros((3, 1)), np.zeros(2, complex)), [[1.0]], [1.0], 0.1)


def test_rows_of_any_number_type_and_layout_are_taken():
    state, x, y = problem(3, 2, 50)
    x, y = np.round(x), np.round(y)
    expected = advance(state, x, y, 1e-3)
    for rows, targets in [(x.astype(np.float32), y.astype(int)), (np.asfortranarray(x), y.tolist())]:
        assert_array_equal(advance(state, rows, targets, 1e-3).frequencies, expected.frequencies)


@pytest.mark.parametrize("spread", [1.0, 50.0])
def test_init(spread):
    state = StochasticGradient(1.0, 1).init(np.random.default_rng(0), 1000, 2, spread)
    assert state.frequencies.shape == (1000, 2)
    assert state.frequencies.std() == pytest.approx(spread, rel=0.05)
    assert_array_equal(state.amplitudes, np.zeros(1000, complex))
    assert state.step == 0


def test_training_from_zero_amplitudes_moves_both_and_lowers_the_error():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1000, 1))
    y = np.sin(3 * x[:, 0])
    method = StochasticGradient(5e-3, 40_000)
    start = method.init(rng, 16, 1)
    *_, state = method.run(start, drawn(x, y, rng))
    error = np.exp(1j * x @ state.frequencies.T) @ state.amplitudes - y
    assert np.sqrt(np.mean(abs(error) ** 2)) < 0.1
    assert np.abs(state.frequencies - start.frequencies).max() > 0.3


def test_run_yields_after_each_chunk_and_ends_at_n_steps():
    state, x, y = problem(4, 2, 100)
    method = StochasticGradient(1e-3, 70)
    assert [s.step for s in method.run(state, in_order(x, y, 30))] == [30, 60, 70]
    assert [s.step for s in method.run(state._replace(step=65), in_order(x, y, 3))] == [68, 70]
    assert list(method.run(state._replace(step=70), in_order(x, y, 30))) == []


def test_run_says_when_the_rows_run_out():
    state, x, y = problem(4, 2, 100)
    with pytest.raises(ValueError, match="the rows ran out after 100 of 1,000 steps"):
        list(StochasticGradient(1e-3, 1000).run(state, in_order(x, y, 30)))


def test_chunks_do_not_change_the_walk():
    state, x, y = problem(8, 1, 100)
    method = StochasticGradient(1e-3, 1000)
    ends = [list(method.run(state, drawn(x, y, np.random.default_rng(3), size)))[-1] for size in (1000, 37)]
    assert_array_equal(ends[0].frequencies, ends[1].frequencies)
    assert_array_equal(ends[0].amplitudes, ends[1].amplitudes)


def test_run_uses_the_kernel_it_is_given():
    state, x, y = problem(4, 1, 20)
    seen = []

    def kernel(state, x, y, step_size):
        seen.append((len(y), step_size))
        return advance_plain(state, x, y, step_size)

    list(StochasticGradient(0.25, 20).run(state, in_order(x, y, 15), kernel))
    assert seen == [(15, 0.25), (5, 0.25)]


def test_drawn_is_uniform_with_replacement():
    rows, targets = next(drawn(np.arange(10.0)[:, None], np.arange(10.0), np.random.default_rng(0), 20_000))
    assert_array_equal(rows[:, 0], targets)
    assert np.abs(np.bincount(targets.astype(int), minlength=10) / 20_000 - 0.1).max() < 0.01


def test_in_order_takes_each_row_once():
    x, y = np.arange(7.0)[:, None], np.arange(7.0)
    chunks = list(in_order(x, y, 3))
    assert [len(targets) for _, targets in chunks] == [3, 3, 1]
    assert_array_equal(np.concatenate([rows for rows, _ in chunks]), x)
    assert_array_equal(np.concatenate([targets for _, targets in chunks]), y)


@pytest.mark.parametrize(("step_size", "n_steps"), [(0.0, 1), (-1.0, 1), (float("nan"), 1), (0.1, -1)])
def test_settings_are_checked(step_size, n_steps):
    with pytest.raises(ValueError, match=r"step_size must be positive|n_steps must not be negative"):
        StochasticGradient(step_size, n_steps)


def test_without_numba_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    gradient._compiled.cache_clear()
    state, x, y = problem(3, 1, 1)
    with pytest.raises(ImportError, match=r"fourierwalk\[paper\]"):
        advance(state, x, y, 0.1)
    assert advance_plain(state, x, y, 0.1).step == 1


def test_importing_the_module_does_not_import_numba():
    code = "import sys, fourierwalk.paper.gradient; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("kernel", KERNELS)
def test_updates_per_second(kernel):
    assert gradient.updates_per_second(8, 2, seconds=0.001, kernel=kernel) > 0
