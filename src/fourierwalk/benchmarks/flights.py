"""Three million flights of 2001: the delay from date, time, distance and airports, read from a Parquet file by blocks.

The files are ``flights-3m.parquet`` and ``airports.csv`` of the npm package vega-datasets.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fourierwalk.benchmarks.figures import Clock, Figure
from fourierwalk.benchmarks.setting import Setting
from fourierwalk.data.hashes import below, place_hash
from fourierwalk.estimators import AdaptiveFourierRegressor

FLIGHTS, AIRPORTS = "flights-3m.parquet", "airports.csv"
INPUTS = (
    "day",
    "weekday",
    "hour",
    "distance",
    *(f"{what} of {end}" for end in ("origin", "destination") for what in ("latitude", "longitude")),
)
HELD_OUT = 0.1
"""The share of flights that no fit sees."""

TREES = 500
"""LightGBM's trees, as in ``fourierwalk compare``."""


@dataclass(frozen=True)
class Flights:
    """Flights in the row groups of a Parquet file: blocks of inputs and delays that are read anew in every pass.

    Parameters
    ----------
    path : Path
        The Parquet file.
    places : dict
        Latitude and longitude of each airport.
    shrink : int
        Only one flight in so many is used.
    is_test : bool
        Whether these are the flights held out, or all others.
    """

    path: Path
    places: dict[str, tuple[float, float]]
    shrink: int = 1
    is_test: bool = False

    @classmethod
    def read(cls, folder: str | Path | None, shrink: int = 1) -> Flights:
        """The flights of a folder."""
        missing = [name for name in (FLIGHTS, AIRPORTS) if folder is None or not (Path(folder) / name).exists()]
        if missing:
            raise ValueError(f"--data-dir must be a folder with {FLIGHTS} and {AIRPORTS}, got none with {missing[0]}.")
        with (Path(folder) / AIRPORTS).open(encoding="utf-8", newline="") as file:  # type: ignore[arg-type]
            places = {row["iata"]: (float(row["latitude"]), float(row["longitude"])) for row in csv.DictReader(file)}
        return cls(Path(folder) / FLIGHTS, places, shrink)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for table, chosen in self._groups():
            yield self._inputs(table, chosen), _numbers(table, "delay")[chosen].astype(np.float64)

    def codes(self) -> np.ndarray:
        """The airports of origin and destination as numbers, (n, 2), in the order of the blocks."""
        order = {name: code for code, name in enumerate(sorted(self.places))}
        groups = [
            [_coded(table, end, order)[chosen] for end in ("origin", "destination")] for table, chosen in self._groups()
        ]
        return np.concatenate([np.stack(group, axis=1) for group in groups])

    def whole(self) -> tuple[np.ndarray, np.ndarray]:
        """All inputs and delays in memory, as a peer needs them."""
        blocks = list(self)
        return np.concatenate([x for x, _ in blocks]), np.concatenate([y for _, y in blocks])

    def _groups(self) -> Iterator[tuple[Any, np.ndarray]]:
        import pyarrow.parquet

        file, start = pyarrow.parquet.ParquetFile(self.path), 0
        for group in range(file.num_row_groups):
            table = file.read_row_group(group)
            is_used = below(place_hash(start, table.num_rows, seed=2), 1 / self.shrink)
            is_new = below(place_hash(start, table.num_rows, seed=1), HELD_OUT)
            start += table.num_rows
            yield table, np.flatnonzero(is_used & (is_new == self.is_test))

    def _inputs(self, table: Any, chosen: np.ndarray) -> np.ndarray:
        minutes = table.column("date").to_numpy().astype("datetime64[m]")[chosen].astype(np.int64)
        days = minutes // 1440
        columns = [days - days_of(2001), (days + 3) % 7, minutes % 1440 / 60, _numbers(table, "distance")[chosen]]
        located = np.array([self.places[name] for name in sorted(self.places)])
        order = {name: code for code, name in enumerate(sorted(self.places))}
        for end in ("origin", "destination"):
            columns += list(located[_coded(table, end, order)[chosen]].T)
        return np.stack(columns, axis=1).astype(np.float32)


def days_of(year: int) -> int:
    """The number of days from 1970 to a year; the first of January 1970 was a Thursday."""
    return int(np.datetime64(f"{year}-01-01", "D").astype(np.int64))


def _numbers(table: Any, name: str) -> np.ndarray:
    return table.column(name).to_numpy()


def _coded(table: Any, name: str, order: dict[str, int]) -> np.ndarray:
    """The codes of a column of airports."""
    coded = table.column(name).combine_chunks().dictionary_encode()
    return np.array([order[each] for each in coded.dictionary.to_pylist()])[coded.indices.to_numpy()]


def bench_flights(setting: Setting) -> Iterator[Figure]:
    """A default fit out of core, and LightGBM with 500 trees in memory: seconds, and errors on the same new flights."""
    flights = Flights.read(setting.data_dir, setting.shrink)
    new = replace(flights, is_test=True)
    x_new, y_new = new.whole()
    delays = flights.whole()[1]
    case = f"{len(delays):,} flights, {len(INPUTS)} inputs"
    yield from _errors(f"{case}: the mean", np.full(len(y_new), delays.mean()), y_new)
    yield from _boosted(f"{case}: LightGBM", flights, new, with_codes=False)
    yield from _boosted(f"{case} and airports as categories: LightGBM", flights, new, with_codes=True)
    clock = Clock()
    model = AdaptiveFourierRegressor(random_state=0).fit(flights)
    ours = f"{case}: default fit out of core, K = {model.n_frequencies_}"
    yield from clock.figures(ours)
    yield from _errors(ours, model.predict(x_new), y_new)


def _boosted(case: str, flights: Flights, new: Flights, with_codes: bool) -> list[Figure]:
    """LightGBM's seconds, reading counted, and its errors."""
    from lightgbm import LGBMRegressor

    clock = Clock()
    x, y = flights.whole()
    options: dict[str, Any] = {}
    if with_codes:
        x = np.concatenate([x, flights.codes()], axis=1)
        options["categorical_feature"] = [len(INPUTS), len(INPUTS) + 1]
    peer = LGBMRegressor(n_estimators=TREES, verbose=-1, random_state=0).fit(x, y, **options)
    figures = clock.figures(case)
    x_new, y_new = new.whole()
    x_new = np.concatenate([x_new, new.codes()], axis=1) if with_codes else x_new
    return [*figures, *_errors(case, np.asarray(peer.booster_.predict(x_new)), y_new)]


def _errors(case: str, values: np.ndarray, truth: np.ndarray) -> list[Figure]:
    apart = values - truth
    return [
        Figure(case, "root mean square error in minutes, flights held out", float(np.sqrt(np.mean(apart**2)))),
        Figure(case, "mean absolute error in minutes, flights held out", float(np.mean(np.abs(apart)))),
    ]


BENCHES: dict[str, Callable[[Setting], Iterator[Figure]]] = {"flights": bench_flights}
