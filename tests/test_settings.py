"""Parameters as plain data and back."""

import numpy as np
import pytest

from fourierwalk import Solver, settings
from fourierwalk.data.features import Activation, ComplexExponentials, sigmoid
from fourierwalk.sampling.descent import Descent
from fourierwalk.sampling.proposals import AdaptiveWalk, AnnealedWalk, ScaledWalk, ShapedWalk
from fourierwalk.sampling.resampling import Resampling
from fourierwalk.sampling.sampler import Metropolis
from fourierwalk.training.automatic import Automatic
from fourierwalk.training.policy import Policy


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_steps", None),
        ("n_steps", np.int64(3)),
        ("solver", Solver("dual", batch_size=5)),
        ("sampler", Metropolis(AdaptiveWalk(0.1, 5), 4.0)),
        ("sampler", Resampling(AnnealedWalk(ScaledWalk(ShapedWalk(0.3)), 0.1, 10))),
        ("sampler", Descent()),
        ("sampler", Automatic(Policy(members=3))),
        ("features", ComplexExponentials()),
        ("features", sigmoid()),
        ("class_weight", {1: 0.5, "b": 2}),
        ("categorical_features", ["a", 3]),
    ],
)
def test_a_parameter_comes_back(name, value):
    assert settings.unpacked(settings.packed(name, value)) == value


def test_an_array_comes_back():
    np.testing.assert_array_equal(settings.unpacked(settings.packed("initial", np.eye(2))), np.eye(2))


class Own(Descent):
    """A sampler of the user's own, with the name of none of ours."""


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("features", Activation(np.tanh), "features must be one of .* because a file holds no code, got Activation"),
        ("features", Activation(np.tanh, name="sigmoid"), "features must be one of"),
        ("sampler", Own(), "sampler must be plain data or an object of fourierwalk .* got Own"),
        ("random_state", np.random.RandomState(0), "random_state must be plain data"),
        ("initial", np.array([object()]), "initial must be plain data"),
        ("sampler", Metropolis(Own(), 1.0), "proposal must be plain data"),
    ],
)
def test_what_is_no_data_is_refused_in_a_sentence(name, value, words):
    with pytest.raises(ValueError, match=words) as caught:
        settings.packed(name, value)
    assert str(caught.value).endswith("keep it.") or str(caught.value).endswith("keep such a model.")


def test_a_file_can_name_nothing_else():
    with pytest.raises(ValueError, match=r"must be one of .* got 'system'"):
        settings.unpacked({"is": "system", "fields": {"command": "x"}})
