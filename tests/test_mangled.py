"""Thousands of damaged and forged files: a sentence or a result, no code run, nothing half-written."""

import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import mangle
import numpy as np
import pyarrow
import pytest
from program import run
from pyarrow import parquet
from spreadsheets import houses

import fourierwalk
from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierRegressor
from fourierwalk.reading import files, problem
from fourierwalk.reporting.files import write_json
from fourierwalk.reporting.provenance import provenance

RESULTS = Path(__file__).parents[1] / "results" / "stress" / "files.json"
N_FILES, N_PROCESSES = 10_000, 50
WATCHED = ("pickle.find_class", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "ctypes.dlopen")
NAMES = ("houses.fw", "plain.fw", "houses.csv", "other.csv", "rows.npz", "houses.parquet", "rows.parquet")
"""Their number is odd, so that each is damaged as well as forged."""
FORGERS = {"fw": mangle.forged, "npz": mangle.forged_npz, "parquet": mangle.forged_parquet}
EVENTS = []
sys.addaudithook(lambda event, arguments: EVENTS.append((event, arguments)) if event in WATCHED else None)


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """Files of each kind, whole."""
    folder = tmp_path_factory.mktemp("whole")
    table = houses(folder / "houses.csv", n_rows=40)
    found = problem.read(files.source(table))
    labels = np.where(found.y > np.median(found.y), "dear", "cheap")
    AdaptiveFourierRegressor(4, random_state=0).fit(found.inputs, found.y).save(folder / "houses.fw")
    AdaptiveFourierClassifier(4, random_state=0).fit(np.eye(40)[:, :3], labels).save(folder / "plain.fw")
    houses(folder / "other.csv", n_rows=20, delimiter=";", decimal=",")
    columns = dict(zip(found.inputs.names, found.inputs.columns, strict=True))
    parquet.write_table(pyarrow.table({**columns, "price": found.y}), folder / "houses.parquet")
    numbers = {f"x{i}": np.arange(30.0) % (i + 2) for i in range(3)}
    parquet.write_table(pyarrow.table({**numbers, "y": np.arange(30) % 3}), folder / "rows.parquet")
    np.savez(folder / "rows.npz", X=np.arange(60.0).reshape(20, 3), y=np.arange(20) % 3, names=["a", "b", "c"])
    return folder


def mangled(originals, seed):
    """The name of a file, and what has become of it."""
    rng = np.random.default_rng(seed)
    name = NAMES[seed % len(NAMES)]
    data = (originals / name).read_bytes()
    forge = FORGERS.get(name.partition(".")[2])
    return name, mangle.damaged(data, rng) if forge is None or seed % 2 == 0 else forge(data, rng)


def outcome(originals, folder, seed):
    """ "fine", "told", or what is wrong."""
    name, data = mangled(originals, seed)
    path = folder / name
    path.write_bytes(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numbers that overflow
            used(originals, path)
    except (ValueError, OSError) as error:
        text = str(error)
        return "told" if text.endswith(".") and "\n" not in text and len(text) < 1500 else f"no sentence: {error!r}"
    except Exception as error:
        return f"broken: {error!r}"
    return "fine"


def used(originals, path):
    """What a user does with a file."""
    if path.suffix == ".fw":
        model = fourierwalk.load(path)
        rows = np.zeros((2, model.n_features_in_)) if path.stem == "plain" else whole_table(originals)
        if hasattr(model, "predict"):
            model.predict(rows)
        return
    problem.read(files.source(path))


def whole_table(originals, known={}):  # noqa: B006  (read once)
    if originals not in known:
        known[originals] = problem.read(files.source(originals / "houses.csv")).inputs
    return known[originals]


def check(originals, folder, seeds):
    EVENTS.clear()
    outcomes = {seed: outcome(originals, folder, seed) for seed in seeds}
    assert {seed: said for seed, said in outcomes.items() if said not in ("fine", "told")} == {}
    assert EVENTS == []
    assert {*outcomes.values()} == {"fine", "told"}
    return outcomes


@pytest.mark.parametrize("name", NAMES)
def test_whole_files_are_fine(originals, name):
    used(originals, originals / name)


def test_a_tenth_of_the_files(originals, tmp_path):
    check(originals, tmp_path, range(N_FILES // 10))


@pytest.mark.stress
def test_files(originals, tmp_path):
    start = time.perf_counter()
    outcomes = check(originals, tmp_path, range(N_FILES))
    about = {**provenance("make stress"), "seeds": [0, N_FILES], "seconds": round(time.perf_counter() - start)}
    counts = {
        name: dict(Counter(said for seed, said in outcomes.items() if NAMES[seed % len(NAMES)] == name))
        for name in NAMES
    }
    write_json(RESULTS, {"provenance": about, "files": N_FILES, "outcomes": counts})


def check_command(originals, folder, seeds):
    for seed in seeds:
        name, data = mangled(originals, seed)
        (folder / name).write_bytes(data)
        out = folder / "out.csv"
        if name.endswith("fw"):
            arguments = ["predict", folder / name, originals / "houses.csv", "--out", out]
        else:
            arguments = ["fit", folder / name, "--frequencies", "2", "--out", folder / "out.fw"]
        done = run(*arguments, "--quiet", code=None)
        assert done.returncode in (0, 2), (seed, done.stderr)
        assert bool(done.stderr) == (done.returncode == 2), (seed, done.stderr)
        made = {path.name for path in folder.iterdir()} - {name}
        assert made == ({"out.csv" if name.endswith("fw") else "out.fw"} if done.returncode == 0 else set()), seed
        for path in folder.iterdir():
            path.unlink()


def test_a_tenth_through_the_command_line(originals, tmp_path):
    check_command(originals, tmp_path, range(N_PROCESSES // 10))


@pytest.mark.stress
def test_through_the_command_line(originals, tmp_path):
    check_command(originals, tmp_path, range(1000, 1000 + N_PROCESSES))


def test_code_that_is_run_would_be_seen():
    import pickle

    EVENTS.clear()
    pickle.loads(pickle.dumps(np.float64))
    assert EVENTS
