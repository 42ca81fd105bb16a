"""States and events as plain values and back."""

import numpy as np
import pytest

from fourierwalk.checkpoints.values import packed, packed_events, unpacked, unpacked_events
from fourierwalk.files import container
from fourierwalk.sampling.descent import Curvature
from fourierwalk.sampling.proposals import Covariance, Pace
from fourierwalk.sampling.sampler import Info, State
from fourierwalk.solving.solution import SolveInfo
from fourierwalk.training.growing import Grown
from fourierwalk.training.history import Decision
from fourierwalk.training.selection import Candidate, Look


def through_a_file(tree, folder):
    return container.read(container.write(folder / "a.fw", "Checkpoint", {"value": tree})).tree["value"]


RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(3, 2)), RNG.normal(size=(3, 1)) + 1j
VALUES = [
    State(3, A, B, None),
    State(3, A, B, Covariance(2, A[0], A.T @ A, A.T @ A)),
    State(3, A, B, Pace(2, 0.1, Pace(1, 2.0, A))),
    State(3, A, B, Curvature(0.5, A, (A, 2 * A), (A + 1, A), True)),
    Grown(Candidate(Look(3, np.inf, np.nan, "descent"), A, B), True),
    [np.random.PCG64(1).state, np.random.MT19937(1).state, np.random.Philox(1).state, {"grid": None}],
]


def assert_same(a, b):
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.tobytes(), a.flags.f_contiguous) == (b.dtype, b.tobytes(), b.flags.f_contiguous)
    elif isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            assert_same(a[key], b[key])
    elif isinstance(a, tuple | list):
        for left, right in zip(a, b, strict=True):
            assert_same(left, right)
    else:
        assert a == b or a != a


@pytest.mark.parametrize("value", VALUES)
def test_a_state_comes_back(value, tmp_path):
    assert_same(unpacked(through_a_file(packed(value), tmp_path), A), value)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "uint8", "bool", "uint64", "int32"])
def test_types_and_layouts_come_back(dtype, tmp_path):
    for array in (A.astype(dtype) if dtype != "complex64" else B.astype(dtype), np.asfortranarray(A > 0).astype(dtype)):
        assert_same(unpacked(through_a_file(packed(array), tmp_path), A), array)


def test_tensors_come_back(tmp_path):
    torch = pytest.importorskip("torch")
    tensor = torch.asarray(A).T
    back = unpacked(through_a_file(packed(tensor), tmp_path), tensor)
    assert isinstance(back, torch.Tensor)
    assert back.stride() == tensor.stride()
    assert torch.equal(back, tensor)


@pytest.mark.parametrize("value", [object(), {1, 2}, SolveInfo("direct", False)])
def test_a_state_of_another_kind_is_refused(value):
    with pytest.raises(TypeError, match="checkpoint needs states of the library's own samplers, got"):
        packed(State(1, A, B, value))


def test_events_come_back(tmp_path):
    solve = SolveInfo("direct", False, "single", True)
    events = [
        Look(0, 0.5, 0.1, "isotropic"),
        Info(1, 0.25, 0.1, np.float64(1 / 3), solve, "walk"),
        Info(2, 1.0, 1e-300, np.inf, None, "descent"),
        Decision("a decision", 3),
        Info(3, 1.0, 0.1, 2.0, SolveInfo("dual", True), "descent"),
        Look(3, 0.4, 1e-8, "descent"),
    ]
    assert unpacked_events(through_a_file(packed_events(events), tmp_path)) == events
    assert unpacked_events(through_a_file(packed_events([]), tmp_path)) == []
