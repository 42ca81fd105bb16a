"""What was recorded on the way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fourierwalk.sampling.sampler import Info
from fourierwalk.training.selection import Look


class Decision(NamedTuple):
    """Something that was decided, in words, and how many pieces of work like the last one are still to come."""

    text: str
    n_left: int = 0


Event = Info | Look | Decision


@dataclass(frozen=True)
class History:
    """The steps of a walk, the looks at held-out rows, and what was decided, in words.

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
    looks: Sequence[Look] = ()
    decisions: Sequence[str] = ()

    @classmethod
    def of(cls, events: Iterable[Event]) -> History:
        """The events of a fit, by their kind."""
        events = list(events)
        return cls(
            [each for each in events if isinstance(each, Info)],
            [each for each in events if isinstance(each, Look)],
            tuple(each.text for each in events if isinstance(each, Decision)),
        )

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
        """(step, error on held-out rows) of each look, (n_looks, 2): mean squares, or log losses of classes."""
        return np.array([(look.step, look.error) for look in self.looks]).reshape(-1, 2)

    @property
    def phase(self) -> list[str]:
        """What kind of step each was: "walk", "resampling" or "descent"."""
        return [info.phase for info in self.infos]
