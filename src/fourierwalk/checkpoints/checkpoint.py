"""Where and how often a fit writes its checkpoint: the settings."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fourierwalk.parameters import count, number


@dataclass(frozen=True)
class Checkpoint:
    """Where and how often a fit writes its checkpoint.

    Parameters
    ----------
    path : path or str
        The file. It belongs to one fit: a fit with other data or other parameters refuses it. If it is a folder, or
        ends with a slash, each fit has a file of its own there, as the fits of a grid search need.
    every_steps : int, optional
        Write after this many steps.
    every_seconds : float, optional
        Write after this many seconds. Of two intervals the one that ends first counts.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from fourierwalk import AdaptiveFourierRegressor, Checkpoint
    >>> x = np.linspace(-3, 3, 300)[:, None]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     often = Checkpoint(folder + "/sine.fw", every_steps=20)
    ...     model = AdaptiveFourierRegressor(8, checkpoint=often, random_state=0).fit(x, np.sin(2 * x[:, 0]))
    >>> bool(model.score(x, np.sin(2 * x[:, 0])) > 0.99)
    True
    """

    path: Any
    every_steps: int | None = None
    every_seconds: float | None = 60.0

    @classmethod
    def of(cls, value: Any) -> Checkpoint | None:
        """The settings of the parameter `checkpoint`, checked: None, a path, or a `Checkpoint`."""
        if value is None:
            return None
        settings = value if isinstance(value, Checkpoint) else cls(value)
        settings.check()
        return settings

    def check(self) -> None:
        """Raise an error, in one sentence, for the first setting that is not valid."""
        if not isinstance(self.path, str | Path) or not str(self.path).strip():
            raise ValueError(f"checkpoint must be None, a path or a Checkpoint with a path, got {self.path!r}.")
        count("checkpoint.every_steps", self.every_steps, 1, optional=True)
        number("checkpoint.every_seconds", self.every_seconds, at_least=0, optional=True)

    def file(self, fingerprint: str) -> Path:
        """The file of the fit with this fingerprint."""
        path = Path(self.path)
        is_folder = path.is_dir() or str(self.path).endswith(("/", os.sep))
        return path / f"{fingerprint[:16]}.fw" if is_folder else path
