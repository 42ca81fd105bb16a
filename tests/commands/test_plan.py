"""``fourierwalk plan``."""

import json

import pytest

from fourierwalk.cli import main

SIZES = ["plan", "--rows", "1e4", "--inputs", "4", "--frequencies", "16"]


def test_the_plan_is_printed(capsys):
    assert main([*SIZES, "--workers", "8", "--steps", "50"]) == 0
    out = capsys.readouterr().out
    for said in ("10,000 rows", "8 workers", "A fit of 50 steps:", "Memory of a worker:", "Traffic of a worker"):
        assert said in " ".join(out.split())


def test_the_plan_as_json(capsys):
    assert main([*SIZES, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["work"]["n_rows"] == 10_000
    assert told["step_seconds"] == pytest.approx(sum(told["terms"].values()))
    assert told["terms"][told["dominant"]] == max(told["terms"].values())
    assert told["traffic_bytes"] == 0
    assert told["machine"]["entry"] > 0


def test_gpus_have_stored_rates(capsys):
    assert main([*SIZES, "--gpus", "4", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["work"]["n_workers"] == 4
    assert "H200" in told["machine"]["name"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rows", "0"], "--rows must be at least 1, got 0."),
        (["--inputs", "-1"], "--inputs must be at least 1, got -1."),
        (["--frequencies", "0"], "--frequencies must be at least 1, got 0."),
        (["--workers", "0"], "--workers must be at least 1, got 0."),
        (["--gpus", "-2"], "--gpus must be at least 0, got -2."),
        (["--network", "0"], "--network must be a finite number above 0, got 0."),
        (["--network", "nan"], "--network must be a finite number above 0, got nan."),
        (
            ["--gpus", "2", "--workers", "3"],
            "--workers must be left out with --gpus, each of which is a worker, got 3.",
        ),
    ],
)
def test_bad_input_is_one_sentence(words, said, capsys):
    assert main([*SIZES, *words]) == 2
    assert capsys.readouterr().err == f"fourierwalk plan: {said}\n"


@pytest.mark.parametrize("word", ["1.5", "many", "inf", "nan", ""])
def test_a_size_must_be_a_whole_number(word, capsys):
    with pytest.raises(SystemExit) as stop:
        main([*SIZES, "--rows", word])
    assert stop.value.code == 2
    assert f"must be a whole number, got {word!r}" in capsys.readouterr().err
