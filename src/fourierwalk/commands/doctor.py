"""``fourierwalk doctor``: what is installed, what it runs on, and whether it works here."""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import re
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from threadpoolctl import threadpool_info

from fourierwalk import loading
from fourierwalk.arrays.memory import free_bytes
from fourierwalk.commands import options as shared
from fourierwalk.estimators import AdaptiveFourierRegressor
from fourierwalk.paper.datasets import FOLDER_VARIABLE
from fourierwalk.reporting.provenance import machine, versions

EXAMPLES = """  fourierwalk doctor
  fourierwalk doctor --json
"""
WANTED_SCORE = 0.99


def register(verbs: Any) -> None:
    """Add the command and its options."""
    parser = shared.verb(
        verbs, "doctor", "show versions, BLAS, threads, GPU, extras and caches, and run a self-test", EXAMPLES
    )
    shared.add_output(parser)
    parser.set_defaults(run=main)


def main(options: argparse.Namespace) -> int:
    """Print the report. The exit code is 1 if the self-test fails."""
    gpu = _gpu()
    told: dict[str, Any] = {
        "versions": versions(),
        "machine": {**machine(), "free_memory": int(free_bytes())},
        "blas": [
            {name: pool.get(name) for name in ("user_api", "internal_api", "version", "num_threads")}
            for pool in threadpool_info()
        ],
        "gpu": gpu,
        "extras": extras(),
        "caches": caches(),
        "self_test": self_test(),
    }
    if options.json:
        print(json.dumps(told))
    elif not options.quiet:
        _show(told, Console(highlight=False))
    return 0 if told["self_test"]["works"] else 1


def self_test(wanted_score: float = WANTED_SCORE) -> dict[str, Any]:
    """Fit for about a second, save the model, load it, and compare the predictions."""
    start = time.perf_counter()
    x = np.random.default_rng(0).normal(size=(1000, 1))
    y = np.sin(5 * x[:, 0])
    try:
        model = AdaptiveFourierRegressor(32, random_state=0).fit(x[:800], y[:800])
        score = float(model.score(x[800:], y[800:]))
        with tempfile.TemporaryDirectory() as folder:
            loaded = loading.load(model.save(Path(folder) / "test.fw"))
        same = bool(np.all(loaded.predict(x) == model.predict(x)))
    except Exception as error:  # any failure is what the self-test reports
        return {"works": False, "error": f"{type(error).__name__}: {error}"}
    seconds = round(time.perf_counter() - start, 2)
    return {"works": same and score > wanted_score, "r2": round(score, 6), "file_is_same": same, "seconds": seconds}


def extras() -> dict[str, dict[str, bool]]:
    """The packages of each extra, and whether they are installed."""
    try:
        required = importlib.metadata.requires("fourierwalk") or []
    except importlib.metadata.PackageNotFoundError:
        return {}
    found: dict[str, dict[str, bool]] = {}
    for line in required:
        named = re.search(r"extra == ['\"](.+?)['\"]", line)
        package = re.split(r"[^A-Za-z0-9_.-]", line, maxsplit=1)[0]
        if named and package != "fourierwalk" and named[1] not in ("test", "docs"):
            found.setdefault(named[1], {})[package] = _is_there(package)
    return found


def _is_there(package: str) -> bool:
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def caches() -> dict[str, Any]:
    """Folders of downloaded data, and their sizes in bytes."""
    folders = {FOLDER_VARIABLE: os.environ.get(FOLDER_VARIABLE)}
    if importlib.util.find_spec("pooch") is not None:
        import pooch

        folders["downloads"] = str(pooch.os_cache("fourierwalk"))
    return {
        name: {
            "folder": folder,
            "bytes": sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()),
        }
        for name, folder in folders.items()
        if folder is not None and Path(folder).is_dir()
    }


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _gpu() -> str:
    if importlib.util.find_spec("torch") is None:
        return "torch is not installed: computed on the CPU"
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else f"torch {torch.__version__} sees no GPU"


def _show(told: dict[str, Any], console: Console) -> None:
    def say(name: str, text: Any) -> None:
        console.print(f"{name:<10} {text}", markup=False, soft_wrap=True)

    say("versions", ", ".join(f"{name} {value}" for name, value in told["versions"].items()))
    described = told["machine"]
    say("machine", f"{described['processor']}, {described['cores']} cores, {described['system']}, "
        f"{described['free_memory'] / 1e9:.1f} GB of memory free")  # fmt: skip
    for pool in told["blas"]:
        say("threads", f"{pool['internal_api']} {pool['version'] or ''} ({pool['user_api']}): {pool['num_threads']}")
    say("GPU", told["gpu"])
    for name, packages in told["extras"].items():
        say(
            "extra",
            f"{name}: " + ", ".join(f"{each}{'' if there else ' (missing)'}" for each, there in packages.items()),
        )
    for name, cache in told["caches"].items():
        say("cache", f"{name}: {cache['folder']}, {cache['bytes'] / 1e6:.1f} MB")
    test = told["self_test"]
    say("self-test", f"works, R² {test['r2']:.4f}, {test['seconds']} s" if test["works"] else f"FAILED: {test}")
