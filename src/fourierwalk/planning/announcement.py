"""The sentence that announces a long fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fourierwalk.planning.machine import Machine
from fourierwalk.planning.plan import Plan, Work, duration, plan
from fourierwalk.solving.rates import ONE_CORE
from fourierwalk.training.automatic import Automatic
from fourierwalk.training.followed import Followed
from fourierwalk.training.policy import Policy
from fourierwalk.training.split import rows_to_learn_from

LONG = 20.0
"""A fit that may take more seconds than this is announced."""

GRADIENT = 1.5
"""The time of a step of descent, relative to one solve: it also needs a gradient, and some looks."""


def announcement(search: Any, n_rows: int, n_inputs: int, n_outputs: int, n_frequencies: int | None) -> str | None:
    """One sentence about the seconds and the memory of a fit; None: it is short, or nothing is known about it.

    A rough estimate decides whether the fit is long. Only then the machine is measured, in a few seconds.
    """
    rough = Machine(ONE_CORE.entry, ONE_CORE.product, ONE_CORE.factorisation, 1e-4)
    seconds, _ = _seconds(search, n_rows, n_inputs, n_outputs, n_frequencies, rough)
    if seconds < LONG:
        return None
    width = n_frequencies or _policy(search).usual
    machine = Machine.measured(n_rows, n_inputs, width)
    seconds, whole = _seconds(search, n_rows, n_inputs, n_outputs, n_frequencies, machine)
    most = "up to about" if isinstance(search, Automatic) else "about"
    return (
        f"the fit takes {most} {duration(seconds)}; a solve on all rows takes {duration(whole.step_seconds)}, mostly "
        f"for {whole.dominant}"
    )


def _policy(search: Any) -> Policy:
    return getattr(search, "policy", Policy())


def _seconds(
    search: Any, n_rows: int, n_inputs: int, n_outputs: int, n_frequencies: int | None, machine: Machine
) -> tuple[float, Plan]:
    """The seconds of a fit, at most, and the plan of solves on all rows."""
    policy = _policy(search)
    whole = Work(n_rows, n_inputs, n_frequencies or policy.usual, n_outputs, n_steps=1, refit_every=10**9)
    on_all = plan(whole, machine)
    if isinstance(search, Followed):
        every = getattr(search.sampler, "refit_every", 10**9)
        steps = replace(whole, n_steps=max(1, search.n_steps), refit_every=every)
        return plan(steps, machine).fit_seconds, on_all
    if not isinstance(search, Automatic):
        return 0.0, on_all
    n_members = max(policy.members, 1)
    width = max(1, whole.n_frequencies // n_members)
    n_steps = policy.steps + policy.last_steps if search.n_steps is None else max(1, search.n_steps)
    n_learnt = rows_to_learn_from(n_inputs, n_rows, policy)
    member = plan(Work(n_learnt, n_inputs, width, n_outputs, n_steps, 10**9), machine)
    return n_members * GRADIENT * member.fit_seconds + on_all.fit_seconds, on_all
