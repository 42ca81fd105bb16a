"""A walk as a film: frames of frequencies, amplitudes and fit become a fragment of HTML."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.reporting.page import asset


class Frame(NamedTuple):
    """The walk after one of its steps."""

    step: int
    frequencies: np.ndarray  # (K, d)
    amplitudes: np.ndarray  # (K,) or (K, q)
    fit: np.ndarray  # (n,): the model's values at the film's n points
    error: float


def shoot(walk: Iterable[tuple[Any, Any]], steps: Iterable[int], look: Callable[[Any], Frame]) -> Iterator[Frame]:
    """Take frames of a walk while it runs.

    Parameters
    ----------
    walk : iterable of (State, Info)
        What a sampler's ``sample`` yields. You may chain the start before it.
    steps : iterable of int
        The steps after which a frame is taken, as by `moments`.
    look : callable
        Takes a state, returns its `Frame`.

    Examples
    --------
    >>> from collections import namedtuple
    >>> State = namedtuple("State", "step")
    >>> walk = [(State(i), None) for i in range(10)]
    >>> look = lambda state: Frame(state.step, np.zeros((2, 1)), np.ones(2), np.zeros(3), 1.0)
    >>> [frame.step for frame in shoot(walk, (0, 4, 9), look)]
    [0, 4, 9]
    """
    wanted = set(steps)
    return (look(state) for state, _ in walk if state.step in wanted)


def moments(n_steps: int, n_frames: int = 80) -> list[int]:
    """Steps to take frames at: dense at first, when most happens, then at longer and longer intervals.

    Examples
    --------
    >>> moments(1000, 8)
    [0, 1, 5, 12, 31, 74, 177, 421, 1000]
    """
    spaced = np.expm1(np.linspace(0, np.log1p(n_steps), n_frames + 1))
    return sorted({round(float(step)) for step in spaced})


@dataclass(frozen=True)
class Film:
    """Frames, and what a reader needs to understand them.

    Parameters
    ----------
    title : str
        What walks.
    frames : sequence of Frame
        In the order of their steps.
    target : array of shape (n,)
        What the fit should be at the film's points.
    x : array of shape (n,), optional
        Where these points are, for a function of one variable, in ascending order. Without it the fit is shown over
        the target.
    error_name : str
        Name of the frames' error.
    about : str
        Where the walk comes from: seed, commit, seconds. Shown when a reader points at the error curve.
    inputs : sequence of str, optional
        Names of the inputs, for the axes of the frequencies. Of several inputs the two are shown along which the last
        frame's frequencies spread most.

    Examples
    --------
    >>> frame = Frame(0, np.zeros((2, 1)), np.ones(2), np.zeros(3), 1.0)
    >>> film = Film("A walk", [frame, frame._replace(step=1)], np.zeros(3), np.arange(3.0))
    >>> film.html()[:21], "Step" in film.html()
    ('<section class="film"', True)
    """

    title: str
    frames: Sequence[Frame]
    target: np.ndarray
    x: np.ndarray | None = None
    error_name: str = "error"
    about: str = ""
    inputs: Sequence[str] | None = None

    def html(self) -> str:
        """The fragment for a `Page`: its controls, its data, and the script that moves it."""
        title, last = html.escape(self.title), len(self.frames) - 1
        return (
            f'<section class="film" aria-label="{title}" tabindex="0"><h3>{title}</h3>'
            '<div class="controls"><button type="button">Play</button>'
            f'<input type="range" min="0" max="{last}" value="0" step="1" aria-label="Step of the walk">'
            "<output></output></div>"
            '<div class="scenes"></div>'
            '<p class="keys">Keys: left and right arrow for one frame, Home and End for the first and the last, Space '
            "to play and pause. A click on the error's curve goes there.</p>"
            f"<noscript>The film needs JavaScript: {html.escape(self._told())}</noscript>"
            f'<script type="application/json">{self._data()}</script></section>'
            f"<script>{asset('film.js')}</script>"
        )

    def _told(self) -> str:
        first, last = self.frames[0], self.frames[-1]
        return f"{self.error_name} {first.error:.3g} at step {first.step}, {last.error:.3g} at step {last.step}."

    def _data(self) -> str:
        axes = self._axes()
        values = {
            "error_name": self.error_name,
            "about": self.about,
            "names": [self._axis_name(axis) for axis in axes],
            "x": None if self.x is None else _short(self.x),
            "target": _short(self.target),
            "frames": [_plain(frame, axes) for frame in self.frames],
        }
        return json.dumps(values, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")

    def _axes(self) -> list[int]:
        """The one or two components of the frequencies that are shown."""
        spread = np.std(self.frames[-1].frequencies, axis=0)
        return sorted(np.argsort(-spread, kind="stable")[:2].tolist())

    def _axis_name(self, axis: int) -> str:
        if self.inputs is not None:
            return f"ω of {self.inputs[axis]}"
        return "ω" if self.frames[0].frequencies.shape[1] == 1 else f"ω{str(axis + 1).translate(_SUBSCRIPTS)}"


_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def _plain(frame: Frame, axes: Sequence[int]) -> dict[str, Any]:
    modulus = np.abs(frame.amplitudes)
    values = {
        "step": int(frame.step),
        "error": float(f"{frame.error:.4g}"),
        "first": _short(frame.frequencies[:, axes[0]]),
        "amplitudes": _short(modulus if modulus.ndim == 1 else np.linalg.norm(modulus, axis=1)),
        "fit": _short(frame.fit),
    }
    return values if len(axes) == 1 else {**values, "second": _short(frame.frequencies[:, axes[1]])}


def _short(values: np.ndarray) -> list[float]:
    """Four digits: more than a screen can show."""
    return [float(f"{value:.4g}") for value in np.asarray(values, dtype=float).ravel()]
