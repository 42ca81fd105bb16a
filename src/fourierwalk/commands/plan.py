"""``fourierwalk plan``: the seconds, the memory and the traffic of a fit, before it is begun."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table

from fourierwalk.commands import options as shared
from fourierwalk.planning.machine import Machine
from fourierwalk.planning.plan import Plan, Work, duration, plan
from fourierwalk.solving.budget import in_words

EXAMPLES = """  fourierwalk plan --rows 1000000 --inputs 10 --frequencies 512
  fourierwalk plan --rows 10000000000 --inputs 10 --frequencies 1024 --workers 1000 --network 10
  fourierwalk plan --rows 1000000000 --inputs 9 --frequencies 1024 --gpus 8 --network 400 --json
"""


def register(verbs: Any) -> None:
    """Add the command and its options."""
    parser = shared.verb(verbs, "plan", "predict the seconds, the memory and the traffic of a fit", EXAMPLES)
    parser.add_argument("--rows", type=shared.whole, required=True, metavar="N")
    parser.add_argument("--inputs", type=shared.whole, required=True, metavar="D", help="columns of X")
    parser.add_argument("--frequencies", type=shared.whole, required=True, metavar="K")
    parser.add_argument("--outputs", type=shared.whole, default=1, metavar="Q", help="targets or classes (default: 1)")
    parser.add_argument("--steps", type=shared.whole, default=1000, metavar="M", help="of the walk (default: 1000)")
    parser.add_argument(
        "--workers", type=shared.whole, default=1, metavar="W", help="machines like this one that share the rows"
    )
    parser.add_argument("--gpus", type=shared.whole, default=0, metavar="G", help="GPUs that share the rows instead")
    parser.add_argument(
        "--network", type=float, default=10.0, metavar="GBPS", help="gigabits a second of each worker (default: 10)"
    )
    shared.add_output(parser)
    parser.set_defaults(run=main)


def main(options: argparse.Namespace) -> int:
    """Measure this machine for a few seconds, and print the plan."""
    for name in ("rows", "inputs", "frequencies", "outputs", "steps", "workers"):
        if getattr(options, name) < 1:
            raise ValueError(f"--{name} must be at least 1, got {getattr(options, name)}.")
    if options.gpus < 0:
        raise ValueError(f"--gpus must be at least 0, got {options.gpus}.")
    if not 0 < options.network < float("inf"):
        raise ValueError(f"--network must be a finite number above 0, got {options.network:g}.")
    if options.gpus and options.workers > 1:
        raise ValueError(f"--workers must be left out with --gpus, each of which is a worker, got {options.workers}.")
    work = Work(
        options.rows,
        options.inputs,
        options.frequencies,
        options.outputs,
        options.steps,
        n_workers=options.gpus or options.workers,
        network=options.network,
    )
    machine = Machine.gpu() if options.gpus else Machine.measured(work.n_rows, work.n_inputs, work.n_frequencies)
    found = plan(work, machine)
    if options.json:
        print(json.dumps({"work": asdict(work), "machine": asdict(machine), **found.to_json()}, allow_nan=False))
    elif not options.quiet:
        _show(work, machine, found)
    return 0


def _show(work: Work, machine: Machine, found: Plan) -> None:
    console = Console(highlight=False)
    title = f"{work.n_rows:,} rows, {work.n_inputs} inputs, {work.n_frequencies} frequencies"
    if work.n_workers > 1:
        title += f", {work.n_workers:,} workers"
    table = Table(title=title)
    for column in ("term of a step", "seconds", "share"):
        table.add_column(column, justify="left" if column == "term of a step" else "right")
    for name, seconds in found.terms.items():
        share = f"{seconds / found.step_seconds:.0%}"
        table.add_row(name, duration(seconds), share, style="bold" if name == found.dominant else None)
    console.print(table)
    lines = [
        f"A step: {duration(found.step_seconds)}, mostly for {found.dominant}.",
        f"A fit of {work.n_steps:,} steps: {duration(found.fit_seconds)}.",
        f"Memory of a worker: {in_words(found.memory)}; {in_words(machine.free)} are free.",
        f"Traffic of a worker in a step: {in_words(found.traffic)}.",
        f"Rates: {machine.name}.",
    ]
    if found.streams:
        lines.append("The rows of a worker do not fit in its memory: every step reads them from the disk.")
    if work.n_inputs <= 3:
        lines.append("With at most 3 inputs the extra nufft makes a step's time independent of the number of rows.")
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)
