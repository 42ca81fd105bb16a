"""Our estimators at a commit: a copy of the package's source, fitted in a process of its own."""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

import fourierwalk
from fourierwalk.comparison import worker
from fourierwalk.comparison.tuning import OURS, Fitted
from fourierwalk.reporting import provenance

PACKAGE = "fourierwalk"
UNKNOWN = "unknown"
POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
Width = int | Literal["auto"]


@dataclass(frozen=True)
class Checkout:
    """A folder that holds the package, and its commit."""

    source: Path
    commit: str

    @classmethod
    def here(cls) -> Checkout:
        """The one that runs."""
        return cls(Path(fourierwalk.__file__).resolve().parent.parent, _shortened(provenance.commit() or UNKNOWN))

    @classmethod
    def at(cls, source: Path) -> Checkout:
        """Another checkout. Its commit is in the file COMMIT beside it, or else git says it."""
        if not (source / PACKAGE / "__init__.py").is_file():
            raise ValueError(f"--beside must be a folder that holds {PACKAGE}, the src of a checkout, got {source}.")
        note = source.resolve().parent / "COMMIT"
        said = note.read_text(encoding="utf-8").strip() if note.is_file() else described(source)
        if not said:
            raise ValueError(
                f"--beside {source} has no commit: neither git nor a file {source.parent / 'COMMIT'} says it."
            )
        return cls(source.resolve(), _shortened(said))

    def checksum(self) -> str:
        """Checksum of the source files. It tells apart two states of a tree with uncommitted changes."""
        return _checksum(self.source)


@lru_cache
def _checksum(source: Path) -> str:
    """Computed once per folder, because a copy that does not change is fitted."""
    total = hashlib.sha256()
    for path in sorted((source / PACKAGE).rglob("*.py")):
        total.update(path.relative_to(source).as_posix().encode() + b"\0" + path.read_bytes())
    return total.hexdigest()[:16]


@contextmanager
def copies(checkouts: list[Checkout]) -> Iterator[list[Checkout]]:
    """Copies in a temporary folder, so that a run has one state even if the source trees change meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        copied = []
        for number, checkout in enumerate(checkouts):
            source = Path(folder) / str(number)
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(checkout.source / PACKAGE, source / PACKAGE, ignore=ignored)
            copied.append(replace(checkout, source=source))
        yield copied


def described(folder: Path) -> str | None:
    """The commit of a folder by git. "+" means uncommitted changes."""
    command = ["git", "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"]
    try:
        answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip() or None


def _shortened(commit: str) -> str:
    """Twelve digits, and the "+" of a tree with uncommitted changes."""
    return commit.rstrip("+")[:12] + ("+" if commit.endswith("+") else "")


@dataclass(frozen=True)
class AtCommit:
    """Our estimator of a checkout, with default settings, in a process of its own."""

    task: str
    width: Width
    checkout: Checkout
    threads: int
    device: str | None = None
    family = OURS

    @property
    def name(self) -> str:
        """In keys and file names."""
        return f"ours-{self.width}@{self.checkout.commit}"

    @property
    def label(self) -> str:
        """In tables and figures."""
        return f"ours, K = {self.width} @ {self.checkout.commit}"

    def settings(self) -> dict[str, Any]:
        """The commit, and for a tree with uncommitted changes the checksum of the source files too."""
        exact = not self.checkout.commit.endswith("+") and self.checkout.commit != UNKNOWN
        said = {"commit": self.checkout.commit, "device": self.device}
        return said if exact else {**said, "source": self.checkout.checksum()}

    def absent(self, n_rows: int) -> None:
        """It applies always."""

    def fit(self, x: np.ndarray, y: np.ndarray, seed: int) -> Fitted:
        """Fit without tuning from outside. The seconds are those of the fit inside the process."""
        model = Elsewhere(self.checkout.source, self.threads)
        asked = {"task": self.task, "width": self.width, "seed": seed, "parameters": self.parameters(), "x": x, "y": y}
        answer = model.ask({**asked, "threads": self.threads})
        model.n_frequencies = int(answer["n_frequencies"])
        chosen = {"regularization": answer["regularization"], "n_frequencies": model.n_frequencies}
        return Fitted(model, answer["seconds"], answer["seconds"], chosen)

    def parameters(self) -> dict[str, Any]:
        """The estimator's parameters that are not the default."""
        return {} if self.device is None else {"device": self.device}

    def columns(self, model: Any) -> int:
        """2K columns of cosines and sines."""
        return 2 * model.n_frequencies


class Elsewhere:
    """A model in another process. The process ends after the prediction, or with this object."""

    n_frequencies = 0

    def __init__(self, source: Path, threads: int) -> None:
        paths = os.pathsep.join([str(source), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, **dict.fromkeys(POOLS, str(threads)), "PYTHONPATH": paths}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the process)
        self._process = subprocess.Popen(
            [sys.executable, "-P", worker.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
        )
        self._end = weakref.finalize(self, _ended, self._process, self._errors)

    def ask(self, question: Any) -> dict[str, Any]:
        """Send a question and wait for the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            pickle.dump(question, self._process.stdin)
            self._process.stdin.flush()
            answer = pickle.load(self._process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            answer = {"failure": f"its process ended with code {self._process.wait()}: {self._last_words()}"}
        if "failure" in answer:
            self._end()
            raise RuntimeError(answer["failure"])
        return answer

    def predict(self, x: np.ndarray) -> np.ndarray:
        """Once."""
        predicted = self.ask(x)["predicted"]
        self._end()
        return predicted

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"


def _ended(process: subprocess.Popen[bytes], errors: Any) -> None:
    """Close the pipes, which ends a waiting process, and kill one that does not end."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:  # it has ended already
                continue
    if process.poll() is None:
        process.kill()
    process.wait()
    errors.close()
