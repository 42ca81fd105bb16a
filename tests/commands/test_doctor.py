"""``doctor`` through the real command line, and when it finds something wrong."""

import json

from program import run

from fourierwalk import cli
from fourierwalk.commands import doctor


def test_it_tells_all_there_is():
    told = json.loads(run("doctor", "--json").stdout)
    assert told["self_test"]["works"] is True
    assert told["self_test"]["file_is_same"] is True
    assert told["versions"]["numpy"]
    assert any(pool["user_api"] == "blas" for pool in told["blas"])
    assert told["machine"]["free_memory"] > 0
    assert set(told["extras"]["plot"]) == {"matplotlib"}
    shown = run("doctor").stdout
    assert all(word in shown for word in ("versions", "threads", "GPU", "extra", "self-test  works"))


def test_a_self_test_that_fails_is_exit_code_1(monkeypatch, capsys):
    class Broken:
        def __init__(self, *_, **__):
            raise RuntimeError("no BLAS")

    monkeypatch.setattr(doctor, "AdaptiveFourierRegressor", Broken)
    assert cli.main(["doctor"]) == 1
    assert "FAILED" in capsys.readouterr().out


def test_a_poor_fit_is_seen():
    assert doctor.self_test(wanted_score=2.0)["works"] is False
