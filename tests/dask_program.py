"""A fit on a cluster that dies: prints what the user is told. A client of a dead cluster would wait at the exit."""

import os
import subprocess
import sys
import time
from pathlib import Path

import dask.array
import numpy as np
from distributed import Client

from fourierwalk import AdaptiveFourierRegressor
from fourierwalk.chunks import DaskChunks


def started(folder):
    """A scheduler and a worker of their own, and a client of them."""
    address, quiet = str(Path(folder) / "scheduler.json"), {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    scheduler = subprocess.Popen([*command, "--scheduler-file", address], **quiet)
    while not Path(address).exists():
        time.sleep(0.1)
    command = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", address, "--nthreads", "1"]
    worker = subprocess.Popen([*command, "--no-nanny", "--no-dashboard"], **quiet)
    return scheduler, worker, Client(scheduler_file=address, timeout="60s")


def main(folder, victim):
    """Kill the scheduler, or the only worker, after the first pass over the rows."""
    scheduler, worker, client = started(folder)
    client.wait_for_workers(1, timeout=60)
    x = np.random.default_rng(0).standard_normal((600, 3))
    inputs, targets = dask.array.from_array(x, chunks=(300, 3)), dask.array.from_array(x[:, 0], chunks=300)
    chunks = DaskChunks(inputs, targets, client=client, timeout=1.0)
    chunks.each(len)
    (scheduler if victim == "scheduler" else worker).kill()
    try:
        AdaptiveFourierRegressor(8, sampler="metropolis", n_steps=12).fit(chunks)
    except RuntimeError as error:
        print(error, flush=True)
    for process in (scheduler, worker):
        process.kill()
        process.wait()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
