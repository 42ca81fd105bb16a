"""Every colour that is written in can be read on the page, in light and in dark."""

import pytest

from fourierwalk.reporting.colors import DARK, LIGHT


def luminance(color):
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("values", [LIGHT, DARK], ids=["light", "dark"])
def test_contrast(values):
    inks = [name for name in values if name in ("ink", "quiet") or name.startswith("series-")]
    assert {
        name: contrast(values[name], values["paper"]) for name in inks if contrast(values[name], values["paper"]) < 4.5
    } == {}
    assert contrast(values["quiet"], values["panel"]) >= 4.5


def test_both_modes_have_the_same_names():
    assert LIGHT.keys() == DARK.keys()
