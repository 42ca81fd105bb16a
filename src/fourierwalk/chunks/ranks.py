"""Chunks on the ranks of torch.distributed (extra ``torch``): every rank has its own rows, and all fit one model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np

from fourierwalk.arrays.library import is_remote, to_host
from fourierwalk.chunks.chunk import Chunk, InProcess
from fourierwalk.chunks.moving import mapped
from fourierwalk.chunks.sliced import Sliced
from fourierwalk.chunks.tree import tree


class Ranks:
    """The rows of this rank; sums run over the rows of all ranks, and every rank gets the same bits.

    All ranks must call `fit` with the same settings, and with the same integer as `random_state`. Rows may be NumPy
    arrays (backend gloo) or torch tensors on the rank's GPU (backend NCCL).

    Parameters
    ----------
    x : array of shape (n, d), frame, or Sliced, Blocks or ParquetChunks
        The inputs of this rank, or its chunks.
    y : array of shape (n,) or (n, q), optional
        The targets of this rank; chunks bring their own.
    weight : array of shape (n,), optional
        The weights of the rows of this rank.
    timeout : float
        Seconds that a rank waits for the others before it raises an error.
    """

    def __init__(self, x: Any, y: Any = None, weight: Any = None, *, timeout: float = 600.0) -> None:
        import torch.distributed as dist

        if not dist.is_available() or not dist.is_initialized():
            raise ValueError("Ranks needs torch.distributed.init_process_group() before it, in a program of torchrun.")
        self.chunks = x if isinstance(x, InProcess) else Sliced(x, y, weight)
        self._group = dist.new_group(timeout=timedelta(seconds=timeout))
        self._first = 0
        counts = self._exchanged(sum(1 for _ in self.chunks))
        self._first = sum(counts[: dist.get_rank()])

    def each(self, share: Callable[[Chunk], Any]) -> list[Any]:
        """``share(chunk)`` of every chunk of every rank, in the order of ranks and chunks."""
        found = self._exchanged(_tried(lambda: tuple(self._shares(share))))
        return [one for shares in _raised(found) for one in shares]

    def sum(self, share: Callable[[Chunk], Any]) -> Any:
        """The sum of ``share(chunk)`` over all chunks of all ranks: each rank's in the tree, then the ranks' in one."""
        total = _tried(lambda: tree(self._shares(share)))
        has_shape = total is not None and not getattr(total, "varies", False)
        are_alike = _raised(self._exchanged(total if isinstance(total, Exception) else has_shape))
        return tree(self._gathered(total) if all(are_alike) else self._exchanged(total))

    def _shares(self, share: Callable[[Chunk], Any]) -> Any:
        return (share(replace(chunk, index=self._first + chunk.index)) for chunk in self.chunks)

    def _exchanged(self, mine: Any) -> list[Any]:
        """An object of each rank, by pickle: for what has no fixed shape."""
        import torch.distributed as dist

        theirs: list[Any] = [None] * dist.get_world_size()
        self._called(lambda: dist.all_gather_object(theirs, mine, group=self._group))
        return [mapped(one, _on_own_gpu) for one in theirs]

    def _gathered(self, mine: Any) -> list[Any]:
        """The shares of all ranks, as one buffer of doubles on the device that holds them."""
        import torch
        import torch.distributed as dist

        leaves: list[Any] = []
        mapped(mine, leaves.append, numbers=True)
        device = "cuda" if dist.get_backend(self._group) == "nccl" else "cpu"  # where the backend can exchange
        flat = torch.cat([torch.as_tensor(leaf, dtype=torch.float64, device=device).reshape(-1) for leaf in leaves])
        theirs = [torch.empty_like(flat) for _ in range(dist.get_world_size())]
        self._called(lambda: dist.all_gather(theirs, flat, group=self._group))
        return [_rebuilt(mine, leaves, part) for part in theirs]

    def _called(self, exchange: Callable[[], Any]) -> None:
        try:
            exchange()
        except RuntimeError as error:
            raise RuntimeError(
                "a rank was lost, or did not answer in time, in the middle of a fit: every rank must call fit with the "
                "same settings."
            ) from error


def _rebuilt(mine: Any, leaves: Sequence[Any], flat: Any) -> Any:
    """The share of another rank from its buffer; it has the shapes, and the library, of this rank's share."""
    import torch

    parts = iter(torch.split(flat, [math.prod(np.shape(leaf)) for leaf in leaves]))

    def taken(leaf: Any) -> Any:
        part = next(parts).reshape(np.shape(leaf))
        return part.to(leaf.device) if isinstance(leaf, torch.Tensor) else to_host(part)[()]

    return mapped(mine, taken, numbers=True)


def _on_own_gpu(values: Any) -> Any:
    """An array of another rank; if it is on that rank's GPU, it is moved to this rank's."""
    return values.cuda() if is_remote(values) else values


def _tried(work: Callable[[], Any]) -> Any:
    """The result, or the error: the other ranks must hear of it, or they would wait."""
    try:
        return work()
    except Exception as error:
        return error


def _raised(found: list[Any]) -> list[Any]:
    for one in found:
        if isinstance(one, Exception):
            raise one
    return found
