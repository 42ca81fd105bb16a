"""Seconds of a step on the ranks of torchrun: ``torchrun -m fourierwalk.benchmarks.ranks N D K`` prints them."""

from __future__ import annotations

import json
import sys

from threadpoolctl import threadpool_limits

from fourierwalk.benchmarks.figures import median_seconds
from fourierwalk.benchmarks.scale import chunked, made, stepped
from fourierwalk.chunks import Ranks


def main(n_rows: str, d: str, n_frequencies: str) -> None:
    """Every rank has its part of the rows; rank 0 prints the median."""
    import torch
    import torch.distributed as dist

    on_gpu = torch.cuda.is_available()
    dist.init_process_group("nccl" if on_gpu else "gloo")
    rank, n_ranks = dist.get_rank(), dist.get_world_size()
    own = int(n_rows) // n_ranks
    with threadpool_limits(1):
        rows = chunked(Ranks(*made(rank, own, int(d))), int(d), own * n_ranks)
        seconds = median_seconds(stepped(rows, int(n_frequencies)), 3)
    if rank == 0:
        print(json.dumps(seconds))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
