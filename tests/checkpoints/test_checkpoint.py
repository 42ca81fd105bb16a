"""The settings of a checkpoint."""

from pathlib import Path

import numpy as np
import pytest

from fourierwalk import AdaptiveFourierRegressor, Checkpoint, settings


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (3, "checkpoint must be None, a path or a Checkpoint with a path, got 3."),
        ("", "checkpoint must be None, a path or a Checkpoint with a path, got ''."),
        (Checkpoint(None), "checkpoint must be None, a path or a Checkpoint with a path, got None."),
        (Checkpoint("a", 0), "checkpoint.every_steps must be a whole number of at least 1, got 0."),
        (Checkpoint("a", 2.5), "checkpoint.every_steps must be a whole number of at least 1, got 2.5."),
        (
            Checkpoint("a", every_seconds=-1),
            "checkpoint.every_seconds must be a finite number of at least 0 or None, got -1.",
        ),
    ],
)
def test_bad_settings_are_refused_in_a_sentence(value, said):
    with pytest.raises(ValueError, match=r"^checkpoint") as error:
        AdaptiveFourierRegressor(checkpoint=value).fit(np.ones((9, 1)), np.arange(9.0))
    assert str(error.value) == said


def test_a_path_has_the_usual_interval():
    assert Checkpoint.of(None) is None
    assert Checkpoint.of("a.fw") == Checkpoint("a.fw", None, 60.0)
    assert Checkpoint.of(Path("a.fw")).file("f" * 64) == Path("a.fw")


def test_a_folder_has_a_file_for_each_fit(tmp_path):
    assert Checkpoint(tmp_path).file("ab" * 32) == tmp_path / "abababababababab.fw"
    assert Checkpoint(f"{tmp_path}/new/").file("ab" * 32) == tmp_path / "new" / "abababababababab.fw"


@pytest.mark.parametrize("value", [Checkpoint("a.fw", 5, None), "a.fw"])
def test_it_stands_in_a_models_file(value):
    assert settings.unpacked(settings.packed("checkpoint", value)) == value
    assert settings.unpacked(settings.packed("checkpoint", Path("a.fw"))) == "a.fw"
