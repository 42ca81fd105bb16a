"""The list of readings, and every equation number that the package cites against the paper's source."""

import re
from pathlib import Path

import pytest

import fourierwalk
from fourierwalk.paper import claims
from fourierwalk.paper.readings import READINGS, markdown

SOURCE = Path(__file__).parents[3] / "shared" / "paper" / "adaptive-random-fourier-features.tex"
CITED = {  # by label in the source; a number is cited where these words of ours name it
    "variance_f": 12,
    "main_rate_merr": 13,
    "main_rate": 14,
    "eq:optimal_density": 16,
    "MC_loss222": 17,
    "zeta_min": 18,
    "normaleq": 19,
    "limit_Z_eq": 20,
    "thm_lim": 25,
    "eq:num_disc_prob": 28,
    "eq:num_normal_eq": 29,
    "eq:elliptic_target_fcn": 30,
    "eq:mnist_num_disc_prob": 31,
    "eq:num_normal_eq_mnist": 32,
}


def numbered(source):
    """Labels of numbered equations, in their order: \\tag{…} has a name of its own and counts for nothing."""
    found, n = {}, 0
    for body in re.findall(r"\\begin\{equation\}(.*?)\\end\{equation\}", source, re.S):
        if "\\tag{" not in body:
            n += 1
            found |= dict.fromkeys(re.findall(r"\\label\{(.*?)\}", body), n)
    return found


def test_numbers_are_counted():
    bodies = (r"\label{a}x", r"\tag{A1}\label{b}x", r"\label{c}x")
    source = "".join(rf"\begin{{equation}}{body}\end{{equation}}" for body in bodies)
    assert numbered(source) == {"a": 1, "c": 2}


@pytest.mark.skipif(not SOURCE.exists(), reason="the paper's source is not here")
def test_numbers_are_those_of_the_source():
    counted = numbered(SOURCE.read_text(encoding="utf-8"))
    assert {label: counted[label] for label in CITED} == CITED


def test_only_known_equations_are_cited():
    folder = Path(fourierwalk.__file__).parent / "paper"
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}
    words = [each.where + " " + each.here + " " + each.paper for each in READINGS]
    words += [
        claim.text + " " + claim.where + " " + claim.restriction for claim in claims.claims({}) + claims.theory({})
    ]
    for text in words:
        for number in re.findall(r"\((\d\d)\)", text):
            assert int(number) in CITED.values(), text
    assert all(int(n) in CITED.values() for text in texts.values() for n in re.findall(r"of \((\d\d)\)", text))


def test_every_reading_says_three_things():
    assert len({(each.where, each.paper) for each in READINGS}) == len(READINGS)
    assert all(each.where and each.paper.endswith(".") and each.here.endswith(".") for each in READINGS)


def test_the_table_escapes_bars():
    lines = markdown().splitlines()
    assert len(lines) == len(READINGS) + 2
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 4 for line in lines)
