"""``inspect`` through the real command line."""

import json

import numpy as np
import pytest
from program import run
from spreadsheets import houses

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierRegressor, cli

X = np.random.default_rng(0).normal(size=(150, 2))


def test_what_fit_has_written_is_told(tmp_path):
    houses(tmp_path / "h.csv")
    assert cli.main(["fit", str(tmp_path / "h.csv"), "--out", str(tmp_path / "h.fw"), "--frequencies", "8"]) == 0
    shown = run("inspect", "h.fw", folder=tmp_path).stdout
    assert "AdaptiveFourierRegressor of 'price'" in shown
    assert "RMSE on rows held out: fourierwalk" in shown
    assert "Graz, Zürich, Łódź, missing" in shown
    assert "inputs scaled: " in shown
    told = json.loads(run("inspect", "h.fw", "--json", folder=tmp_path).stdout)
    assert [each["kind"] for each in told["inputs"]] == ["number", "levels", "moment", "levels"]
    assert sum(each["relevance"] for each in told["inputs"]) == pytest.approx(1, abs=1e-5)
    assert told["target"] == "price"
    assert told["parameters"]["n_frequencies"] == 8


def test_models_of_arrays_and_bare_models_are_told(tmp_path, capsys):
    classifier = AdaptiveFourierClassifier(8, random_state=0).fit(X, X[:, 0] > 0)
    classifier.save(tmp_path / "c.fw")
    AdaptiveFourierRegressor(8, random_state=0).fit(X, X[:, 0]).model_.save(tmp_path / "m.fw")
    assert cli.main(["inspect", str(tmp_path / "c.fw")]) == 0
    assert "classes: False, True" in capsys.readouterr().out
    assert cli.main(["inspect", str(tmp_path / "m.fw"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["kind"] == "FourierModel"
    assert [each["name"] for each in told["inputs"]] == ["x0", "x1"]


@pytest.mark.filterwarnings("ignore:Nothing was found")
def test_a_constant_model_can_be_told(tmp_path, capsys):
    y = np.random.default_rng(1).normal(size=150)
    AdaptiveFourierRegressor(8, random_state=0, max_norm=np.inf).fit(X, y).save(tmp_path / "m.fw")
    assert cli.main(["inspect", str(tmp_path / "m.fw"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["parameters"]["max_norm"] == "inf"


def test_another_file_is_a_sentence(tmp_path, capsys):
    (tmp_path / "a.fw").write_text("no model")
    assert cli.main(["inspect", str(tmp_path / "a.fw")]) == 2
    assert "a.fw is no model file of ours.\n" in capsys.readouterr().err
