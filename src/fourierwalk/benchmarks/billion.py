"""Fits on a billion rows that are made block by block on the device, and not kept: seconds by phase, memory, error."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from fourierwalk.arrays.library import is_remote
from fourierwalk.benchmarks.figures import Figure
from fourierwalk.benchmarks.setting import Setting
from fourierwalk.estimators import AdaptiveFourierRegressor

N_ROWS = 1_000_000_000
BLOCK_ROWS = 10_000_000
N_TEST = 1_000_000
TEST_SEED = 2**31


@dataclass(frozen=True)
class Target:
    """A function of inputs that are uniform on [0, 1]^d, and the standard deviation of the noise of its values."""

    name: str
    n_inputs: int
    noise: float
    function: Callable[[Any], Any]  # from inputs as doubles, (n, d), to values, (n,)


def plane_wave(x: Any) -> Any:
    """cos(2π(4x₁ + 3x₂) + 1.3)."""
    import torch

    return torch.cos(2 * math.pi * (4 * x[:, 0] + 3 * x[:, 1]) + 1.3)


def friedman(x: Any) -> Any:
    """Friedman's first function, of which the last of the inputs are irrelevant."""
    import torch

    product = torch.sin(math.pi * x[:, 0] * x[:, 1])
    return 10 * product + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]


PLANE_WAVE = Target("cos(2π(4x₁ + 3x₂) + 1.3) + N(0, 0.1²)", 2, 0.1, plane_wave)
FRIEDMAN = Target("10 sin(πx₁x₂) + 20(x₃ − ½)² + 10x₄ + 5x₅ + N(0, 1)", 9, 1.0, friedman)


@dataclass(frozen=True)
class Pass:
    """When a pass over the blocks began and ended, in seconds of a clock."""

    start: float
    end: float

    @property
    def seconds(self) -> float:
        """How long the pass took."""
        return self.end - self.start


@dataclass
class Made:
    """Blocks of rows that are made on the device whenever they are asked for: the same ones in every pass.

    Block i is drawn by torch's generator of the device with the seed i: inputs first, in single precision, then the
    noise. `passes` records when each pass began and ended.
    """

    target: Target
    n_rows: int
    block_rows: int
    setting: Setting
    passes: list[Pass] = field(default_factory=list)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        start = time.perf_counter()
        for index, first in enumerate(range(0, self.n_rows, self.block_rows)):
            yield self.block(index, min(self.block_rows, self.n_rows - first))
        self.setting.wait()
        self.passes.append(Pass(start, time.perf_counter()))

    def block(self, seed: int, n_rows: int, with_noise: bool = True) -> tuple[Any, Any]:
        """Inputs in single precision, and targets in double."""
        import torch

        device = self.setting.device
        rng = torch.Generator(device).manual_seed(seed)
        x = torch.rand((n_rows, self.target.n_inputs), generator=rng, device=device)
        y = self.target.function(x.to(torch.float64))
        if with_noise:
            y += self.target.noise * torch.randn(n_rows, generator=rng, device=device, dtype=torch.float64)
        return x, y

    def generation_seconds(self) -> float:
        """The seconds of a pass that makes the blocks and does nothing with them."""
        for _ in self:
            pass
        return self.passes.pop().seconds


def bench_plane_wave(setting: Setting) -> list[Figure]:
    """10⁹ rows of two inputs: a default fit, then the amplitudes of all its frequencies together at a smaller λ.

    The default may average models that were each fitted alone, and its λ is at least a 10⁷th of the largest eigenvalue.
    With so many rows one model of all frequencies and a smaller λ are better: a fit with ``sampler="fixed"`` does it.
    """
    blocks = Made(PLANE_WAVE, N_ROWS // setting.shrink, BLOCK_ROWS, setting)
    n_frequencies = 64
    learnt = MeasuredBlocks(blocks, setting)
    first = learnt.fit(AdaptiveFourierRegressor(n_frequencies, random_state=0))
    settings: dict[str, Any] = {"sampler": "fixed", "initial": first.frequencies_, "regularization": 1e-9}
    model = learnt.fit(AdaptiveFourierRegressor(n_frequencies, random_state=0, **settings))
    case = f"{blocks.n_rows:,} rows, d = 2, K = {n_frequencies}: {PLANE_WAVE.name}"
    return [
        Figure(case, "seconds of both fits, generation counted", learnt.seconds, 60.0),
        *learnt.phases(case),
        *learnt.memory(case, 24.0),
        Figure(case, "error against the truth of the default fit, root mean square", learnt.error(first)),
        Figure(case, "error against the truth, root mean square", learnt.error(model), 1e-4),
    ]


def bench_nine_inputs(setting: Setting) -> list[Figure]:
    """10⁹ rows of nine inputs in single precision, n_frequencies=1024 and all else by default."""
    blocks = Made(FRIEDMAN, N_ROWS // setting.shrink, BLOCK_ROWS, setting)
    n_frequencies = max(16, 1024 // setting.shrink)
    learnt = MeasuredBlocks(blocks, setting)
    model = learnt.fit(AdaptiveFourierRegressor(n_frequencies, random_state=0))
    case = f"{blocks.n_rows:,} rows, d = 9, K = {n_frequencies}: {FRIEDMAN.name}"
    return [
        Figure(case, "seconds of the fit, generation counted", learnt.seconds, 480.0),
        *learnt.phases(case),
        *learnt.memory(case, None),
        Figure(case, "error against the truth, root mean square", learnt.error(model)),
        Figure(case, "standard deviation of the truth", learnt.deviation()),
    ]


@dataclass
class MeasuredBlocks:
    """Fits on some blocks: seconds, phases, memory on the device and errors."""

    blocks: Made
    setting: Setting
    spans: list[Pass] = field(default_factory=list)

    def fit(self, model: Any) -> Any:
        """The fitted model."""
        self._forget_peak()
        start = time.perf_counter()
        model.fit(self.blocks)
        self.setting.wait()
        self.spans.append(Pass(start, time.perf_counter()))
        return model

    @property
    def seconds(self) -> float:
        """The seconds of all fits."""
        return sum(span.seconds for span in self.spans)

    def phases(self, case: str) -> list[Figure]:
        """The seconds of each pass over the rows, of what is between the passes, and of making the rows."""
        figures = []
        for number, span in enumerate(self.spans, 1):
            own = [each for each in self.blocks.passes if span.start <= each.start and each.end <= span.end]
            names = ("checks and means", "the sample", *(f"sums, pass {i}" for i in range(1, len(own) - 1)))
            which = f"fit {number}: " if len(self.spans) > 1 else ""
            figures += [
                Figure(case, f"{which}seconds of {name}", each.seconds) for name, each in zip(names, own, strict=True)
            ]
            rest = span.seconds - sum(each.seconds for each in own)
            figures.append(Figure(case, f"{which}seconds of learning on the sample, and all else", rest))
        return [*figures, Figure(case, "seconds of making all rows once", self.blocks.generation_seconds())]

    def memory(self, case: str, most: float | None) -> list[Figure]:
        """The peak of the memory that torch took from the device, with what it held for reuse; nothing on a CPU."""
        import torch

        if not self._is_on_gpu:
            return []
        peak = torch.cuda.max_memory_reserved(self.setting.device) / 1e9
        used = torch.cuda.max_memory_allocated(self.setting.device) / 1e9
        return [
            Figure(case, "GB of memory on the device, taken by torch", peak, most),
            Figure(case, "GB of memory on the device, in use at the same time", used),
        ]

    def error(self, model: Any) -> float:
        """The root mean square of the error against the truth at new rows."""
        x, truth = self.blocks.block(TEST_SEED, N_TEST, with_noise=False)
        return float(((model.predict(x) - truth) ** 2).mean() ** 0.5)

    def deviation(self) -> float:
        """The standard deviation of the truth at new rows."""
        return float(self.blocks.block(TEST_SEED, N_TEST, with_noise=False)[1].std())

    @property
    def _is_on_gpu(self) -> bool:
        return is_remote(self.blocks.block(0, 1)[0])

    def _forget_peak(self) -> None:
        import torch

        if self._is_on_gpu and not self.spans:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats(self.setting.device)


BENCHES: dict[str, Callable[[Setting], list[Figure]]] = {
    "billion-2d": bench_plane_wave,
    "billion-9d": bench_nine_inputs,
}
