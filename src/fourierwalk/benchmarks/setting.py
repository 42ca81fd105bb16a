"""Where and how large a benchmark runs, and how it is timed."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fourierwalk.arrays.products import product
from fourierwalk.paper.cases import CASES, Case, at_scale, on_digits
from fourierwalk.paper.data import Realisation, split
from fourierwalk.paper.place import Place

MODES = ("double", "single", "tf32", "bf16")


@dataclass(frozen=True)
class Setting:
    """Where and how large a benchmark runs."""

    device: Any
    shrink: int
    data_dir: str | None
    out: Path = Path()

    @classmethod
    def on(cls, device: str, shrink: int, data_dir: str | None, out: Path = Path()) -> Setting:
        """On a device that is there."""
        Place(device).put(np.zeros(1))  # or a sentence that says what is missing
        return cls(device, shrink, data_dir, out)

    def picture(self, name: str) -> Path:
        """The path of a picture beside the results."""
        self.out.mkdir(parents=True, exist_ok=True)
        return self.out / name

    def wait(self) -> None:
        """Wait until the device is done."""
        import torch

        if torch.device(self.device).type == "cuda":
            torch.cuda.synchronize(self.device)

    def seconds(self, function: Callable[[], Any], repeats: int = 5) -> float:
        """The median of a few timings after one unmeasured call."""
        times = []
        for _ in range(repeats + 1):
            self.wait()
            start = time.perf_counter()
            function()
            self.wait()
            times.append(time.perf_counter() - start)
        return statistics.median(times[1:])

    def tensor(self, values: np.ndarray) -> Any:
        """Values on the device."""
        import torch

        return torch.as_tensor(values, device=self.device)

    def placed(self, values: np.ndarray) -> Any:
        """Values as a tensor on a GPU; unchanged on a CPU."""
        return values if self.device == "cpu" else self.tensor(values)

    def described(self) -> dict[str, Any]:
        """The device, its driver and its libraries."""
        import torch

        if torch.device(self.device).type != "cuda":
            return {"name": str(self.device), "torch": torch.__version__}
        properties = torch.cuda.get_device_properties(self.device)
        asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        try:
            driver = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
        except OSError:
            driver = ""
        return {
            "name": properties.name,
            "memory_gb": round(properties.total_memory / 1e9, 1),
            "driver": driver.splitlines()[0] if driver else "unknown",
            "cuda": torch.version.cuda,
            "torch": torch.__version__,
        }

    @cached_property
    def images(self) -> Case:
        """MNIST at paper scale; scikit-learn's digits for toy sizes."""
        case = at_scale(CASES["case4"], "paper")
        return case if self.shrink == 1 else on_digits(case)

    @cached_property
    def rows(self) -> Realisation:
        """The images on the device."""
        return self.place.put_all(split(self.images, 0, self.data_dir))

    @property
    def place(self) -> Place:
        """Where cells of the paper are computed."""
        return Place(str(self.device), self.data_dir) if self.shrink == 1 else _Toy(self.device, None)

    @property
    def device_of_fits(self) -> str | None:
        """The estimators' `device`."""
        return None if str(self.device) == "cpu" else str(self.device)

    @cached_property
    def peaks(self) -> dict[str, float]:
        """Operations a second of a large square product, by precision, as (n, n) times (n, n)."""
        import torch

        found: dict[str, float] = {}
        for mode in MODES:
            n = (8192 if mode == "double" else 16384) // self.shrink
            kind = {"double": torch.float64, "bf16": torch.bfloat16}.get(mode, torch.float32)
            square = torch.randn((n, n), device=self.device).to(kind)
            for other in (square, square.mT):  # in either order of memory
                seconds = self.seconds(lambda a=square, b=other, m=mode: product(a, b, m), 3)  # type: ignore[misc]
                found[mode] = max(found.get(mode, 0.0), 2.0 * n**3 / seconds)
        return found


class _Toy(Place):
    """Puts tensors on the device of the benchmark."""

    def put(self, values: np.ndarray) -> Any:
        """The values on the device."""
        import torch

        return torch.as_tensor(values, device=self.device)
