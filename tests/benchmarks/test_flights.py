"""Flights from a Parquet file like the real one, beside LightGBM."""

import json

import numpy as np
import pytest

from fourierwalk import cli
from fourierwalk.benchmarks.flights import INPUTS, Flights

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
PLACES = {"AAA": (10.0, -80.0), "BBB": (40.0, -100.0), "CCC": (60.0, -120.0)}


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    n = 3000
    minutes = np.sort(rng.integers(0, 180 * 1440, n))
    origin, destination = (rng.choice(list(PLACES), n) for _ in range(2))
    delay = np.round(20 * np.sin(minutes % 1440 / 1440 * 2 * np.pi) + 10 * (origin == "AAA")).astype(np.int64)
    columns = {
        "date": (np.datetime64("2001-01-01", "m") + minutes).astype("datetime64[us]"),
        "delay": delay,
        "distance": rng.integers(100, 3000, n),
        "origin": pa.array(origin.tolist(), pa.large_string()),
        "destination": pa.array(destination.tolist(), pa.large_string()),
    }
    parquet.write_table(pa.table(columns), tmp_path / "flights-3m.parquet", row_group_size=700)
    lines = [f"{name},{latitude},{longitude}" for name, (latitude, longitude) in PLACES.items()]
    (tmp_path / "airports.csv").write_text("\n".join(["iata,latitude,longitude", *lines]), encoding="utf-8")
    return tmp_path


def test_inputs_are_those_of_the_file(folder):
    flights = Flights.read(folder)
    table = parquet.read_table(folder / "flights-3m.parquet").to_pydict()
    (x, y), codes = flights.whole(), flights.codes()
    new_x, new_y = Flights(flights.path, flights.places, is_test=True).whole()
    assert len(y) + len(new_y) == 3000
    assert 200 < len(new_y) < 400
    assert x.shape[1] == len(INPUTS)
    both = {tuple(row) for row in np.concatenate([x, y[:, None]], axis=1)}
    for i in (0, 1234, 2999):
        day = table["date"][i]
        place = [*PLACES[table["origin"][i]], *PLACES[table["destination"][i]]]
        row = [day.timetuple().tm_yday - 1, day.weekday(), day.hour + day.minute / 60, table["distance"][i], *place]
        assert (*np.float32(row), table["delay"][i]) in both or np.any(np.all(new_x == np.float32(row), axis=1))
    assert np.array_equal(np.array(list(PLACES.values()), dtype=np.float32)[codes[:, 0]], x[:, 4:6])


def test_errors_stand_beside_those_of_lightgbm(folder, tmp_path):
    pytest.importorskip("lightgbm")
    asked = ["bench", "--only", "flights", "--data-dir", str(folder), "--out", str(tmp_path / "out")]
    assert cli.main(asked) == 0
    part = json.loads((tmp_path / "out" / "bench.json").read_text(encoding="utf-8"))["parts"]["flights"]
    errors = {figure["case"]: figure["value"] for figure in part["figures"] if "square" in figure["what"]}
    mean, peer, peer_with_codes, ours = errors.values()
    assert max(peer, peer_with_codes) < 0.3 * mean
    assert ours < 0.5 * mean


def test_missing_files_are_told(tmp_path, capsys):
    assert cli.main(["bench", "--only", "flights", "--data-dir", str(tmp_path)]) == 2
    said = "--data-dir must be a folder with flights-3m.parquet and airports.csv, got none with flights-3m.parquet."
    assert said in capsys.readouterr().err
