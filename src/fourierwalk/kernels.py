"""What torch has no kernel for on a GPU: cosine and sine in one pass. Triton, which comes with it, compiles that."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
import triton
import triton.language as tl

BLOCK = 1024
"""Phases of one frequency that a program of the kernel takes."""


@triton.jit
def _cos_sin(phases, store, n_rows, n_frequencies, phase_stride, store_stride, block: tl.constexpr):  # type: ignore[no-untyped-def]
    program, n_blocks = tl.program_id(0), tl.cdiv(n_rows, block)
    row = (program % n_blocks) * block + tl.arange(0, block)
    frequency = (program // n_blocks).to(tl.int64)
    there = row < n_rows
    phase = tl.load(phases + frequency * phase_stride + row, mask=there)
    kind = store.dtype.element_ty
    tl.store(store + frequency * store_stride + row, tl.cos(phase).to(kind), mask=there)
    tl.store(store + (n_frequencies + frequency) * store_stride + row, tl.sin(phase).to(kind), mask=there)


def cos_sin(phases: Any, store: Any) -> bool:
    """Fill a store (2K, ≥ n) with cos φ and, below it, sin φ of phases (n, K); False where that cannot be done here.

    Torch takes two passes over the phases, which are larger than a GPU's cache: two and a half times as long.
    """
    by_frequency = phases.mT
    n_frequencies, n_rows = by_frequency.shape[-2:]
    if phases.ndim > 2 or by_frequency.stride(1) != 1 or store.stride(1) != 1 or not _compiles(phases.device):
        return False
    _launch(by_frequency, store, n_rows, n_frequencies)
    return True


def _launch(by_frequency: Any, store: Any, n_rows: int, n_frequencies: int) -> None:
    grid = (triton.cdiv(n_rows, BLOCK) * n_frequencies,)
    strides = by_frequency.stride(0), store.stride(0)
    with torch.cuda.device(store.device):
        _cos_sin[grid](by_frequency, store, n_rows, n_frequencies, *strides, BLOCK, num_warps=4)


@cache
def _compiles(device: Any) -> bool:
    """Whether the kernel can be compiled and run on the device: Triton wants a C compiler too."""
    try:
        store = torch.empty((2, 8), dtype=torch.bfloat16, device=device)
        _launch(torch.zeros((1, 8), device=device), store, 8, 1)
    except Exception:  # whatever Triton meets there
        return False
    return True
