"""``predict`` through the real command line: columns by name, in blocks, whole files or none."""

import csv
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from program import COMMAND, environment, run
from spreadsheets import houses

import fourierwalk
from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierFeatures, AdaptiveFourierRegressor, cli
from fourierwalk.reading import files, problem
from fourierwalk.reading.source import BLOCK_ROWS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Houses and a model of them."""
    folder = tmp_path_factory.mktemp("predict")
    houses(folder / "houses.csv")
    found = problem.read(files.source(folder / "houses.csv"))
    AdaptiveFourierRegressor(16, random_state=0).fit(found.inputs, found.y).save(folder / "houses.fw")
    labels = np.where(found.y > np.median(found.y), "dear", "cheap")
    AdaptiveFourierClassifier(16, random_state=0).fit(found.inputs, labels).save(folder / "classes.fw")
    return folder


def column(path, name="prediction", delimiter=","):
    with path.open(newline="") as file:
        return [row[name] for row in csv.DictReader(file, delimiter=delimiter)]


def expected(folder):
    found = problem.read(files.source(folder / "houses.csv"))
    return fourierwalk.load(folder / "houses.fw").predict(found.inputs)


def test_predictions_are_those_of_the_model(folder, tmp_path):
    done = run("predict", folder / "houses.fw", folder / "houses.csv", "--out", tmp_path / "p.csv", "--json")
    assert json.loads(done.stdout) == {"rows": 300, "out": str(tmp_path / "p.csv")}
    assert "Not used: 'id', 'country', 'price in cents', 'price'." in done.stderr
    np.testing.assert_allclose(np.array(column(tmp_path / "p.csv"), float), expected(folder), rtol=1e-9)


def test_without_out_they_go_to_standard_output(folder):
    done = run("predict", folder / "houses.fw", folder / "houses.csv", "--quiet")
    assert done.stderr == ""
    np.testing.assert_allclose(np.array(done.stdout.split()[1:], float), expected(folder), rtol=1e-9)


def test_a_reader_that_has_enough_is_no_error(folder):
    program = f"{' '.join(COMMAND)} predict houses.fw houses.csv --quiet | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", program], cwd=folder, capture_output=True, text=True, env=environment(), timeout=600
    )
    assert (done.stdout, done.stderr, done.returncode) == ("prediction\n", "", 0)


def test_any_order_of_columns(folder, tmp_path):
    frame = pd.read_csv(folder / "houses.csv", dtype=str, keep_default_na=False)
    frame[["garden", "price", "sold", "town", "area"]].to_csv(tmp_path / "other.tsv", sep="\t", index=False)
    out = tmp_path / "p.tsv"
    assert cli.main(["predict", str(folder / "houses.fw"), str(tmp_path / "other.tsv"), "--out", str(out)]) == 0
    np.testing.assert_allclose(np.array(column(out), float), expected(folder), rtol=1e-9)


def test_probabilities_of_classes(folder, tmp_path):
    out = tmp_path / "p.csv"
    arguments = [str(folder / "classes.fw"), str(folder / "houses.csv"), "--out", str(out)]
    assert cli.main(["predict", *arguments, "--probabilities"]) == 0
    labels, dear, cheap = column(out), column(out, "p(dear)"), column(out, "p(cheap)")
    np.testing.assert_allclose(np.array(dear, float) + np.array(cheap, float), 1)
    assert [
        ("dear" if float(one) > float(other) else "cheap") for one, other in zip(dear, cheap, strict=True)
    ] == labels


def test_models_that_were_fitted_on_arrays_take_columns_in_order(tmp_path):
    """Also those of a second block."""
    model = AdaptiveFourierRegressor(8, random_state=0).fit(X, np.c_[X[:, 0], X[:, 1]])
    model.save(tmp_path / "m.fw")
    many = np.resize(X, (BLOCK_ROWS + 7, 3)) + np.linspace(0, 1, BLOCK_ROWS + 7)[:, None]
    np.savetxt(tmp_path / "x.csv", many, delimiter=",", header="p,q,r", comments="")
    np.savez(tmp_path / "x.npz", X=many)
    for name in ("x.csv", "x.npz"):
        out = tmp_path / "p.csv"
        assert cli.main(["predict", str(tmp_path / "m.fw"), str(tmp_path / name), "--out", str(out), "--quiet"]) == 0
        found = np.column_stack([column(out, f"prediction{i}") for i in range(2)]).astype(float)
        np.testing.assert_allclose(found, model.predict(many), rtol=1e-9)


def test_a_model_of_a_frame_predicts_a_file(tmp_path):
    frame = pd.DataFrame({"a": X[:, 0], "b": pd.Categorical(np.where(X[:, 1] > 0, "x", "y")), "c": X[:, 2] > 0})
    model = AdaptiveFourierRegressor(8, random_state=0).fit(frame, X[:, 0])
    model.save(tmp_path / "m.fw")
    frame.to_csv(tmp_path / "f.csv", index=False)
    out = tmp_path / "p.csv"
    assert cli.main(["predict", str(tmp_path / "m.fw"), str(tmp_path / "f.csv"), "--out", str(out), "--quiet"]) == 0
    np.testing.assert_allclose(np.array(column(out), float), model.predict(frame), rtol=1e-9)


FILES = {
    "fewer.csv": "area,sold\n1,2024-01-01\n",
    "words.csv": "area,town,sold,garden\n1,Graz,2024-01-01,True\n2,Graz,2024-01-02,True\nlarge,Graz,2024-01-01,True\n",
    "late.csv": "area,town,sold,garden\n1,Graz,2024-01-01,True\n2,Graz,soon,True\n",
    "short.csv": "area,town,sold,garden\n1,Graz,2024-01-01,True\n2,Graz\n",
    "none.csv": "area,town,sold,garden\n",
    "twice.csv": "area,area,town,sold,garden\n1,1,Graz,2024-01-01,True\n",
    "fine.csv": "area,town,sold,garden\n1,Graz,2024-01-01,True\n",
}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gone.fw", "fine.csv"], "The model file gone.fw is not there."),
        (["fine.csv", "fine.csv"], "fine.csv is no model file of ours"),
        (["houses.fw", "gone.csv"], "The file gone.csv is not there."),
        (
            ["houses.fw", "fewer.csv"],
            "fewer.csv must have the columns of the model, but lacks 'town', 'garden'; it",
        ),
        (["houses.fw", "words.csv"], "words.csv must hold numbers in column 'area', got 'large' in line 4."),
        (["houses.fw", "late.csv"], "must hold dates such as 2024-12-31 in column 'sold', got 'soon' in line 3."),
        (["houses.fw", "short.csv"], "must have 4 values in each line as in its header, got 2 in line 3."),
        (["houses.fw", "none.csv"], "none.csv must have rows below its header, got none."),
        (["houses.fw", "twice.csv"], "must have a name for each column, got 'area' for columns [1, 2]."),
        (["houses.fw", "fine.csv", "--probabilities"], "--probabilities needs a classifier, got a regressor."),
        (["features.fw", "fine.csv"], "must hold a regressor or a classifier, got AdaptiveFourierFeatures."),
        (["arrays.fw", "fine.csv"], "must have 3 columns, because the model was fitted without names, got 4."),
        (["cut.fw", "fine.csv"], "cut.fw is cut short: it has "),
        (["altered.fw", "fine.csv"], "altered.fw was altered or damaged after it was saved"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(folder, arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    data = (folder / "houses.fw").read_bytes()
    (tmp_path / "houses.fw").write_bytes(data)
    (tmp_path / "cut.fw").write_bytes(data[:-9])
    (tmp_path / "altered.fw").write_bytes(data[:-9] + bytes(9))
    AdaptiveFourierFeatures(4, random_state=0).fit(X, X[:, 0]).save("features.fw")
    AdaptiveFourierRegressor(4, random_state=0).fit(X, X[:, 0]).save("arrays.fw")
    before = {path.name for path in tmp_path.iterdir()}
    assert cli.main(["predict", *arguments, "--out", "out.csv", "--quiet"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("fourierwalk predict: ")
    assert words in error
    assert error.count("\n") == 1
    assert error.endswith(".\n")
    assert {path.name for path in tmp_path.iterdir()} == before


def test_a_model_is_computed_where_it_is_asked_for(tmp_path, capsys):
    AdaptiveFourierRegressor(4, random_state=0, device="cpu").fit(X, X[:, 0]).set_params(device="cuda").save(
        tmp_path / "m.fw"
    )
    np.savez(tmp_path / "x.npz", X=X)
    command = ["predict", str(tmp_path / "m.fw"), str(tmp_path / "x.npz"), "--out", str(tmp_path / "p.csv"), "--quiet"]
    assert cli.main(command) == 0
    assert cli.main([*command, "--device", "gpu"]) == 2
    assert "--device must be cpu or cuda, got 'gpu'" in capsys.readouterr().err


def test_the_rows_are_not_overwritten(folder, tmp_path):
    (tmp_path / "new.csv").write_bytes((folder / "houses.csv").read_bytes())
    done = run("predict", folder / "houses.fw", "new.csv", "--out", "new.csv", folder=tmp_path, code=3)
    assert "new.csv cannot be written: the command already reads or writes this file." in done.stderr
    assert (tmp_path / "new.csv").read_bytes() == (folder / "houses.csv").read_bytes()


def test_the_output_must_be_text(folder, capsys):
    assert cli.main(["predict", str(folder / "houses.fw"), str(folder / "houses.csv"), "--out", "p.xlsx"]) == 2
    assert "--out must be a .csv or .tsv file, got p.xlsx." in capsys.readouterr().err
    assert cli.main(["predict", str(folder / "houses.fw"), str(folder / "houses.csv"), "--json"]) == 2
    assert "--json needs --out" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="a limit on the size of files stands for a full disk")
def test_a_full_disk_leaves_the_old_predictions(folder, tmp_path):
    out = tmp_path / "p.csv"
    out.write_text("old")
    program = f"ulimit -f 1; exec {' '.join(COMMAND)} predict houses.fw houses.csv --out {out} --quiet"
    done = subprocess.run(
        ["bash", "-c", program], cwd=folder, capture_output=True, text=True, env=environment(), timeout=600
    )
    assert done.returncode == 3, done.stderr
    assert done.stderr == f"fourierwalk predict: {out} cannot be written: File too large.\n"
    assert out.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["p.csv"]


@pytest.fixture(scope="module")
def with_bars(folder):
    """A model file that keeps its error bars."""
    done = run(
        "fit", folder / "houses.csv", "--frequencies", "16", "--error-bars", "--out", folder / "bars.fw", "--quiet"
    )
    assert done.returncode == 0
    return folder / "bars.fw"


def test_error_bars_are_columns(folder, with_bars, tmp_path, monkeypatch):
    done = run("predict", with_bars, folder / "houses.csv", "--std", "--interval", "0.9", "--out", tmp_path / "p.csv")
    assert done.returncode == 0
    found = problem.read(files.source(folder / "houses.csv"))
    model = fourierwalk.load(with_bars)
    mean, std = model.predict(found.inputs, return_std=True)
    low, high = model.predict_interval(found.inputs, 0.9).T
    target = "price"
    for name, values in ((target, mean), (f"{target} std", std), (f"{target} low", low), (f"{target} high", high)):
        np.testing.assert_allclose(np.array(column(tmp_path / "p.csv", name), float), values, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("houses.fw", ["--std"], "--std and --interval need a model file with error bars, got"),
        ("classes.fw", ["--interval", "0.9"], "--std and --interval need a regressor, got a classifier"),
        ("bars.fw", ["--interval", "1.5"], "--interval must be above 0 and below 1, got 1.5."),
    ],
)
def test_error_bars_that_cannot_be_are_a_sentence(folder, with_bars, name, options, words):
    done = run("predict", folder / name, folder / "houses.csv", *options, code=2)
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
