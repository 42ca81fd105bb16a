"""Every tuned number of the training."""

import math
import pickle
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest

from fourierwalk.training.policy import DEFAULT, Policy

every_number = pytest.mark.parametrize("each", fields(Policy), ids=lambda each: each.name)


def sentence(each, value):
    low, high = each.metadata["low"], each.metadata["high"]
    return f"Policy.{each.name} must be a number from {low:g} to {high:g}, got {value!r}."


@every_number
def test_a_number_out_of_its_range_gives_its_sentence(each):
    low, high = each.metadata["low"], each.metadata["high"]
    below, above = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
    for value in (below, above, -math.inf, math.inf, math.nan):
        with pytest.raises(ValueError, match="must be a number from") as raised:
            replace(DEFAULT, **{each.name: value})
        assert str(raised.value) == sentence(each, value)


@every_number
@pytest.mark.parametrize("value", [None, "1", True, [1]], ids=repr)
def test_what_is_no_number_gives_the_same_sentence(each, value):
    with pytest.raises(ValueError, match="must be a number from") as raised:
        replace(DEFAULT, **{each.name: value})
    assert str(raised.value) == sentence(each, value)


@every_number
def test_both_ends_of_a_range_are_in_it(each):
    for value in (each.metadata["low"], each.metadata["high"], np.float64(each.metadata["low"])):
        assert getattr(replace(DEFAULT, **{each.name: value}), each.name) == value


@every_number
def test_every_number_has_a_meaning_and_evidence(each):
    assert each.metadata["meaning"].strip()
    assert each.metadata["evidence"].strip()
    assert each.metadata["group"] in {"width", "start", "descent", "folds", "certainty"}
    assert each.metadata["low"] < each.metadata["high"]
    assert each.type in ("int", "float")
    assert each.type == "float" or isinstance(each.default, int)


def test_the_numbers_are_few():
    assert len(fields(Policy)) <= 40


def test_two_numbers_do_not_mean_the_same():
    meanings = [each.metadata["meaning"] for each in fields(Policy)]
    assert len(set(meanings)) == len(meanings)


def test_the_table_lists_every_number():
    changed = replace(DEFAULT, widening=0.125, members=3)
    head, rule, *lines = changed.table()
    assert head == "| number | default | meaning | chosen on |"
    assert rule.count("|") == head.count("|")
    assert [line.split("`")[1] for line in lines] == [each.name for each in fields(Policy)]
    for line, each in zip(lines, fields(Policy), strict=True):
        _, name, value, meaning, evidence, _ = (cell.strip() for cell in line.split("|"))
        assert name == f"`{each.name}`"
        assert float(value) == getattr(changed, each.name)
        assert (meaning, evidence) == (each.metadata["meaning"], each.metadata["evidence"])


def test_a_policy_is_frozen_and_pickles():
    with pytest.raises(FrozenInstanceError):
        DEFAULT.members = 1
    changed = replace(DEFAULT, members=3)
    assert pickle.loads(pickle.dumps(changed)) == changed != DEFAULT == Policy()
