import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from fourierwalk.arrays import complexes


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def test_complex_parts(anywhere):
    real, imaginary = drawn(4, 2), drawn(4, 2, seed=1)
    values = complexes.complex_of(anywhere.asarray(real), anywhere.asarray(imaginary))
    assert anywhere.dtype(values) == "complex128"
    assert_array_equal(anywhere.host(values), real + 1j * imaginary)
    assert_array_equal(anywhere.host(complexes.real_part(values)), real)
    assert_array_equal(anywhere.host(complexes.real_part(anywhere.asarray(real))), real)
    assert_allclose(anywhere.host(complexes.squared_modulus(values)), real**2 + imaginary**2, rtol=1e-15)
    assert_array_equal(anywhere.host(complexes.squared_modulus(anywhere.asarray(real))), real**2)
    assert_array_equal(anywhere.host(complexes.adjoint(values)), (real + 1j * imaginary).conj().T)
    assert_array_equal(anywhere.host(complexes.adjoint(anywhere.asarray(real))), real.T)
