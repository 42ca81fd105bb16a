import contextlib

import pytest
from threadpoolctl import threadpool_limits

from fourierwalk.arrays import threads


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
    monkeypatch.setattr(threads, "_blas", lambda: type("Controller", (), {"lib_controllers": libraries}))
    with threads.one_pool():
        assert [library.num_threads for library in libraries] == inside
        with threads.one_pool():
            assert [library.num_threads for library in libraries] == inside
        assert [library.num_threads for library in libraries] == inside
    assert [library.num_threads for library in libraries] == [4] * len(paths)


def fail_in_one_pool(libraries):
    """The threads of some libraries inside, before an exception."""
    inside = []
    with contextlib.suppress(KeyError), threads.one_pool():
        inside += [library.num_threads for library in libraries]
        raise KeyError
    return inside


def test_one_pool_gives_the_threads_back_after_an_exception(monkeypatch):
    libraries = [Library(NUMPY, 4), Library(SCIPY, 4)]
    monkeypatch.setattr(threads, "_blas", lambda: type("Controller", (), {"lib_controllers": libraries}))
    assert fail_in_one_pool(libraries) == [1, 4]
    assert [library.num_threads for library in libraries] == [4, 4]


def test_one_pool_finds_the_libraries_that_are_loaded():
    libraries = sorted(threads._blas().lib_controllers, key=lambda library: "numpy" not in library.filepath)
    if len(libraries) < 2:
        pytest.skip("NumPy and SciPy share a BLAS")
    with threadpool_limits(3):
        assert fail_in_one_pool(libraries) == [1, 3]
        assert [library.num_threads for library in libraries] == [3, 3]


def test_blas_threads_follow_the_limit():
    with threadpool_limits(1):
        assert threads.blas_threads() == 1


def test_overlapping_limits_end_with_the_last():
    """The second to enter must not remember the limit of the first as the number to go back to."""
    before = [library.num_threads for library in threads._blas().lib_controllers]
    first, second = threads.one_thread(), threads.one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert threads.blas_threads() == 1
    second.__exit__(None, None, None)
    assert [library.num_threads for library in threads._blas().lib_controllers] == before


def test_a_worker_does_not_wait_for_its_own_pool():
    done = []

    def outer(places):
        threads.in_threads(done.extend, [0, 2, 4], True)

    threads.in_threads(outer, [0, 1, 2], True)
    assert sorted(done) == [0, 0, 1, 1, 2, 2, 3, 3]
