"""The fingerprint tells fits apart."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from fourierwalk.checkpoints import fingerprint as module
from fourierwalk.checkpoints.fingerprint import fingerprint
from fourierwalk.training.data import Data


def data(**changed):
    rng = np.random.default_rng(0)
    return Data(rng.normal(size=(20, 3)), rng.normal(size=(20, 1)))._replace(**changed)


def of(data, parameters=None, seed=0):
    return fingerprint(data, parameters or {"n_steps": 3}, None if seed is None else np.random.default_rng(seed), None)


def test_the_same_fit_has_the_same_fingerprint():
    assert of(data()).digest == of(data()).digest
    assert of(data()).difference(of(data())) is None


@given(row=st.integers(0, 19), column=st.integers(0, 2))
def test_any_changed_value_is_other_data(row, column):
    x = data().x.copy()
    x[row, column] = np.nextafter(x[row, column], np.inf)
    assert of(data()).difference(of(data(x=x))) == "other data"


@pytest.mark.parametrize(
    "changed",
    [
        {"weight": np.ones(20)},
        {"groups": np.array(["a", "b"] * 10, dtype=object)},
        {"y": data().y.astype(np.float32)},
        {"x_val": np.ones((2, 3)), "y_val": np.ones((2, 1))},
        {"x": scipy.sparse.csr_array(data().x)},
        {"x": data().x[:, ::-1]},
        {"is_fixed": np.zeros(3, dtype=bool)},
    ],
)
def test_other_weights_groups_types_or_rows_are_other_data(changed):
    assert of(data()).difference(of(data(**changed))) == "other data"


def test_other_parameters_are_named():
    assert of(data()).difference(of(data(), {"n_steps": 4})) == "another n_steps"
    assert of(data(), {"a": 1, "initial": np.zeros(2)}).difference(of(data(), {"a": 2, "initial": np.ones(2)})) == (
        "another a and initial"
    )


def test_another_seed_or_another_state_of_a_generator_is_another_fit():
    assert of(data()).difference(of(data(), seed=1)) == "another random_state"
    assert of(data(), seed=None).difference(of(data())) == "another random_state"
    used, spawned = np.random.default_rng(0), np.random.default_rng(0)
    used.random()
    spawned.spawn(1)
    for rng in (used, spawned):
        assert of(data()).difference(fingerprint(data(), {"n_steps": 3}, rng, None)) == "another random_state"


def test_arrays_are_read_in_parts(tmp_path):
    x = np.arange(module.BYTES_AT_ONCE // 4, dtype=float).reshape(-1, 2)  # two parts
    whole = of(data(x=x))
    np.save(tmp_path / "x.npy", x)
    assert of(data(x=np.load(tmp_path / "x.npy", mmap_mode="r"))) == whole
    assert b"".join(module._array_bytes(x)).endswith(x.tobytes())
    x[-1, -1] += 1
    assert of(data(x=x)).difference(whole) is not None


def test_the_arrays_library_does_not_matter_but_the_values_do():
    torch = pytest.importorskip("torch")
    assert of(data(x=torch.asarray(data().x))) == of(data())
