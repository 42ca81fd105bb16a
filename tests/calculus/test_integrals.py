import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tables import FEATURES, Plain

from fourierwalk.calculus import Gaussian, Uniform, integrals
from fourierwalk.data.affine import Affine
from fourierwalk.data.scaling import Scaling
from fourierwalk.data.smooth_clip import SmoothClip
from fourierwalk.model import FourierModel

CENTER, SCALE = np.array([3.0, -20.0, 0.5]), np.array([2.0, 0.1, 1.0])
LOWER, UPPER = CENTER - np.array([3.0, 0.2, 0.5]), CENTER + np.array([1.0, 0.1, 2.0])
INPUTS = {"uniform": Uniform(LOWER, UPPER), "gaussian": Gaussian(CENTER + 0.3 * SCALE, [1.0, 0.05, 0.7])}
every_distribution = pytest.mark.parametrize("inputs", INPUTS.values(), ids=INPUTS)


def model_of(backend, n_outputs=2, name="cos-sin", clips=False):
    kind, rng = FEATURES[name], np.random.default_rng(1)
    drawn = rng.standard_normal((5 * kind.features.n_unknowns, n_outputs))
    center, scale = backend.asarray(CENTER), backend.asarray(SCALE)
    inputs = SmoothClip(center, scale, backend.asarray(np.ones(3, dtype=bool))) if clips else Affine(center, scale)
    targets = Affine(backend.asarray(np.zeros(n_outputs)), backend.asarray(np.ones(n_outputs)))
    scaling = Scaling(inputs, targets, "robust" if clips else "columns")
    omega, beta = 0.5 * kind.frequencies(5, 3), kind.amplitudes(drawn)
    offset = backend.asarray(np.arange(1.0, 1.0 + n_outputs))
    return FourierModel(backend.asarray(omega), backend.asarray(beta), offset, kind.features, scaling)


def quadrature(inputs, n=24):
    """Nodes of each input and weights that sum to one, of Gauss's rules."""
    if isinstance(inputs, Uniform):
        z, weight = np.polynomial.legendre.leggauss(n)
        return (LOWER + UPPER) / 2 + z[:, None] * (UPPER - LOWER) / 2, weight / 2
    z, weight = np.polynomial.hermite_e.hermegauss(n)
    return inputs.mean + z[:, None] * np.array(inputs.std), weight / np.sum(weight)


def grid_values(inputs, model):
    """Values on a grid of nodes, (n, n, n, q), and the weights of one axis."""
    nodes, weight = quadrature(inputs)
    grid = np.stack(np.meshgrid(*nodes.T, indexing="ij"), axis=-1)
    return model(grid.reshape(-1, 3)).reshape(*grid.shape[:3], -1), weight


def variances(inputs, model):
    """Mean, variance, and variances of the means given one input and given all others, by quadrature."""
    values, weight = grid_values(inputs, model)
    means = np.einsum("abcq,a,b,c->q", values, weight, weight, weight)
    variance = np.einsum("abcq,a,b,c->q", (values - means) ** 2, weight, weight, weight)
    given, letters = [], "abc"
    for letter in letters:
        rest = letters.replace(letter, "")
        alone = np.einsum(f"abcq,{rest[0]},{rest[1]}->{letter}q", values, weight, weight)
        first = np.einsum("aq,a->q", (alone - means) ** 2, weight)
        others = np.einsum(f"abcq,{letter}->{rest}q", values, weight)
        total = variance - np.einsum("abq,a,b->q", (others - means) ** 2, weight, weight)
        given.append((first, total))
    return means, variance, *(np.stack(part) for part in zip(*given, strict=True))


@every_distribution
def test_moments(inputs, anywhere):
    mean, variance = (anywhere.host(part) for part in model_of(anywhere).moments(inputs))
    expected = variances(inputs, model_of(Plain))
    assert_allclose(mean, expected[0], rtol=1e-9)
    assert_allclose(variance, expected[1], rtol=1e-9)


@every_distribution
def test_pairs_are_taken_for_some_frequencies_at_a_time(inputs, xp):
    waves = integrals.Waves.of(model_of(xp), inputs, "sobol")
    ((whole, *factors),) = waves.parts()
    n, d = waves.frequencies.shape
    some = list(waves.parts(2 * n * d))
    assert (whole.start, whole.stop) == (0, n)
    assert [part.start for part, *_ in some] == list(range(0, n, 2))
    for i, expected in enumerate(factors, 1):
        assert_array_equal(np.concatenate([xp.host(part[i]) for part in some]), xp.host(expected))


@every_distribution
def test_sobol(inputs, anywhere):
    first, total = (anywhere.host(part) for part in model_of(anywhere).sobol(inputs))
    _, variance, firsts, totals = variances(inputs, model_of(Plain))
    assert first.shape == total.shape == (3, 2)
    assert_allclose(first, firsts / variance, rtol=1e-8, atol=1e-10)
    assert_allclose(total, totals / variance, rtol=1e-8, atol=1e-10)


def test_integral(anywhere):
    found = anywhere.host(model_of(anywhere).integral(LOWER, UPPER))
    mean = variances(INPUTS["uniform"], model_of(Plain))[0]
    assert_allclose(found, mean * np.prod(UPPER - LOWER), rtol=1e-9)


@every_distribution
def test_every_library_says_what_numpy_says(inputs, foreign):
    model, plain = model_of(foreign), model_of(Plain)
    found = [model.integral(LOWER, UPPER), *model.moments(inputs), *model.sobol(inputs)]
    expected = [plain.integral(LOWER, UPPER), *plain.moments(inputs), *plain.sobol(inputs)]
    for one, other in zip(found, expected, strict=True):
        assert_allclose(foreign.host(one), other, rtol=1e-9, atol=1e-12)


def test_one_output_has_no_axis_of_outputs():
    model = model_of(Plain, n_outputs=1)
    assert np.ndim(model.integral(LOWER, UPPER)) == 0
    assert np.ndim(model.moments(INPUTS["uniform"]).variance) == 0
    assert model.sobol(INPUTS["gaussian"]).total.shape == (3,)


def test_an_additive_function_has_no_interactions():
    """f = 2 cos x₀ + sin x₁: first-order and total indices are equal, and sum to one."""
    omega, beta = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.array([[2.0], [-1.0j]])
    nothing = Affine(np.zeros(3), np.ones(3))
    scaling = Scaling(nothing, Affine(np.zeros(1), np.ones(1)), "none")
    model = FourierModel(omega, beta, np.zeros(1), FEATURES["cos-sin"].features, scaling)
    first, total = model.sobol(Uniform(0, 2 * np.pi))
    assert_allclose(first, [0.8, 0.2, 0.0], atol=1e-12)
    assert_allclose(total, [0.8, 0.2, 0.0], atol=1e-12)


def test_a_constant_has_indices_of_zero():
    scaling = Scaling(Affine(np.zeros(1), np.ones(1)), Affine(np.zeros(1), np.ones(1)), "none")
    model = FourierModel(np.zeros((1, 1)), np.ones((1, 1)) + 0j, np.zeros(1), FEATURES["cos-sin"].features, scaling)
    assert_allclose(model.sobol(Gaussian(0, 1)).total, [0.0])


@pytest.mark.parametrize(
    ("what", "arguments"), [("integral", (LOWER, UPPER)), ("moments", (Gaussian(0, 1),)), ("sobol", (Gaussian(0, 1),))]
)
def test_closed_forms_need_waves_of_the_inputs(what, arguments):
    with pytest.raises(ValueError, match=rf"^{what} needs inputs that are scaled without a clip, .*'robust'"):
        getattr(model_of(Plain, clips=True), what)(*arguments)
    with pytest.raises(ValueError, match=rf"^{what} needs Fourier features .* got 'cosines'\.$"):
        getattr(model_of(Plain, name="user's own"), what)(*arguments)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (
            Uniform([0, 1], 2),
            r"^lower must be a number or have one entry for each of 3 inputs, got the shape \(2,\)\.$",
        ),
        (Uniform(0, [1, 0, 1]), r"^upper must be above lower, got 0 and 0 for input 1\.$"),
        (Uniform(-np.inf, 1), r"^lower must be finite"),
        (Gaussian(0, -1), r"^std must not be negative, got -1\.$"),
    ],
)
def test_wrong_distributions(inputs, message):
    with pytest.raises(ValueError, match=message):
        model_of(Plain).moments(inputs)


def test_inputs_must_be_a_distribution():
    with pytest.raises(TypeError, match=r"^inputs must be a Uniform or a Gaussian distribution, got int.$"):
        model_of(Plain).moments(3)
