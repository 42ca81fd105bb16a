"""The record of a fit: steps, validation errors and decisions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.files.fields import Fields
from fourierwalk.sampling.sampler import Info
from fourierwalk.training.selection import Look


class Decision(NamedTuple):
    """Something that a fit has decided, in words."""

    text: str
    n_left: int = 0  # models still to be trained, each about as long as the last one: for the progress line


Event = Info | Look | Decision


@dataclass(frozen=True)
class History:
    """The steps of a fit, its looks at the validation rows, and its decisions in words.

    Parameters
    ----------
    infos : sequence of Info
        One for each step.
    looks : sequence of Look
        One for each measurement of the validation error.
    decisions : sequence of str
        One sentence for each decision.

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
        """The events of a fit, sorted by kind."""
        events = list(events)
        return cls(
            [event for event in events if isinstance(event, Info)],
            [event for event in events if isinstance(event, Look)],
            tuple(event.text for event in events if isinstance(event, Decision)),
        )

    def to_tables(self) -> dict[str, Any]:
        """The contents of a file: steps and looks as columns in single precision, without the infos of the solves."""
        return {
            "steps": _columns(self.infos, ("step", "acceptance", "step_size", "loss")),
            "looks": _columns(self.looks, ("step", "error", "regularization")),
            "decisions": list(self.decisions),
        }

    @classmethod
    def from_tables(cls, fields: Fields) -> History:
        """The inverse of `to_tables`; the fields are checked."""
        infos = _rows(fields.fields("steps"), ("step", "acceptance", "step_size", "loss"))
        looks = _rows(fields.fields("looks"), ("step", "error", "regularization"))
        return cls(
            [Info(step, acceptance, size, loss, phase=phase) for step, acceptance, size, loss, phase in infos],
            [Look(*values) for values in looks],
            tuple(fields.words("decisions")),
        )

    @property
    def step(self) -> np.ndarray:
        """The number of each step."""
        return np.array([info.step for info in self.infos], dtype=np.int64)

    @property
    def acceptance(self) -> np.ndarray:
        """The share of the frequencies that moved, for each step."""
        return np.array([info.acceptance for info in self.infos])

    @property
    def step_size(self) -> np.ndarray:
        """δ, for each step."""
        return np.array([info.step_size for info in self.infos])

    @property
    def loss(self) -> np.ndarray:
        """N⁻¹|Sβ − y|² + λ|β|² on the training rows, for each step."""
        return np.array([info.loss for info in self.infos])

    @property
    def validation(self) -> np.ndarray:
        """The step and the validation error of each look, (n_looks, 2).

        Errors are mean squared errors of the scaled targets; for classes they are log losses.
        """
        return np.array([(look.step, look.error) for look in self.looks]).reshape(-1, 2)

    @property
    def phase(self) -> list[str]:
        """The kind of each step: "walk", "resampling" or "descent"."""
        return [info.phase for info in self.infos]


def _columns(events: Sequence[Any], names: Sequence[str]) -> dict[str, Any]:
    """One column for each name, and the phase of each event as an index into the list `phases`."""
    phases = list(dict.fromkeys(event.phase for event in events))
    columns = {name: np.array([float(getattr(event, name)) for event in events], dtype=np.float32) for name in names}
    columns["step"] = np.array([event.step for event in events], dtype=np.int32)
    codes = np.array([phases.index(event.phase) for event in events], dtype=np.int32)
    return {**columns, "phase": codes, "phases": phases}


def _rows(fields: Fields, names: Sequence[str]) -> list[tuple[Any, ...]]:
    codes, phases = fields.array("phase", None, kinds="i"), fields.words("phases")
    columns = [fields.array(name, codes.size, kinds="fi", finite=False).tolist() for name in names]
    return list(zip(*columns, [phases[code] for code in codes.tolist()], strict=True))
