"""A CUDA kernel that torch lacks: cosine and sine in one pass. It is compiled by NVRTC (`cuda-bindings`)."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

SOURCE = """
__device__ unsigned short rounded(float value) {  // to bf16, ties to even
    const unsigned int bits = __float_as_uint(value);
    return value == value ? (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16 : 0x7fc0;  // what is no number stays none
}

__device__ void of_one(float phase, unsigned short& cosine, unsigned short& sine) {
    float s, c;
    if (fabsf(phase) < 1e5f) {  // less whole turns, in two parts, and then what the GPU has for it: good to 1e-6
        const float turns = rintf(0.15915494f * phase);
        __sincosf(fmaf(-turns, -1.7484555e-7f, fmaf(-turns, 6.2831855f, phase)), &s, &c);
    } else {
        sincosf(phase, &s, &c);
    }
    cosine = rounded(c);
    sine = rounded(s);
}

extern "C" __global__ void cos_sin(const float* phases, unsigned short* store, long long n_rows,
                                   long long n_frequencies, long long phase_stride, long long store_stride) {
    const long long row = blockIdx.x * 1024LL + threadIdx.x * 4;
    for (long long frequency = blockIdx.y; frequency < n_frequencies; frequency += gridDim.y) {
        const float* from = phases + frequency * phase_stride + row;
        unsigned short* cosines = store + frequency * store_stride + row;
        unsigned short* sines = cosines + n_frequencies * store_stride;
        if (row + 4 <= n_rows && ((unsigned long long)from & 15) == 0) {
            const float4 four = *(const float4*)from;
            ushort4 c, s;
            of_one(four.x, c.x, s.x);
            of_one(four.y, c.y, s.y);
            of_one(four.z, c.z, s.z);
            of_one(four.w, c.w, s.w);
            *(ushort4*)cosines = c;
            *(ushort4*)sines = s;
        } else {
            for (int i = 0; i < 4 && row + i < n_rows; ++i) of_one(from[i], cosines[i], sines[i]);
        }
    }
}
"""
"""A block of 256 threads takes 1,024 phases of one frequency, four for each thread, for the best use of memory."""

MOST_FREQUENCIES = 65_535
"""The largest height of a CUDA grid. With more frequencies, a block takes several."""

TYPES = (ctypes.c_void_p,) * 2 + (ctypes.c_longlong,) * 4


def cos_sin(phases: Any, store: Any) -> bool:
    """Fill a store (2K, ≥ n) of bf16 with cos φ and, below it, sin φ of phases (n, K).

    Returns False, and does nothing, if the kernel cannot be used. It is faster than torch, which takes two passes over
    phases that are larger than a GPU's cache.
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
        grid = -(-n_rows // 1024), min(n_frequencies, MOST_FREQUENCIES), 1
        _done(driver.cuLaunchKernel(kernel, *grid, 256, 1, 1, 0, stream, arguments, 0))
    return True


@cache
def _compiled(device: Any) -> Any:
    """The compiled kernel; None without `cuda-bindings` (part of torch from 2.10 on), or if NVRTC fails."""
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
    except (ImportError, RuntimeError, AssertionError):  # torch built without CUDA raises the last one
        return None


def _done(answer: tuple[Any, ...]) -> Any:
    """The result of a CUDA call; an error if the call failed."""
    status, *given = answer
    if int(status):
        raise RuntimeError(f"CUDA answered {status!r}.")
    return given[0] if given else None
