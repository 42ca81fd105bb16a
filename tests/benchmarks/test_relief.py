"""The relief of the Earth at toy sizes, from a file like the real one."""

import gzip
import json

import numpy as np
import pytest
import scipy.io

from fourierwalk import cli
from fourierwalk.benchmarks.relief import Relief

LONGITUDES, LATITUDES = np.linspace(0, 360, 320), np.linspace(-90, 90, 161)
HEIGHTS = 3000 * np.cos(np.radians(LONGITUDES))[None, :] * np.cos(np.radians(LATITUDES))[:, None]


@pytest.fixture(params=["plain", "packed"])
def folder(request, tmp_path):
    path = tmp_path / "etopo5.cdf"
    with scipy.io.netcdf_file(path, "w") as file:
        for name, values in (("Y", LATITUDES), ("X", LONGITUDES)):
            file.createDimension(name, values.size)
            file.createVariable(name, "d", (name,))[:] = values
        file.createVariable("ROSE", "f", ("Y", "X"))[:] = HEIGHTS
    if request.param == "packed":
        (tmp_path / "etopo5.cdf.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    return tmp_path


def test_the_file_is_read(folder):
    relief = Relief.read(folder)
    assert np.allclose(relief.heights, HEIGHTS, atol=1e-3)
    assert np.array_equal(relief.places[321], np.float32([LONGITUDES[1], LATITUDES[1]]))
    assert relief.thinned(3).heights.shape == (54, 107)


def test_fits_and_their_picture(folder):
    out = folder / "out"
    asked = ["--only", "relief", "--shrink", "25", "--data-dir", str(folder), "--out", str(out)]
    assert cli.main(["bench", *asked]) == 0
    figures = json.loads((out / "bench.json").read_text(encoding="utf-8"))["parts"]["relief"]["figures"]
    left = [figure["value"] for figure in figures if "variance" in figure["what"]]
    assert len(left) == 3
    assert left[-1] < 0.1
    assert (out / "relief.png").stat().st_size > 5000


def test_a_missing_file_is_told(tmp_path, capsys):
    assert cli.main(["bench", "--only", "relief"]) == 2
    assert "--data-dir must be a folder with etopo5.cdf or etopo5.cdf.gz, got none." in capsys.readouterr().err
    assert cli.main(["bench", "--only", "relief", "--data-dir", str(tmp_path)]) == 2
