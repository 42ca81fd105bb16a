"""``export`` through the real command line."""

import json

import numpy as np
import pandas as pd
import pytest
from exported import X, Y, assert_close, compiled, feeds, run_c, run_onnx
from program import run
from spreadsheets import houses
from tables import OnlyCosines

import fourierwalk
from fourierwalk import AdaptiveFourierRegressor, cli

onnx = pytest.importorskip("onnx")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of a table, and one of an array."""
    folder = tmp_path_factory.mktemp("models")
    houses(folder / "h.csv")
    assert cli.main(["fit", str(folder / "h.csv"), "--out", str(folder / "h.fw"), "--frequencies", "8", "--quiet"]) == 0
    AdaptiveFourierRegressor(8, sampler="fixed", random_state=0).fit(X, Y).save(folder / "m.fw")
    return folder


def test_a_table_becomes_onnx(folder):
    assert "Written: h.onnx, " in run("export", "h.fw", "--out", "h.onnx", folder=folder).stdout
    model = fourierwalk.load(folder / "h.fw")
    rows = pd.DataFrame({name: [] for name in model.feature_names_in_})
    assert list(rows) == [each.name for each in onnx.load(folder / "h.onnx").graph.input]
    run("predict", "h.fw", "h.csv", "--out", "p.csv", "--quiet", folder=folder)
    expected = pd.read_csv(folder / "p.csv").iloc[:, -1].to_numpy()
    table = pd.read_csv(folder / "h.csv", thousands=",", parse_dates=["sold"], keep_default_na=True)
    table["garden"] = table["garden"].astype(bool)
    rows = table[list(model.feature_names_in_)]
    found = run_onnx(onnx.load(folder / "h.onnx"), feeds(model, rows))["variable"][:, 0]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_c_header_and_its_options(folder, tmp_path):
    told = json.loads(run("export", "m.fw", "--out", "2 sines.h", "--json", folder=folder).stdout)
    text = (folder / "2 sines.h").read_text()
    assert told == {"file": "2 sines.h", "bytes": len(text)}
    library = compiled(text, tmp_path, "_2_sines")
    assert_close(run_c(library, X, 1)[0], fourierwalk.load(folder / "m.fw").predict(X))
    run("export", "m.fw", "--out", "r.h", "--name", "sines", "--readable", "--quiet", folder=folder)
    assert "static const double sines_constants[" in (folder / "r.h").read_text()


def test_single_precision(folder):
    run("export", "m.fw", "--out", "f.onnx", "--float32", "--quiet", folder=folder)
    found = run_onnx(onnx.load(folder / "f.onnx"), {"X": X.astype(np.float32)})["variable"]
    assert found.dtype == np.float32


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["m.fw", "--out", "m.pt"], "--out must end in .onnx or .h, got m.pt."),
        (["m.fw", "--out", "m.onnx", "--readable"], "--readable must be given with .h alone, got m.onnx."),
        (["m.fw", "--out", "m.h", "--float32"], "--float32 must be given with .onnx alone, got m.h."),
        (["m.fw", "--out", "m.h", "--name", "a-b"], "name must be a name in C"),
        (["nothing.fw", "--out", "m.h"], "The model file nothing.fw is not there."),
        (["h.csv", "--out", "m.h"], "h.csv is no model file of ours"),
    ],
)
def test_what_is_wrong_is_one_sentence(folder, arguments, said):
    done = run("export", *arguments, folder=folder, code=2)
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(folder.glob("m.*[!w]"))


def test_a_folder_that_cannot_be_written_is_one_sentence(folder):
    assert "cannot be written" in run("export", "m.fw", "--out", "m.fw/m.h", folder=folder, code=3).stderr


def test_without_onnx_the_extra_is_named(folder, monkeypatch, capsys):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    assert cli.main(["export", str(folder / "m.fw"), "--out", str(folder / "x.onnx")]) == 2
    assert "to_onnx needs onnx: pip install 'fourierwalk[onnx]'." in capsys.readouterr().err
    assert not (folder / "x.onnx").exists()


def test_features_without_an_export_have_no_file_either(tmp_path):
    model = AdaptiveFourierRegressor(8, sampler="fixed", features=OnlyCosines(), random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="OnlyCosines"):
        model.save(tmp_path / "m.fw")
