"""The largest anonymous memory of a process: files that are mapped, and can be dropped, do not count."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np


def peak_bytes(module: str, *arguments: str) -> float:
    """The largest anonymous memory of ``python -m module arguments`` while it runs; NaN where /proc does not say."""
    child = subprocess.Popen([sys.executable, "-m", module, *arguments])
    peak = float("nan")
    while child.poll() is None:
        peak = float(np.fmax(peak, anonymous_bytes(child.pid)))
        time.sleep(0.005)
    if child.returncode:
        raise RuntimeError(f"{module} must run to measure its memory, got the exit code {child.returncode}.")
    return peak


def anonymous_bytes(process: int) -> float:
    """The anonymous memory of a process now; NaN where /proc does not say.

    Examples
    --------
    >>> import os
    >>> anonymous_bytes(os.getpid()) > 1e6
    True
    """
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return float("nan")
    return next((1024.0 * int(line.split()[1]) for line in lines if line.startswith("RssAnon")), float("nan"))
