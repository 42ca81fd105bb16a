"""What was recorded on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fourierwalk.sampler import Info
from fourierwalk.selection import Check


@dataclass(frozen=True)
class History:
    """The steps of a walk, the checks on held-out rows, and what was decided, in words.

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk import AdaptiveFourierRegressor
    >>> x = np.linspace(-3, 3, 300)[:, None]
    >>> history = AdaptiveFourierRegressor(8, random_state=0).fit(x, np.sin(2 * x[:, 0])).history_
    >>> history.acceptance.shape == history.step.shape
    True
    """

    infos: Sequence[Info]
    checks: Sequence[Check] = ()
    decisions: Sequence[str] = ()

    @property
    def step(self) -> np.ndarray:
        """Numbers of the steps."""
        return np.array([info.step for info in self.infos], dtype=np.int64)

    @property
    def acceptance(self) -> np.ndarray:
        """Share of the frequencies that moved, per step."""
        return np.array([info.acceptance for info in self.infos])

    @property
    def step_size(self) -> np.ndarray:
        """δ, per step."""
        return np.array([info.step_size for info in self.infos])

    @property
    def loss(self) -> np.ndarray:
        """N⁻¹|Sβ − y|² + λ|β|² on the rows of the walk, per step."""
        return np.array([info.loss for info in self.infos])

    @property
    def validation(self) -> np.ndarray:
        """(step, mean squared error on held-out rows) of each check, (n_checks, 2)."""
        return np.array([(check.step, check.error) for check in self.checks]).reshape(-1, 2)
