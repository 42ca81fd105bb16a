"""What torch has no kernel for on a GPU: cosine and sine in one pass, compiled by NVRTC (`cuda-bindings`)."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

SOURCE = """
__device__ unsigned short rounded(float value) {  // to bf16, ties to even
    if (value != value) return 0x7fc0;  // not a number
    const unsigned int bits = __float_as_uint(value);
    return (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}

extern "C" __global__ void cos_sin(const float* phases, unsigned short* store, long long n_rows,
                                   long long n_frequencies, long long phase_stride, long long store_stride) {
    const long long n_blocks = (n_rows + 1023) / 1024, frequency = blockIdx.x / n_blocks;
    const long long row = blockIdx.x % n_blocks * 1024 + threadIdx.x * 4;
    const float* from = phases + frequency * phase_stride + row;
    unsigned short* cosines = store + frequency * store_stride + row;
    unsigned short* sines = cosines + n_frequencies * store_stride;
    float phase[4], sine, cosine;
    unsigned short c[4], s[4];
    const int n = row + 4 <= n_rows ? 4 : row < n_rows ? (int)(n_rows - row) : 0;
    if (n == 4 && ((unsigned long long)from & 15) == 0) {
        const float4 four = *(const float4*)from;
        phase[0] = four.x; phase[1] = four.y; phase[2] = four.z; phase[3] = four.w;
    } else {
        for (int i = 0; i < n; ++i) phase[i] = from[i];
    }
    for (int i = 0; i < n; ++i) {
        sincosf(phase[i], &sine, &cosine);
        c[i] = rounded(cosine);
        s[i] = rounded(sine);
    }
    if (n == 4) {
        *(ushort4*)cosines = make_ushort4(c[0], c[1], c[2], c[3]);
        *(ushort4*)sines = make_ushort4(s[0], s[1], s[2], s[3]);
    } else {
        for (int i = 0; i < n; ++i) cosines[i] = c[i], sines[i] = s[i];
    }
}
"""
"""A block of 256 threads takes 1,024 phases of one frequency, each four of them: so memory is read and written best."""

TYPES = (ctypes.c_void_p,) * 2 + (ctypes.c_longlong,) * 4


def cos_sin(phases: Any, store: Any) -> bool:
    """Fill a store (2K, ≥ n) of bf16 with cos φ and, below it, sin φ of phases (n, K); False where that cannot be done.

    Torch takes two passes over the phases, which are larger than a GPU's cache.
    """
    import torch

    by_frequency = phases.mT
    is_for_it = phases.ndim == 2 and by_frequency.stride(1) == store.stride(1) == 1 and phases.dtype == torch.float32
    if not is_for_it or store.stride(0) % 4 or store.data_ptr() % 8 or (kernel := _compiled(store.device)) is None:
        return False
    from cuda.bindings import driver

    n_frequencies, n_rows = by_frequency.shape
    shape = n_rows, n_frequencies, by_frequency.stride(0), store.stride(0)
    arguments = (by_frequency.data_ptr(), store.data_ptr(), *shape), TYPES
    with torch.cuda.device(store.device):
        stream = torch.cuda.current_stream().cuda_stream
        n_blocks = -(-n_rows // 1024) * n_frequencies
        _done(driver.cuLaunchKernel(kernel, n_blocks, 1, 1, 256, 1, 1, 0, stream, arguments, 0))
    return True


@cache
def _compiled(device: Any) -> Any:
    """The kernel; None without `cuda-bindings` (torch brings it from 2.10 on), or where NVRTC does not serve."""
    try:
        import torch
        from cuda.bindings import driver, nvrtc

        option = b"--gpu-architecture=sm_%d%d" % torch.cuda.get_device_capability(device)
        program = _done(nvrtc.nvrtcCreateProgram(SOURCE.encode(), b"cos_sin.cu", 0, [], []))
        _done(nvrtc.nvrtcCompileProgram(program, 1, [option]))
        code = bytes(_done(nvrtc.nvrtcGetCUBINSize(program)))
        _done(nvrtc.nvrtcGetCUBIN(program, code))
        with torch.cuda.device(device):
            return _done(driver.cuModuleGetFunction(_done(driver.cuModuleLoadData(code)), b"cos_sin"))
    except (ImportError, RuntimeError):
        return None


def _done(answer: tuple[Any, ...]) -> Any:
    """What a call of CUDA has given, if anything."""
    status, *given = answer
    if int(status):
        raise RuntimeError(f"CUDA answered {status!r}.")
    return given[0] if given else None
