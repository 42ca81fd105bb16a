"""The plan of a fit: its formulas."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourierwalk.planning import Machine, Work, plan

MACHINE = Machine(entry=1e-8, product=2e-11, factorisation=3e-11, overhead=1e-4, memory=1e10, disk=1e9, free=1e10)
WORK = Work(n_rows=100_000, n_inputs=10, n_frequencies=128, n_steps=50, refit_every=5)


def test_a_step_by_hand():
    found = plan(WORK, MACHINE)
    assert found.terms == pytest.approx(
        {
            "cosines and sines": 1.2 * 100_000 * 256 * 1e-8,
            "normal equations": 1.2 * 100_000 * 256**2 * 2e-11,
            "factorisation": 1.2 * 256**3 / 3 * 3e-11,
            "network": 0.0,
            "disk": 0.0,
            "overhead": 1e-4,
        }
    )
    assert found.dominant == "cosines and sines"
    assert found.step_seconds == pytest.approx(sum(found.terms.values()))
    assert found.fit_seconds == pytest.approx(52 * found.step_seconds + 12 * 8 * 1.1e6 / 1e10)
    assert found.traffic == 0


@given(st.integers(1, 10**6), st.integers(2, 2000))
def test_rows_are_shared_and_traffic_depends_on_no_rows(n_rows, n_workers):
    one = plan(replace(WORK, n_rows=n_rows), MACHINE)
    many = plan(replace(WORK, n_rows=n_rows * n_workers, n_workers=n_workers), MACHINE)
    for name in ("cosines and sines", "normal equations", "factorisation", "overhead"):
        assert many.terms[name] == one.terms[name]
    assert many.memory == one.memory
    assert many.traffic == plan(replace(WORK, n_workers=2), MACHINE).traffic > 0


def test_the_network_is_a_tree():
    seconds = [plan(replace(WORK, n_workers=n), MACHINE).terms["network"] for n in (1, 2, 4, 8, 1000, 1024)]
    assert seconds[0] == 0
    assert seconds[2:] == pytest.approx([2 * seconds[1], 3 * seconds[1], 10 * seconds[1], 10 * seconds[1]])
    assert plan(replace(WORK, n_workers=4, network=1000.0), MACHINE).terms["network"] < seconds[2]


def test_rows_beyond_the_memory_are_read_from_the_disk():
    small, large = (plan(replace(WORK, n_rows=n), MACHINE) for n in (10**7, 10**9))
    assert (small.streams, large.streams) == (False, True)
    assert large.terms["disk"] == pytest.approx(1.2 * 8 * 1.1e10 / 1e9)
    assert large.memory < small.memory


@pytest.mark.parametrize("name", ["n_rows", "n_inputs", "n_frequencies", "n_outputs", "n_steps", "n_workers"])
@pytest.mark.parametrize("value", [0, -3, 2.5])
def test_bad_sizes_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 1, got {value}"):
        plan(replace(WORK, **{name: value}), MACHINE)


def test_a_bad_network_is_refused():
    with pytest.raises(ValueError, match="network must be a finite number above 0, got 0"):
        plan(replace(WORK, network=0.0), MACHINE)
