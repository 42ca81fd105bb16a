"""The few things that the array API standard leaves to us."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import array_api_compat as compat
import numpy as np
import scipy.linalg
import scipy.sparse
from threadpoolctl import ThreadpoolController

Array = Any
"""An array of any library that follows the array API standard (NumPy, torch, CuPy, …)."""


def namespace(*arrays: Array) -> Any:
    """The array API namespace that the arrays share."""
    return compat.array_namespace(*arrays)


def is_foreign(values: object) -> bool:
    """Whether the values live in an array library other than NumPy, so that scikit-learn's checks would move them."""
    return compat.is_array_api_obj(values) and not compat.is_numpy_array(values) and not scipy.sparse.issparse(values)


def like(values: Any, reference: Array) -> Array:
    """The values as an array of the reference's library, on its device.

    To a GPU from page-locked memory: nobody waits until they are there.
    """
    if isinstance(values, np.ndarray) and compat.is_torch_array(reference) and reference.device.type == "cuda":
        import torch

        return torch.tensor(values).pin_memory().to(reference.device, non_blocking=True)
    return namespace(reference).asarray(values, device=compat.device(reference))


def to_host(values: Array) -> np.ndarray:
    """The values as a NumPy array."""
    if compat.is_torch_array(values):
        return values.detach().cpu().numpy()
    if compat.is_cupy_array(values):
        return values.get()
    return np.from_dlpack(values) if is_foreign(values) else np.asarray(values)


def is_remote(values: Any) -> bool:
    """Whether reading a value would wait for a device: on a GPU."""
    return compat.is_cupy_array(values) or (compat.is_torch_array(values) and values.device.type == "cuda")


def scalar(value: Array) -> Any:
    """A float; where reading it would wait for a device, or where it is one of several, the array as it is."""
    return value if is_remote(value) or np.ndim(value) else float(value)


def transposed(matrix: Array) -> Array:
    """The transpose; with axes in front, of each matrix."""
    return matrix.T if matrix.ndim == 2 else namespace(matrix).matrix_transpose(matrix)


def accelerator_bytes(values: Any) -> int | None:
    """The memory of the GPU that holds the values; None where none does."""
    if compat.is_torch_array(values) and values.device.type == "cuda":
        import torch

        return int(torch.cuda.get_device_properties(values.device).total_memory)
    if compat.is_cupy_array(values):
        return int(values.device.mem_info[1])
    return None


def accelerator_free_bytes(values: Any) -> float:
    """The memory that the device of the values has free now, that which its library holds for reuse included."""
    if not is_remote(values):
        return free_bytes()
    if compat.is_cupy_array(values):
        import cupy

        return float(values.device.mem_info[0] + cupy.get_default_memory_pool().free_bytes())
    import torch

    held = torch.cuda.memory_reserved(values.device) - torch.cuda.memory_allocated(values.device)
    return float(torch.cuda.mem_get_info(values.device)[0] + held)


def free_bytes() -> float:
    """The memory that this machine has free now; 4 GB where it does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            return 1024.0 * next(int(line.split()[1]) for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return 4e9


def float64(values: Array) -> Array:
    """The values in double precision, without a copy where they already are."""
    xp = namespace(values)
    return xp.astype(values, xp.float64, copy=False)


def complex_of(real: Array, imaginary: Array) -> Array:
    """``real + i·imaginary``."""
    xp = namespace(real)
    dtype = xp.complex64 if real.dtype == xp.float32 else xp.complex128
    if compat.is_numpy_array(real):
        values = np.empty(real.shape, dtype)
        values.real, values.imag = real, imaginary
        return values
    if compat.is_torch_array(real):
        import torch

        return torch.complex(real, imaginary)
    return xp.astype(real, dtype) + 1j * xp.astype(imaginary, dtype)


def hermitian(gram: Array) -> Array:
    """SᴴS = (CᵀC + DᵀD) + i(CᵀD − DᵀC) from the Gram matrix of the real columns [C | D], S = C + iD."""
    n = gram.shape[-1] // 2
    cosines, sines, mixed, turned = gram[..., :n, :n], gram[..., n:, n:], gram[..., :n, n:], gram[..., n:, :n]
    if not compat.is_numpy_array(gram):
        return complex_of(cosines + sines, mixed - turned)
    matrix = np.empty(cosines.shape, np.complex64 if gram.dtype == np.float32 else np.complex128)
    np.add(cosines, sines, out=matrix.real)
    np.subtract(mixed, turned, out=matrix.imag)
    return matrix


def real_part(values: Array) -> Array:
    """The real part; real values are returned as they are."""
    xp = namespace(values)
    return xp.real(values) if xp.isdtype(values.dtype, "complex floating") else values


def adjoint(matrix: Array) -> Array:
    """The conjugate transpose."""
    xp = namespace(matrix)
    return transposed(xp.conj(matrix) if xp.isdtype(matrix.dtype, "complex floating") else matrix)


def squared_modulus(values: Array) -> Array:
    """``|values|²``, elementwise."""
    xp = namespace(values)
    if xp.isdtype(values.dtype, "complex floating"):
        return xp.real(values) ** 2 + xp.imag(values) ** 2
    return values**2


def cos_sin(
    phases: Callable[[slice], Array], shape: tuple[int, int], precision: str = "double", interleaved: bool = False
) -> Array:
    """The columns ``[cos φ | sin φ]``, (n, 2K), below double precision in singles, for "bf16" of torch in that.

    Interleaved ones, of NumPy in single precision alone, are complex: exp(iφ), (n, K).

    `phases` gives the phases of some rows, so that they are made where they are used. For single precision and tf32
    they are turns of 2π, whose whole ones are taken off before they are cut; short phases of NumPy come in singles and
    in radians already.

    NumPy's tangent runs in vector registers where its sine and cosine do not: one tangent of the half angle gives both,
    to 3e-16, in a seventh of the time. Slices that stay in the cache are filled by as many threads as BLAS is allowed.
    """
    n_rows, n_frequencies = shape
    single = precision != "double"
    height = max(1, SLICE // max(1, n_frequencies))
    first = phases(slice(0, min(height, n_rows)))
    if not compat.is_numpy_array(first) or first.ndim > 2:
        return _cos_sin_elsewhere(phases(slice(0, n_rows)), precision)
    if single and interleaved:
        columns: Any = np.empty(shape, dtype=np.complex64)
        cosines, sines = columns.real, columns.imag
    else:
        columns = np.empty((n_rows, 2 * n_frequencies), dtype=np.float32 if single else first.dtype)
        cosines, sines = columns[:, :n_frequencies], columns[:, n_frequencies:]
    fill_part = _fill_single if single else _fill_double

    def fill(rows: range) -> None:
        for start in range(rows.start, rows.stop, height):
            part = slice(start, min(start + height, rows.stop))
            fill_part(phases(part), cosines[part], sines[part])

    in_threads(fill, [n_rows * i // blas_threads() for i in range(blas_threads() + 1)], n_rows > 8 * height)
    return columns


def in_threads(work: Callable[[range], None], bounds: Sequence[int], is_worth_it: bool) -> None:
    """Work on consecutive ranges, one thread each: threads that fetch many short ones wait for the interpreter."""
    if not is_worth_it or len(bounds) == 2:
        work(range(bounds[0], bounds[-1]))
    else:
        list(_pool(len(bounds) - 1, os.getpid()).map(work, map(range, bounds[:-1], bounds[1:])))


def _cos_sin_elsewhere(phases: Array, precision: str) -> Array:
    xp = namespace(phases)
    if precision in ("single", "tf32"):
        phases = xp.astype(phases - xp.round(phases), xp.float32, copy=False)
        phases *= 2 * np.pi
    if not compat.is_torch_array(phases):
        return xp.concat((xp.cos(phases), xp.sin(phases)), axis=-1)
    import torch

    n = phases.shape[-1]
    kind = torch.bfloat16 if precision == "bf16" else phases.dtype
    # Filled in place, in the phases' own order, and rounded on the way: a GPU's time is that of its memory. There each
    # column begins at a multiple of eight numbers: tensor cores are several times slower with others.
    n_rows = phases.shape[-2]
    store = phases.new_empty((*phases.shape[:-2], 2 * n, n_rows + -n_rows % 8), dtype=kind)
    columns = transposed(store[..., :n_rows])
    if precision == "bf16" and is_remote(phases) and phases.numel() >= WORTH_A_KERNEL:
        from fourierwalk import kernels

        if kernels.cos_sin(phases, store):
            return columns
    torch.cos(phases, out=columns[..., :n])
    torch.sin(phases, out=columns[..., n:])
    return columns


WORTH_A_KERNEL = 2**22
"""Phases from which on a kernel of our own, compiled when it is first used, is worth its time."""


@contextmanager
def one_pool() -> Iterator[None]:
    """NumPy's own BLAS on one thread, where SciPy has another: two pools take the cores from each other.

    Measured on two cores: a fit of 200 rows took five times as long with both, one of 7,000 rows half as long again.
    Fits that overlap in threads share the limit; the last one to end lifts it.
    """
    libraries = _blas().lib_controllers
    own = [each for each in libraries if "numpy" in Path(each.filepath).parent.name] if len(libraries) > 1 else []
    with _LOCK:
        if not _INSIDE:
            _BEFORE[:] = [(library, library.num_threads) for library in own]
            for library in own:
                library.set_num_threads(1)
        _INSIDE.append(True)
    try:
        yield
    finally:
        with _LOCK:
            _INSIDE.pop()
            if not _INSIDE:
                for library, n_threads in _BEFORE:
                    library.set_num_threads(n_threads)


_LOCK = threading.Lock()
_INSIDE: list[bool] = []
_BEFORE: list[tuple[Any, int]] = []


SLICE = 2**15  # phases per slice


def _fill_single(phases: np.ndarray, cosine: np.ndarray, sine: np.ndarray) -> None:
    if phases.dtype != np.float32:
        phases = (phases - np.rint(phases)).astype(np.float32)
        phases *= np.float32(2 * np.pi)
    np.cos(phases, out=cosine)
    np.sin(phases, out=sine)


def _fill_double(phases: np.ndarray, cosine: np.ndarray, sine: np.ndarray) -> None:
    half = 0.5 * phases
    tangent = np.tan(half, out=half)
    np.multiply(tangent, tangent, out=cosine)
    cosine += 1
    np.divide(2, cosine, out=cosine)
    np.multiply(tangent, cosine, out=sine)
    cosine -= 1


@cache
def _pool(n_threads: int, process: int) -> ThreadPoolExecutor:
    """A pool per process: threads do not survive a fork."""
    return ThreadPoolExecutor(n_threads, thread_name_prefix="fourierwalk")


@cache
def _blas() -> Any:
    return ThreadpoolController().select(user_api="blas")


def blas_threads() -> int:
    """The threads that BLAS may use now: what the user, a limit or an enclosing worker has set."""
    return max((library.num_threads for library in _blas().lib_controllers), default=1)


@cache
def side_stream(device: Any, purpose: str) -> Any:
    """A CUDA stream beside the one that is computed on: one per device and purpose."""
    import torch

    return torch.cuda.Stream(device)


def all_true(flags: Any) -> bool:
    """Whether a flag, or each of several, is true; waits for a device."""
    return bool(namespace(flags).all(flags)) if np.ndim(flags) else bool(flags)
