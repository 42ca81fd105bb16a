import contextlib

import array_api_strict
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from fourierwalk import _arrays as arrays
from fourierwalk import products


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def hermitian(n, seed=0):
    factor = drawn(n, n, seed=seed) + 1j * drawn(n, n, seed=seed + 1)
    return factor @ factor.conj().T + np.eye(n)


def test_foreign_is_every_array_but_those_that_scikit_learn_keeps(xp):
    assert arrays.is_foreign(xp.asarray([1.0])) is (xp.name != "numpy")
    assert not arrays.is_foreign([1.0])
    assert not arrays.is_foreign(None)
    assert not arrays.is_foreign(scipy.sparse.csr_array(np.eye(2)))


def test_like_follows_the_reference(anywhere):
    values = drawn(3, 2)
    moved = arrays.like(values, anywhere.asarray([0.0]))
    assert_array_equal(anywhere.host(moved), values)


def test_to_host_gives_numpy(xp):
    values = drawn(3, 2)
    host = arrays.to_host(xp.asarray(values))
    assert type(host) is np.ndarray
    assert_array_equal(host, values)


def test_to_host_detaches_tensors():
    torch = pytest.importorskip("torch")
    assert_array_equal(arrays.to_host(torch.ones(2, requires_grad=True)), [1.0, 1.0])


def test_only_a_gpu_is_an_accelerator(anywhere):
    found = arrays.accelerator_bytes(anywhere.asarray([1.0]))
    assert found > 1e9 if anywhere.on_gpu else found is None
    assert arrays.accelerator_bytes(scipy.sparse.csr_array(np.eye(2))) is None


def test_float64_copies_only_where_it_must(xp):
    double, single = xp.asarray(drawn(3)), xp.asarray(drawn(3).astype(np.float32))
    assert arrays.float64(double) is double
    assert xp.dtype(arrays.float64(single)) == "float64"
    assert xp.owns(arrays.float64(single))


def test_complex_parts(anywhere):
    real, imaginary = drawn(4, 2), drawn(4, 2, seed=1)
    values = arrays.complex_of(anywhere.asarray(real), anywhere.asarray(imaginary))
    assert anywhere.dtype(values) == "complex128"
    assert_array_equal(anywhere.host(values), real + 1j * imaginary)
    assert_array_equal(anywhere.host(arrays.real_part(values)), real)
    assert_array_equal(anywhere.host(arrays.real_part(anywhere.asarray(real))), real)
    assert_allclose(anywhere.host(arrays.squared_modulus(values)), real**2 + imaginary**2, rtol=1e-15)
    assert_array_equal(anywhere.host(arrays.squared_modulus(anywhere.asarray(real))), real**2)
    assert_array_equal(anywhere.host(arrays.adjoint(values)), (real + 1j * imaginary).conj().T)
    assert_array_equal(anywhere.host(arrays.adjoint(anywhere.asarray(real))), real.T)


def cos_sin(phases, precision="double"):
    """Of phases that are already there."""
    return arrays.cos_sin(lambda part: phases[part, :], phases.shape, precision)


def test_cos_sin(anywhere):
    phases = 50 * drawn(40, 7)
    columns = cos_sin(anywhere.asarray(phases))
    assert_allclose(anywhere.host(columns), np.hstack([np.cos(phases), np.sin(phases)]), rtol=0, atol=1e-13)


@given(st.floats(-1e6, 1e6))
def test_the_half_angle_is_exact_everywhere(phase):
    cosine, sine = cos_sin(np.array([[phase]]))[0]
    assert abs(cosine - np.cos(phase)) < 1e-15
    assert abs(sine - np.sin(phase)) < 1e-15


@pytest.mark.parametrize("turns", [0, 1, -1, 7, 1001])
def test_the_half_angle_survives_its_pole(turns):
    columns = cos_sin(np.array([[np.pi * turns, np.nextafter(np.pi * turns, 9e9)]]))
    assert_allclose(columns[0, :2], np.cos(np.pi * turns), atol=1e-15)
    assert_allclose(columns[0, 2:], 0, atol=2e-12)


def test_strict_arrays_on_another_device_cannot_be_read():
    """What makes the stand-in for a GPU worth its name."""
    there = array_api_strict.asarray([1.0], device=array_api_strict.Device("device1"))
    with pytest.raises(RuntimeError, match="device1"):
        np.asarray(there)


def test_threads_and_slices_do_not_change_columns(monkeypatch):
    phases = np.random.default_rng(0).standard_normal((3000, 100)) * 50
    expected = np.hstack((np.cos(phases), np.sin(phases)))
    for n_threads in (1, 3):
        monkeypatch.setattr(arrays, "blas_threads", lambda n=n_threads: n)
        assert_allclose(cos_sin(phases), expected, atol=1e-13)


def test_interleaved_columns_are_complex_exponentials():
    turns = drawn(5000, 7)
    columns = arrays.cos_sin(lambda part: turns[part], turns.shape, "single", interleaved=True)
    assert columns.dtype == np.complex64
    assert_allclose(columns, np.exp(2j * np.pi * turns), atol=1e-6)


def test_single_columns_of_turns_in_double(anywhere):
    turns = drawn(50, 7) * 1e5
    columns = cos_sin(anywhere.asarray(turns), "single")
    assert anywhere.dtype(columns) == "float32"
    phases = 2 * np.pi * (turns - np.rint(turns))
    assert_allclose(anywhere.host(columns), np.hstack((np.cos(phases), np.sin(phases))), atol=1e-6)


class Library:
    """What threadpoolctl says of a BLAS."""

    def __init__(self, filepath, num_threads):
        self.filepath, self.num_threads = filepath, num_threads

    def set_num_threads(self, n_threads):
        self.num_threads = n_threads


NUMPY, SCIPY = "site-packages/numpy.libs/libopenblas.so", "site-packages/scipy.libs/libopenblas.so"


@pytest.mark.parametrize(
    ("paths", "inside"),
    [((NUMPY, SCIPY), [1, 4]), ((SCIPY, NUMPY), [4, 1]), ((NUMPY,), [4]), (("lib/libmkl_rt.so",), [4]), ((), [])],
    ids=["two", "two the other way round", "NumPy's alone", "shared", "none"],
)
def test_one_pool_limits_numpy_where_scipy_has_another(paths, inside, monkeypatch):
    libraries = [Library(path, 4) for path in paths]
    monkeypatch.setattr(arrays, "_blas", lambda: type("Controller", (), {"lib_controllers": libraries}))
    with arrays.one_pool():
        assert [library.num_threads for library in libraries] == inside
        with arrays.one_pool():
            assert [library.num_threads for library in libraries] == inside
        assert [library.num_threads for library in libraries] == inside
    assert [library.num_threads for library in libraries] == [4] * len(paths)


def fail_in_one_pool(libraries):
    """The threads of some libraries inside, before an exception."""
    inside = []
    with contextlib.suppress(KeyError), arrays.one_pool():
        inside += [library.num_threads for library in libraries]
        raise KeyError
    return inside


def test_one_pool_gives_the_threads_back_after_an_exception(monkeypatch):
    libraries = [Library(NUMPY, 4), Library(SCIPY, 4)]
    monkeypatch.setattr(arrays, "_blas", lambda: type("Controller", (), {"lib_controllers": libraries}))
    assert fail_in_one_pool(libraries) == [1, 4]
    assert [library.num_threads for library in libraries] == [4, 4]


def test_one_pool_finds_the_libraries_that_are_loaded():
    libraries = sorted(arrays._blas().lib_controllers, key=lambda library: "numpy" not in library.filepath)
    if len(libraries) < 2:
        pytest.skip("NumPy and SciPy share a BLAS")
    with threadpool_limits(3):
        assert fail_in_one_pool(libraries) == [1, 3]
        assert [library.num_threads for library in libraries] == [3, 3]


def test_blas_threads_follow_the_limit():
    with threadpool_limits(1):
        assert arrays.blas_threads() == 1


def test_free_memory_is_what_the_machine_says():
    assert 1e7 < arrays.free_bytes() < 1e14


@pytest.mark.parametrize(("precision", "kind"), [("double", "float64"), ("single", "float32"), ("bf16", "bfloat16")])
@pytest.mark.parametrize("stack", [(), (2,)])
def test_columns_of_torch_lie_as_tensor_cores_want_them(precision, kind, stack):
    """Each column's numbers side by side, from a multiple of eight on."""
    torch = pytest.importorskip("torch")
    phases = torch.asarray(drawn(*stack, 13, 5))
    columns = arrays.cos_sin(lambda part: phases[..., part, :], (13, 5), precision)
    assert columns.dtype == getattr(torch, kind)
    assert columns.shape == (*stack, 13, 10)
    assert columns.stride()[-2:] == (1, 16)
    turn = 2 * np.pi if precision == "single" else 1.0
    expected = torch.cat((torch.cos(turn * phases), torch.sin(turn * phases)), -1)
    assert_allclose(columns.double().numpy(), expected.numpy(), rtol=0, atol=max(1e-6, products.UNITS[precision]))
