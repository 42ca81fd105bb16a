"""A fit that is killed at a random moment and run again is the fit that was never killed, bit for bit."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import killed
import pytest

PROGRAM = Path(killed.__file__)


def started(case, folder, library):
    command = [sys.executable, str(PROGRAM), case, str(folder / "fit.fw"), str(folder / "out.json"), library]
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **threads})
    assert process.stdout.readline() == "ready\n"
    return process


def killed_until_done(case, folder, chance, library, most):
    """Kill the fit again and again, each time after a random time, until it is done; the number of kills."""
    kills = 0
    while not (folder / "out.json").exists():
        process = started(case, folder, library)
        if kills < most:
            time.sleep(chance.uniform(0.02, 0.6))
            process.kill()
            kills += process.wait() != 0
        else:
            assert process.wait() == 0
        process.stdout.close()
    return kills


def check(case, folder, seed, library="numpy", most=20):
    kills = killed_until_done(case, folder, random.Random(seed), library, most)
    result = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    whole = killed.told(killed.fitted(case, library=library))
    assert {name: result[name] for name in whole} == whole
    assert sorted(path.name for path in folder.iterdir() if path.suffix == ".part") == []
    return kills


@pytest.mark.parametrize("case", ["auto", "algorithm 2", "descent"])
def test_a_killed_fit_goes_on_bit_for_bit(case, tmp_path):
    assert check(case, tmp_path, 1, most=3) > 0


@pytest.mark.stress
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("case", killed.CASES)
def test_killed_fits_of_every_sampler_go_on_bit_for_bit(case, seed, tmp_path):
    check(case, tmp_path, seed)


@pytest.mark.stress
@pytest.mark.parametrize("case", ["auto", "algorithm 2"])
def test_killed_fits_of_tensors_go_on_bit_for_bit(case, tmp_path):
    pytest.importorskip("torch")
    check(case, tmp_path, 7, "torch")
