"""The relief of the Earth, ETOPO5: heights and depths at every twelfth of a degree, fitted as a function of place.

The file is ``etopo5.cdf`` of the Debian package ferret-datasets, as it is or compressed with gzip.
"""

from __future__ import annotations

import gzip
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.io

from fourierwalk.arrays.library import to_host
from fourierwalk.benchmarks.figures import Clock, Figure
from fourierwalk.benchmarks.setting import Setting
from fourierwalk.chunks import Sliced
from fourierwalk.data.hashes import below, place_hash
from fourierwalk.estimators import AdaptiveFourierRegressor
from fourierwalk.reporting.plots import new_figure

FILE = "etopo5.cdf"
WIDTHS = (64, 256, 1024, 4096)
MOST_ON_CPU = 1024
"""The widest model that is fitted on a CPU: a step with 4,096 frequencies takes half a minute on two cores."""

HELD_OUT = 0.02
"""The share of heights that no fit sees."""

DRAWN = 720
"""Points of a picture along the equator, at most."""


class Relief(NamedTuple):
    """Heights in metres, (latitudes, longitudes), and the two axes in degrees."""

    heights: np.ndarray
    latitudes: np.ndarray
    longitudes: np.ndarray

    @classmethod
    def read(cls, folder: str | Path | None) -> Relief:
        """The relief from its file."""
        if folder is None:
            raise ValueError(f"--data-dir must be a folder with {FILE} or {FILE}.gz, got none.")
        plain, packed = Path(folder) / FILE, Path(folder) / f"{FILE}.gz"
        if not plain.exists() and not packed.exists():
            raise ValueError(f"--data-dir must be a folder with {FILE} or {FILE}.gz, got {Path(folder).name!r}.")
        with plain.open("rb") if plain.exists() else gzip.open(packed, "rb") as file:
            variables = scipy.io.netcdf_file(file, "r", mmap=False).variables
            names = [name for name, variable in variables.items() if len(variable.shape) == 2]
            heights = variables[names[0]]
            axes = [np.array(variables[name].data, dtype=np.float64) for name in heights.dimensions]
            return cls(np.array(heights.data, dtype=np.float64), *axes)

    def thinned(self, step: int) -> Relief:
        """Every step-th latitude and longitude."""
        return Relief(self.heights[::step, ::step], self.latitudes[::step], self.longitudes[::step])

    @property
    def places(self) -> np.ndarray:
        """Longitude and latitude of each height, (n, 2), in single precision."""
        grid = np.meshgrid(self.longitudes, self.latitudes)
        return np.stack([axis.ravel() for axis in grid], axis=1).astype(np.float32)


def bench_relief(setting: Setting) -> Iterator[Figure]:
    """Default fits of 64 to 4,096 frequencies: seconds, and the error at heights that no fit has seen."""
    relief = Relief.read(setting.data_dir).thinned(max(1, round(setting.shrink**0.5)))
    x, y = relief.places, relief.heights.ravel()
    is_new = below(place_hash(0, len(y), seed=1), HELD_OUT)
    rows = Sliced(setting.placed(x[~is_new]), setting.placed(y[~is_new]))
    most = MOST_ON_CPU if setting.device == "cpu" else max(WIDTHS)
    models = {}
    for width in sorted({max(4, width // setting.shrink) for width in WIDTHS if width <= most}):
        case, clock = f"relief of the Earth, {len(y):,} heights, K = {width}", Clock()
        models[width] = AdaptiveFourierRegressor(width, random_state=0).fit(rows)
        yield from clock.figures(case)
        error = float(np.sqrt(np.mean((_values(models[width], setting, x[is_new]) - y[is_new]) ** 2)))
        yield Figure(case, "root mean square error in metres, heights held out", error)
        yield Figure(case, "share of the variance that is left", float(error**2 / np.var(y[is_new])))
        if importlib.util.find_spec("matplotlib") is not None:
            _drawn(relief, models, setting).savefig(setting.picture("relief.png"), dpi=110, metadata={"Software": None})


def _values(model: Any, setting: Setting, x: np.ndarray) -> np.ndarray:
    """The model's values, computed where it was fitted."""
    return to_host(model.predict(setting.placed(x)))


def _drawn(relief: Relief, models: dict[int, Any], setting: Setting) -> Any:
    """The relief, and what the narrowest, a middle and the widest model make of it."""
    small = relief.thinned(max(1, len(relief.longitudes) // DRAWN))
    chosen = sorted({min(models), sorted(models)[len(models) // 2], max(models)})
    maps = {"measured": small.heights}
    for width in chosen:
        maps[f"K = {width:,}"] = _values(models[width], setting, small.places).reshape(small.heights.shape)
    figure, axes = new_figure(len(maps), 5.0, 3.0)
    extent = (*small.longitudes[[0, -1]], *small.latitudes[[0, -1]])
    for axis, (name, values) in zip(axes, maps.items(), strict=True):
        drawn = axis.imshow(values, origin="lower", extent=extent, cmap="RdYlBu_r", vmin=-6000, vmax=6000)
        axis.set(title=name, xlabel="longitude")
    axes[0].set(ylabel="latitude")
    figure.colorbar(drawn, ax=axes[-1], label="metres", shrink=0.6)
    return figure


BENCHES: dict[str, Callable[[Setting], Iterator[Figure]]] = {"relief": bench_relief}
