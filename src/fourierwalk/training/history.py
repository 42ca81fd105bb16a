"""What was recorded on the way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.files.fields import Fields
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

    def to_tables(self) -> dict[str, Any]:
        """What a file keeps: steps and looks as columns, in single precision; not what happened inside each solve."""
        return {
            "steps": _columns(self.infos, ("step", "acceptance", "step_size", "loss")),
            "looks": _columns(self.looks, ("step", "error", "regularization")),
            "decisions": list(self.decisions),
        }

    @classmethod
    def from_tables(cls, fields: Fields) -> History:
        """What `to_tables` gave, checked."""
        infos = _rows(fields.fields("steps"), ("step", "acceptance", "step_size", "loss"))
        looks = _rows(fields.fields("looks"), ("step", "error", "regularization"))
        return cls(
            [Info(step, acceptance, size, loss, phase=phase) for step, acceptance, size, loss, phase in infos],
            [Look(*values) for values in looks],
            tuple(fields.words("decisions")),
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


def _columns(events: Sequence[Any], names: Sequence[str]) -> dict[str, Any]:
    """A column per name, and the phase of each event as a number in a list of words."""
    phases = list(dict.fromkeys(event.phase for event in events))
    columns = {name: np.array([float(getattr(event, name)) for event in events], dtype=np.float32) for name in names}
    columns["step"] = np.array([event.step for event in events], dtype=np.int32)
    codes = np.array([phases.index(event.phase) for event in events], dtype=np.int32)
    return {**columns, "phase": codes, "phases": phases}


def _rows(fields: Fields, names: Sequence[str]) -> list[tuple[Any, ...]]:
    codes, phases = fields.array("phase", None, kinds="i"), fields.words("phases")
    columns = [fields.array(name, codes.size, kinds="fi", finite=False).tolist() for name in names]
    return list(zip(*columns, [phases[code] for code in codes.tolist()], strict=True))
