"""Results say where they come from."""

import platform

import numpy as np

from fourierwalk.reporting import provenance as module


def test_versions_are_those_that_run():
    found = module.provenance("a command")
    assert found["command"] == "a command"
    assert found["versions"]["numpy"] == np.__version__
    assert found["versions"]["python"] == platform.python_version()
    assert found["machine"]["cores"] >= 1


def test_the_machine_says_which_kernels_blas_has_chosen(monkeypatch):
    pools = [("blas", "Zen"), ("blas", "SkylakeX"), ("blas", None), ("openmp", "other")]
    monkeypatch.setattr(module, "threadpool_info", lambda: [{"user_api": a, "architecture": b} for a, b in pools])
    assert module.machine()["blas"] == "SkylakeX, Zen"
    monkeypatch.setattr(module, "threadpool_info", lambda: [{"user_api": "openmp"}])
    assert "blas" not in module.machine()


def test_the_environment_names_the_commit_of_a_copy(monkeypatch):
    def no_git(*_, **__):
        raise FileNotFoundError("git")

    monkeypatch.setenv("FOURIERWALK_COMMIT", "abc")
    assert module.commit() == "abc"
    monkeypatch.setenv("FOURIERWALK_COMMIT", "0123456789abcdef0123456789abcdef01234567")
    assert module.commit() == "0123456789ab"  # as git would be asked for
    monkeypatch.delenv("FOURIERWALK_COMMIT")
    monkeypatch.setattr(module.subprocess, "run", no_git)
    assert module.commit() is None


def test_description_names_machine_and_versions():
    words = module.describe({"machine": {"cores": 2}, "versions": {"numpy": "9.9"}})
    assert words == "cores 2, numpy 9.9."


def test_no_absolute_path_of_a_machine_is_kept(monkeypatch, tmp_path):
    monkeypatch.setattr(module.sys, "argv", ["fourierwalk", "demo", "--out", str(tmp_path / "here")])
    assert module.provenance()["command"] == "fourierwalk demo --out here"
