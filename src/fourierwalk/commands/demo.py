"""``fourierwalk demo``: the default, Algorithm 1 and fixed frequencies, on the paper's first target and on digits."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from threadpoolctl import threadpool_limits

from fourierwalk.paper import ways
from fourierwalk.paper.cases import CASES, Cell
from fourierwalk.paper.film import film
from fourierwalk.paper.targets import sine_integral, transform_modulus
from fourierwalk.paper.ways import DemoProblem, Sizes, Study
from fourierwalk.reporting import plots
from fourierwalk.reporting.page import Page
from fourierwalk.reporting.provenance import describe, provenance
from fourierwalk.reporting.scatter import with_scatter


def register(verbs: Any) -> None:
    """Add the command and its options."""
    parser = verbs.add_parser("demo", help="fit, compare with fixed frequencies, write a page with figures and a film")
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the page (default: demo)")
    parser.add_argument(
        "--small", action="store_true", help="toy sizes, to check that it runs: the figures mean nothing"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Fit everything, print the tables, write the page."""
    console, start, sizes = Console(), time.perf_counter(), ways.TOY if options.small else ways.Sizes()
    plots.new_figure()  # a missing extra is an error before the work, not after
    problems = (ways.step_problem(sizes.n_rows), ways.digits_problem())
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    studies = []
    with Progress(*columns, console=console) as progress, threadpool_limits(1):
        for problem in problems:
            task = progress.add_task(problem.name, total=len(sizes.widths) * len(sizes.seeds) * len(ways.METHODS))
            studies.append(ways.study(problem, sizes, lambda task=task: progress.advance(task)))  # type: ignore[misc]
    for problem, result in zip(problems, studies, strict=True):
        console.print(_table(problem, result, sizes))
    path = _page(problems, studies, sizes, start).write(options.out / "index.html")
    console.print(f"{time.perf_counter() - start:.0f} s. The page with figures and a film: {path}")
    return 0


def _cells(values: np.ndarray) -> list[str]:
    return [with_scatter(*each) for each in zip(values.mean(axis=0), values.std(axis=0, ddof=1), strict=True)]


def _table(problem: DemoProblem, result: Study, sizes: Sizes) -> Table:
    table = Table(title=f"{problem.name}: {problem.label}, mean ± standard deviation of {len(sizes.seeds)} seeds")
    table.add_column("method")
    for width in sizes.widths:
        table.add_column(f"K = {width}", justify="right")
    for method, values in result.errors.items():
        table.add_row(method, *_cells(values))
    return table


def _page(problems: Sequence[DemoProblem], studies: Sequence[Study], sizes: Sizes, start: float) -> Page:
    command = "fourierwalk demo" + " --small" * (sizes == ways.TOY)
    origin = provenance(command)
    page = Page("fourierwalk: frequencies that walk")
    page.text(
        f"Four ways to choose the K frequencies of f(x) = Σ βₖ exp(iωₖ·x), each with {len(sizes.seeds)} seeds that "
        "have data of their own. Errors are on test rows that nothing was chosen by."
    )
    page.table("What is run", ["method", "sampler", "how frequencies and λ are found"], _explained(sizes))
    for problem, result in zip(problems, studies, strict=True):
        _section(page, problem, result, sizes, origin["commit"])
        if problem is problems[0]:
            _step_figures(page, problem, result, sizes)
            _film(page, sizes, origin["commit"])
    page.heading("Where this comes from")
    seconds = time.perf_counter() - start
    page.text(f"{command}, seeds {_listed(sizes.seeds)}, {seconds:.0f} s, commit {origin['commit']}.", "note")
    page.text(describe(origin), "note")
    return page


def _explained(sizes: Sizes) -> list[list[str]]:
    return [
        [
            ways.DEFAULT,
            '"auto"',
            "By default settings: starts are explored, frequencies descend, held-out rows choose; λ too",
        ],
        [ways.PAPER, '"metropolis"', "The paper's Metropolis walk from ω = 0, as printed; λ = 0.1, nothing is tuned"],
        [ways.FIXED, '"fixed"', "Drawn once; λ chosen on training rows"],
        [ways.TUNED, '"fixed"', f"Drawn once from N(0, σ²); σ of {len(sizes.spreads)} and λ chosen on training rows"],
    ]


def _section(page: Page, problem: DemoProblem, result: Study, sizes: Sizes, commit: str | None) -> None:
    x, x_test, _, _ = problem.split(sizes.seeds[0])
    page.heading(problem.name)
    page.text(
        f"N = {x.shape[0]:,} training rows, {x_test.shape[0]:,} test rows, d = {x.shape[1]}. Algorithm 1 takes "
        f"M = {problem.paper['n_steps']:,} steps, γ = 3d − 2 = {3 * x.shape[1] - 2}, δ = 2.4²/d and λ = 0.1."
    )
    scatter = f"mean ± standard deviation of {len(sizes.seeds)} seeds"
    columns = ["method", *(f"K = {width}" for width in sizes.widths)]
    rows = [[method, *_cells(values)] for method, values in result.errors.items()]
    page.table(f"{problem.label}, {scatter}", columns, rows)
    page.table(f"Seconds to fit, {scatter}", columns, [[name, *_cells(each)] for name, each in result.seconds.items()])
    page.figure(
        plots.error_figure(sizes.widths, result.errors, problem.label, _words(result, sizes, commit)),
        f"{problem.label} over K, mean of {len(sizes.seeds)} seeds. Bars of ± 2 standard deviations; an open triangle "
        "ends a bar that goes further down than a logarithmic axis shows. Point at a mark to see its cells.",
    )
    told = "; ".join(result.models[ways.DEFAULT].history_.decisions)
    page.text(f"What the default decided at K = {sizes.widths[-1]}, seed {sizes.seeds[0]}: {told}.", "note")


def _words(result: Study, sizes: Sizes, commit: str | None) -> dict[str, list[str]]:
    """The text of each point of the error curves."""
    return {
        method: [
            "\n".join(
                [
                    f"{method}, K = {width}",
                    *(
                        f"seed {seed}: {errors[i, j]:.3g} in {result.seconds[method][i, j]:.2g} s"
                        for i, seed in enumerate(sizes.seeds)
                    ),
                    f"commit {commit}",
                ]
            )
            for j, width in enumerate(sizes.widths)
        ]
        for method, errors in result.errors.items()
    }


def _step_figures(page: Page, problem: DemoProblem, result: Study, sizes: Sizes) -> None:
    _, x, _, y = problem.split(sizes.seeds[0])
    shown = {name: result.models[name] for name in (ways.DEFAULT, ways.PAPER, ways.FIXED)}
    curves = {name: model.predict(x) for name, model in shown.items()}
    near = np.abs(x[:, 0]) < 0.1
    close = {name: values[near] for name, values in curves.items()}
    whose = f"K = {sizes.widths[-1]}, seed {sizes.seeds[0]}"
    page.figure(
        [plots.fit_figure(x[:, 0], y, curves), plots.fit_figure(x[near, 0], y[near], close)],
        f"Target and fits on test rows, {whose}; the second panel is the step itself.",
    )
    omega, modulus = transform_modulus(lambda points: sine_integral(points, 1e-3), 20_000)
    page.figure(
        [
            plots.frequency_figure(np.abs(shown[name].model_.spectrum()[0][:, 0]), omega, modulus, name)
            for name in (ways.DEFAULT, ways.PAPER)
        ],
        f"Frequencies of the default and of Algorithm 1, {whose}, against |f̂|, which Theorem 2.2 calls optimal.",
    )
    page.figure(
        plots.amplitude_figure({name: model.amplitudes_ for name, model in shown.items()}),
        f"Amplitudes over their mean, the largest first, {whose}. Equal amplitudes would lie on the dashed line.",
    )


def _film(page: Page, sizes: Sizes, commit: str | None) -> None:
    """A film of Algorithm 1, on as many rows as in the study."""
    case = replace(CASES["case1"], n_rows=sizes.n_rows, n_test=sizes.n_rows)
    start = time.perf_counter()
    shown = film(Cell(case, case.experiments[0], sizes.widths[-1], sizes.seeds[0]))
    about = f"seed {sizes.seeds[0]}, commit {commit}, {time.perf_counter() - start:.2g} s with all frames"
    page.heading("The walk, step by step")
    page.text(
        f"Algorithm 1 on {sizes.n_rows:,} rows of Case 1: all frequencies start at 0. Each frame shows what it would "
        "return if it stopped there. Inputs and targets are normalised."
    )
    page.fragment(replace(shown, about=about).html())


def _listed(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))
