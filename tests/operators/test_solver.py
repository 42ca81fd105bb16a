import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from fourierwalk import AdaptiveFourierSolver
from fourierwalk.operators import Condition, Domain, at, d, divergence, identity, laplacian
from fourierwalk.operators import solver as module
from fourierwalk.operators.posed import Posed

SQUARE = Domain([0, 0], [1, 1])
NEW = Domain([0, 0], [1, 1], seed=7).inside(500)
PI = np.pi


def product(x):
    return np.sin(PI * x[:, 0]) * np.cos(2 * PI * x[:, 1])


def helmholtz():
    equation = Condition(
        laplacian(0, 1) + identity(), SQUARE.inside(800), lambda x: (1 - 5 * PI**2) * product(x), "Δu + u"
    )
    return [equation, Condition(identity(), SQUARE.boundary(200), product, "boundary")]


def wave():
    start = SQUARE.face(1, "lower", 100)
    return [
        Condition(d(1, 1) - 4 * d(0, 0), SQUARE.inside(800)),
        Condition(identity(), SQUARE.boundary(200, [0])),
        Condition(identity(), start, product),
        Condition(d(1), start),
    ]


def variable():
    """A conductivity that depends on x: −(1 + x)u″ = …, with u = x² cos y."""
    operator = -1 * ((lambda x: 1 + x[:, 0]) * d(0, 0)) + d(1)
    force = lambda x: -(1 + x[:, 0]) * 2 * np.cos(x[:, 1]) - x[:, 0] ** 2 * np.sin(x[:, 1])  # noqa: E731
    value = lambda x: x[:, 0] ** 2 * np.cos(x[:, 1])  # noqa: E731
    return [
        Condition(operator, SQUARE.inside(800), force),
        Condition(identity(), SQUARE.boundary(200, [0]), value),
        Condition(identity(), SQUARE.face(1, "lower", 100), value),
    ]


SOLUTIONS = {
    "helmholtz": (helmholtz, product, 1e-6),
    "wave": (wave, lambda x: np.sin(PI * x[:, 0]) * np.cos(2 * PI * x[:, 1]), 1e-5),
    "variable": (variable, lambda x: x[:, 0] ** 2 * np.cos(x[:, 1]), 1e-5),
}


def wave_without(i):
    return [one for j, one in enumerate(wave()) if j != i]


@pytest.mark.parametrize("name", SOLUTIONS)
def test_equations(name, anywhere):
    conditions, solution, most = SOLUTIONS[name]
    points = [Condition(one.operator, anywhere.asarray(one.points), one.values) for one in conditions()]
    solver = AdaptiveFourierSolver(random_state=0).fit(points)
    assert anywhere.owns(solver.model_.frequencies)
    assert anywhere.owns(solver.model_.amplitudes)
    error = np.sqrt(np.mean((anywhere.host(solver.predict(anywhere.asarray(NEW))) - solution(NEW)) ** 2))
    assert error < most
    assert error <= solver.error_estimate_ < 1e4 * most
    assert all(residual < 1e-2 for residual in solver.residuals_.values())
    assert len(solver.residuals_) == len(conditions())


def test_other_libraries(foreign):
    conditions = [Condition(one.operator, foreign.asarray(one.points), one.values) for one in helmholtz()]
    solver = AdaptiveFourierSolver(random_state=0).fit(conditions)
    plain = AdaptiveFourierSolver(random_state=0).fit(helmholtz())
    assert solver.n_frequencies_ == plain.n_frequencies_
    assert_allclose(foreign.host(solver.predict(foreign.asarray(NEW))), plain.predict(NEW), atol=1e-9)
    with pytest.raises(ValueError, match=r"^x must be like the points of fit, .*, got numpy on cpu\.$"):
        solver.predict(NEW)


def test_numpy_goes_to_the_device_and_comes_back(monkeypatch):
    """What `device="cuda"` does, with torch's CPU in its place."""
    torch, seen = pytest.importorskip("torch"), []

    def there(values, device):
        seen.append(device)
        return torch.as_tensor(values)

    monkeypatch.setattr(module, "on_device", there)
    solver = AdaptiveFourierSolver(device="cuda", random_state=0).fit(helmholtz())
    found = solver.predict(NEW)
    assert set(seen) == {"cuda"}
    assert type(found) is type(solver.model_.frequencies) is type(solver.model_.amplitudes) is np.ndarray
    assert_allclose(found, product(NEW), atol=1e-6)
    assert_allclose(solver.model_.laplacian(NEW), -5 * PI**2 * product(NEW), atol=1e-4)


@pytest.mark.cuda
@pytest.mark.parametrize("name", SOLUTIONS)
def test_numpy_goes_to_a_gpu_and_comes_back(name):
    if not pytest.importorskip("torch").cuda.is_available():
        pytest.skip("needs a GPU")
    conditions, solution, most = SOLUTIONS[name]
    solver = AdaptiveFourierSolver(device="cuda", random_state=0).fit(conditions())
    found = solver.predict(NEW)
    assert type(found) is type(solver.model_.frequencies) is np.ndarray
    assert_allclose(found, solution(NEW), atol=most)


def test_the_same_seed_gives_the_same_solution():
    first, again = (AdaptiveFourierSolver(32, n_steps=3, random_state=3).fit(helmholtz()) for _ in range(2))
    assert_allclose(first.predict(NEW), again.predict(NEW), rtol=0, atol=0)


def test_a_field_without_divergence(xp):
    """A rotation, from few values of it: the divergence is zero at new points."""
    few, new = SQUARE.inside(60), xp.asarray(NEW)
    conditions = [
        Condition(divergence(2), xp.asarray(SQUARE.inside(600)), name="divergence"),
        Condition(identity(), few, lambda x: -x[:, 1] + 0.5),
        Condition(identity().of(1), few, lambda x: x[:, 0] - 0.5),
    ]
    solver = AdaptiveFourierSolver(64, random_state=0).fit(conditions)
    values = xp.host(solver.predict(new))
    assert values.shape == (500, 2)
    assert_allclose(values, np.stack([0.5 - NEW[:, 1], NEW[:, 0] - 0.5], axis=1), atol=1e-2)
    assert_allclose(xp.host(divergence(2)(solver.model_, new)), 0.0, atol=1e-2)


def test_derivatives_help(xp):
    """A wave at few points, with and without its derivatives."""
    rng = np.random.default_rng(0)
    x, new = rng.uniform(-1, 1, (40, 2)), rng.uniform(-0.9, 0.9, (500, 2))
    f = lambda x: np.exp(-4 * x[:, 0] ** 2) * np.sin(3 * x[:, 1])  # noqa: E731
    slope = np.stack([-8 * x[:, 0] * f(x), 3 * np.exp(-4 * x[:, 0] ** 2) * np.cos(3 * x[:, 1])], axis=1)
    values = Condition(identity(), xp.asarray(x), f)
    errors = []
    for conditions in ([values], [values, *(Condition(d(j), x, slope[:, j]) for j in range(2))]):
        solver = AdaptiveFourierSolver(48, random_state=0).fit(conditions)
        errors.append(np.sqrt(np.mean((xp.host(solver.predict(xp.asarray(new))) - f(new)) ** 2)))
    assert errors[1] < 0.5 * errors[0]


def test_time_is_kept():
    quick = AdaptiveFourierSolver(max_seconds=1e-9, random_state=0).fit(wave())
    assert quick.n_frequencies_ == 64


def test_a_picture():
    pytest.importorskip("matplotlib")
    solver = AdaptiveFourierSolver(16, n_steps=0, random_state=0).fit(helmholtz())
    assert len(solver.plot().axes) == 3  # solution, its colours, residuals
    line = Domain([0], [1])
    conditions = [Condition(d(0), line.inside(50), 1.0), Condition(identity(), line.face(0, "lower", 1))]
    assert len(AdaptiveFourierSolver(16, n_steps=0, random_state=0).fit(conditions).plot().axes) == 2


def test_it_can_be_cloned():
    assert clone(AdaptiveFourierSolver(7, n_steps=3)).get_params()["n_frequencies"] == 7


@pytest.mark.parametrize(
    ("conditions", "missing"),
    [
        (helmholtz()[:1], r"values on the whole boundary \(boundary values\)"),
        (wave_without(1), r"values at both ends of input 0 \(boundary values\)"),
        (wave_without(2), r"values where input 1 starts \(initial values\)"),
        (wave_without(3), r"derivatives d\(1\) where input 1 starts \(initial velocities\)"),
        ([Condition(d(j), SQUARE.inside(200)) for j in range(2)], r"values of the function, at one point at least"),
        ([Condition(identity() - at(1.0, 0.0), SQUARE.face(0, "lower", 200))], r"an equation, or values, inside"),
    ],
)
def test_what_leaves_the_solution_open_is_an_error(conditions, missing):
    with pytest.raises(
        ValueError, match=rf"^conditions must determine the solution, .*what is missing are {missing}\.$"
    ):
        AdaptiveFourierSolver().fit(conditions)


def test_an_input_without_a_start_is_found_in_many_inputs():
    box = Domain([0] * 6, [1] * 6)
    conditions = [
        Condition(d(5) - laplacian(*range(5)), box.inside(500)),
        Condition(identity(), box.boundary(300, range(5))),
    ]
    with pytest.raises(ValueError, match=r"values where input 5 starts or ends \(initial or boundary values\)\.$"):
        AdaptiveFourierSolver().fit(conditions)


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        (2, r"values where input 3 starts \(initial values\)"),
        (3, r"derivatives d\(3\) where input 3 starts \(initial velocities\)"),
    ],
)
def test_what_a_wave_equation_lacks_is_found_in_many_inputs(missing, words):
    box = Domain([0] * 4, [1] * 4)
    start = box.face(3, "lower", 300)
    conditions = [
        Condition(d(3, 3) - laplacian(*range(3)), box.inside(1000)),
        Condition(identity(), box.boundary(1000, range(3))),
        Condition(identity(), start),
        Condition(d(3), start),
    ]
    module.require_determined(Posed.of(conditions), module.FIRST_SPREAD)
    del conditions[missing]
    with pytest.raises(ValueError, match=rf"^conditions must determine the solution, .*what is missing are {words}\.$"):
        AdaptiveFourierSolver().fit(conditions)


@pytest.mark.parametrize(
    ("settings", "conditions", "error", "message"),
    [
        ({"n_frequencies": 0}, helmholtz(), ValueError, "^n_frequencies must be a whole number of at least 1"),
        ({"validation_fraction": 1.0}, helmholtz(), ValueError, "^validation_fraction must be"),
        ({"device": "tpu"}, helmholtz(), ValueError, "^device must be"),
        ({}, [], ValueError, r"^fit\(conditions\) needs a list of one or more conditions, got \[\]\.$"),
        ({}, [d(0)], TypeError, r"^fit\(conditions\) needs objects of the class Condition, got Operator\.$"),
        (
            {},
            [Condition(d(0), np.zeros((2, 1))), Condition(d(0), np.zeros((2, 3)))],
            ValueError,
            r"^conditions must have points of the same number of inputs, got \[1, 3\]\.$",
        ),
    ],
)
def test_errors(settings, conditions, error, message):
    with pytest.raises(error, match=message):
        AdaptiveFourierSolver(**settings).fit(conditions)
