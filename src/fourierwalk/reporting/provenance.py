"""Where a result comes from: command, versions, machine, commit."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

PEERS = ("lightgbm", "xgboost", "xrfm", "mapie")
LIBRARIES = ("fourierwalk", "numpy", "scipy", "scikit-learn", "array-api-compat", "torch", "numba", "finufft", *PEERS)


def provenance(command: str | None = None) -> dict[str, Any]:
    """What a reader needs to repeat a result.

    Examples
    --------
    >>> sorted(provenance("demo"))
    ['command', 'commit', 'date', 'machine', 'versions']
    """
    return {
        "command": command if command is not None else " ".join(["fourierwalk", *map(_shown, sys.argv[1:])]),
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "versions": versions(),
    }


def _shown(argument: str) -> str:
    """An argument as it is; only the last part of an absolute path."""
    return Path(argument).name if os.path.isabs(argument) else argument


def describe(origin: dict[str, Any]) -> str:
    """Machine and versions as a line of text."""
    parts = [*(f"{key} {value}" for key, value in {**origin["machine"], **origin["versions"]}.items())]
    return ", ".join(parts) + "."


def versions() -> dict[str, str]:
    """Versions of Python and of the installed libraries."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, Any]:
    """Processor, cores, system, the kernels that BLAS has chosen, and the GPU if torch sees one."""
    described: dict[str, Any] = {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
    }
    kernels = {pool.get("architecture") for pool in threadpool_info() if pool["user_api"] == "blas"} - {None}
    if kernels:
        described["blas"] = ", ".join(sorted(kernels))
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        described["gpu"] = torch.cuda.get_device_name()
    return described


DIGITS = 12
"""Digits of a commit: all forty would be wider than a phone."""


def commit() -> str | None:
    """The commit of the source tree that the package runs from, if there is one. "+" means uncommitted changes.

    If the tree is a copy without its history, $FOURIERWALK_COMMIT gives the commit.
    """
    if os.environ.get("FOURIERWALK_COMMIT"):
        return os.environ["FOURIERWALK_COMMIT"][:DIGITS]
    here = Path(__file__).resolve().parent
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", f"--abbrev={DIGITS}", "--exclude=*"],
            cwd=here,
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return described.stdout.strip() or None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
