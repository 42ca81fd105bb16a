import array_api_strict
import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from fourierwalk.arrays import library


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def test_foreign_is_every_array_but_those_that_scikit_learn_keeps(xp):
    assert library.is_foreign(xp.asarray([1.0])) is (xp.name != "numpy")
    assert not library.is_foreign([1.0])
    assert not library.is_foreign(None)
    assert not library.is_foreign(scipy.sparse.csr_array(np.eye(2)))


def test_like_follows_the_reference(anywhere):
    values = drawn(3, 2)
    moved = library.like(values, anywhere.asarray([0.0]))
    assert_array_equal(anywhere.host(moved), values)


def test_to_host_gives_numpy(xp):
    values = drawn(3, 2)
    host = library.to_host(xp.asarray(values))
    assert type(host) is np.ndarray
    assert_array_equal(host, values)


def test_to_host_detaches_tensors():
    torch = pytest.importorskip("torch")
    assert_array_equal(library.to_host(torch.ones(2, requires_grad=True)), [1.0, 1.0])


def test_float64_copies_only_where_it_must(xp):
    double, single = xp.asarray(drawn(3)), xp.asarray(drawn(3).astype(np.float32))
    assert library.float64(double) is double
    assert xp.dtype(library.float64(single)) == "float64"
    assert xp.owns(library.float64(single))


def test_strict_arrays_on_another_device_cannot_be_read():
    """What makes the stand-in for a GPU worth its name."""
    there = array_api_strict.asarray([1.0], device=array_api_strict.Device("device1"))
    with pytest.raises(RuntimeError, match="device1"):
        np.asarray(there)
