"""Claims are told with their verdict first, in words."""

import re

import pytest

from fourierwalk.reporting.claims import SIGNS, ShownClaim, badge, shown


def test_everything_is_told_and_escaped():
    markup = shown([ShownClaim("a < b", "Figure 2", "partly", "1 & 2", "K ≥ 32")])
    words = re.sub(r"<[^>]+>", " ", markup)
    for part in ("a &lt; b", "Figure 2", "partly", "1 &amp; 2", "Restriction: K ≥ 32"):
        assert part in words
    assert markup.index("partly") < markup.index("a &lt; b")


def test_what_is_empty_is_left_out():
    markup = shown([ShownClaim("a", "", "holds", "")])
    assert "Restriction" not in markup
    assert "<span></span>" not in markup


def test_verdicts_are_counted():
    claims = [ShownClaim("a", "", verdict, "") for verdict in ("holds", "holds", "does not hold")]
    assert re.findall(r"([a-z ]+): (\d)", shown(claims)) == [(" holds", "2"), (" does not hold", "1")]


def test_every_verdict_has_words_and_a_class():
    for verdict in SIGNS:
        assert f'class="verdict {verdict.replace(" ", "-")}"' in badge(verdict)
        assert verdict in badge(verdict)


def test_another_verdict_is_refused():
    with pytest.raises(KeyError):
        badge("perhaps")
