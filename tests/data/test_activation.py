"""Activations of the user's own that are no activations get a sentence."""

import pickle

import numpy as np
import pytest
from tables import problem, tanh

from fourierwalk import AdaptiveFourierRegressor
from fourierwalk.data.activation import Activation
from fourierwalk.data.rows import Rows
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.solver import Solver

BAD = {
    "shape": (
        lambda phases: phases[:, :1],
        ValueError,
        r"the phases' shape \(40, 3\), got the shape \(40, 1\)",
    ),
    "a number": (lambda phases: 1.0, TypeError, r"an array of real numbers .*, got float\.$"),
    "nothing": (lambda phases: None, TypeError, r"an array of real numbers .*, got NoneType\.$"),
    "Booleans": (lambda phases: phases > 0, TypeError, r"got .*bool numbers: convert them to the phases' type"),
    "complex": (lambda phases: 1j * phases, TypeError, r"got .*complex128 numbers"),
    "NaN": (lambda phases: phases * float("nan"), ValueError, "must be finite numbers, got NaN or infinity"),
    "infinite": (lambda phases: phases + float("inf"), ValueError, "must be finite numbers, got NaN or infinity"),
}
every_bad_one = pytest.mark.parametrize(("function", "error", "sentence"), BAD.values(), ids=BAD)


@every_bad_one
@pytest.mark.parametrize("path", ["direct", "dual"])
def test_a_bad_activation_gets_a_sentence(function, error, sentence, path, xp):
    x, y, _ = problem(40)
    minimize = LeastSquares(Rows(xp.asarray(x), xp.asarray(y)), Activation(function), 0.1, Solver(path))
    for ask in (minimize, minimize.eigensystem):
        with pytest.raises(error, match=sentence), np.errstate(invalid="ignore"):
            ask(xp.asarray(np.ones((3, 3))))


@every_bad_one
@pytest.mark.parametrize("sampler", ["auto", "metropolis", "descent"])
def test_a_bad_activation_gets_a_sentence_in_a_fit(function, error, sentence, sampler):
    x, y, _ = problem(200)
    model = AdaptiveFourierRegressor(3, sampler=sampler, n_steps=3, features=Activation(function), random_state=0)
    with pytest.raises(error, match=sentence.replace("(40, 3)", "").split(r"\(")[0]), np.errstate(invalid="ignore"):
        model.fit(x, y[:, 0])


def test_a_bad_derivative_gets_a_sentence():
    x, y, _ = problem(40)
    features = Activation(np.tanh, derivative=lambda phases: phases > 0)
    with pytest.raises(TypeError, match=r"^the derivative of the activation .* must return .*got bool numbers"):
        LeastSquares(Rows(x, y), features, 0.1).gradient(np.ones((3, 3)), np.ones((3, 2)))


@pytest.mark.parametrize("arguments", [("tanh",), (np.tanh, True, "mine", 3)], ids=["function", "derivative"])
def test_what_cannot_be_called_is_no_activation(arguments):
    with pytest.raises(TypeError, match=r"Activation\((function|derivative)=…\) must be a callable, got (str|int)\.$"):
        Activation(*arguments)


def test_an_activation_at_the_top_of_a_module_pickles():
    again = pickle.loads(pickle.dumps(Activation(tanh)))
    assert again == Activation(tanh)
