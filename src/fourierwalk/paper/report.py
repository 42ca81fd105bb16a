"""The page of the paper's results: one self-contained file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fourierwalk.paper import claims, gpus, plots, results, summary, tables
from fourierwalk.paper.cases import CASES, Cell, Experiment, at_scale, parameter_table
from fourierwalk.paper.film import film
from fourierwalk.paper.readings import READINGS
from fourierwalk.paper.summary import Cells
from fourierwalk.reporting import vector
from fourierwalk.reporting.page import Page
from fourierwalk.reporting.provenance import describe

FILMED = 128
"""Largest number of frequencies of the film's walk. More dots would cover each other."""

OPENS = {"target": "case1", "case2": "case2", "case3": "case3", "case4": "case4", "sweep": "sweep"}
"""Figures that begin the section of a case."""

BARS = "Bars are e_K ± 2σ_K; an open triangle ends a bar that goes further down than a logarithmic axis shows."


def write_report(folder: Path) -> Path:
    """Read the cells of a folder, write its ``report.html`` and its figures as SVG files."""
    cells = results.read(folder)
    if not cells:
        raise ValueError(f"{folder} holds no results: fourierwalk reproduce --out {folder} writes them.")
    page = Page("Adaptive random Fourier features with Metropolis sampling: the paper, reproduced")
    _opening(page, cells)
    _film(page, cells)
    for name, panels, caption in figures(cells):
        _section_of(page, cells, name)
        _save(folder / "figures", name, panels)
        page.figure(panels, caption)
        _tables_of(page, cells, name)
    _closing(page, cells)
    return page.write(folder / "report.html")


def _save(folder: Path, name: str, panels: Any) -> None:
    several = panels if isinstance(panels, list) else [panels]
    for number, panel in enumerate(several, start=1):
        vector.write(panel, folder / (f"{name}-{number}.svg" if len(several) > 1 else f"{name}.svg"))


def figures(cells: Cells) -> Iterator[tuple[str, Any, str]]:
    """(name, figure or panels, caption) of every figure that the cells allow."""
    there = {key.split("/")[0] for key in cells}
    if "case1" in there:
        yield (
            "target",
            plots.target_figure(),
            "Case 1's target f, whole and near the step, with the data of seed 0, and |f̂| by FFT (Figure 1).",
        )
        yield (
            "case1",
            plots.six_panels(cells),
            f"Case 1, {plots.ERROR}, over K (Figure 2): the same curves in all panels, one highlighted in each; the "
            f"dashed line falls like K^(−1/2). {BARS} Point at a mark to see its cells.",
        )
        histogram = plots.histogram_figure(cells)
        if histogram is not None:
            yield "histogram", histogram, "Case 1: frequencies of Algorithm 1 at the largest K against |f̂|."
        yield "amplitudes", plots.variation_figure(cells), "Case 1: how unequal amplitudes are (0: all equal)."
    if "case2" in there:
        caption = f"Case 2, {plots.ERROR}, over K (Figure 3). {BARS}"
        yield "case2", plots.width_figure(cells, CASES["case2"]), caption
    if "case3" in there:
        caption = f"Case 3, {plots.ERROR}, over time (Figure 4), over work and over steps, first seed."
        yield "case3", plots.time_figure(cells), caption
    if "case4" in there:
        caption = f"Case 4, % misclassified on the test set by the largest modulus, over K (Figure 5). {BARS}"
        yield "case4", plots.digits_figure(cells), caption
    if "sweep" in there:
        caption = f"{plots.ERROR} over the spread σ_ω of fixed frequencies (Figure 6); dashed: σ_ω = 1."
        yield "sweep", plots.sweep_figure(cells), caption


def _opening(page: Page, cells: Cells) -> None:
    words = summary.scales(cells)
    page.text(
        "Kammonen, Kiessling, Plecháč, Sandberg, Szepessy (2020), recomputed by fourierwalk. Every figure and table is "
        "drawn from JSON files that the command fourierwalk reproduce wrote."
    )
    if words != ["paper"]:
        page.text(
            f"Scale of these results: {' and '.join(words)}. These are not the paper's parameters: fewer rows, steps, "
            "frequencies and seeds. They show that the code runs and what to expect, and refute nothing.",
            "warn",
        )
    page.heading("Claims of the paper").claims(claims.claims(cells))
    page.heading("The theory, by number").claims(claims.theory(cells))
    page.heading("How we read the paper")
    caption = "What the text leaves open, or says in two ways, and what was done here."
    page.table(caption, ["where", "the paper", "here"], READINGS)


def _film(page: Page, cells: Cells) -> None:
    """Case 1's walk, run again from the settings and the seed of a stored cell."""
    stored = {width: cell for width, cell in _walks(cells) if width <= FILMED}
    if not stored:
        return
    width, cell = max(stored.items())
    settings, result = cell["settings"], cell["result"]
    case, experiment = replace(CASES["case1"], **settings["case"]), Experiment(**settings["experiment"])
    about = f"seed {settings['seed']}, commit {cell['provenance'].get('commit')}, {result['seconds']:.3g} s"
    shown = film(Cell(case, experiment, width, settings["seed"]), about)
    page.heading("The walk, step by step")
    page.text(
        f"All {width} frequencies of Algorithm 1 start at 0 and spread from there. Each frame shows what the algorithm "
        "would return if it stopped there. Inputs and targets are normalised (Algorithm 3)."
    )
    page.fragment(shown.html())
    end = shown.frames[-1].error
    same = "the same" if math.isclose(end, result["rms_modulus"], rel_tol=1e-6) else "not the same"
    page.text(
        f"The walk was run again for this page. It ends with an error of {end:.6g}; the stored cell has "
        f"{result['rms_modulus']:.6g}: {same} to six digits.",
        "note",
    )


def _walks(cells: Cells) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for cell in (cells[key] for key in sorted(cells) if key.startswith("case1/algorithm-1/")):
        if cell["settings"]["seed"] == 0 and "seconds" in cell["result"]:
            yield cell["settings"]["width"], cell


def _section_of(page: Page, cells: Cells, name: str) -> None:
    case = CASES.get(OPENS.get(name, ""))
    if case is not None:
        title = f"{case.title} ({case.shown_in})"
        digits = any(cell["settings"]["case"]["target"] == "digits" for cell in cells.values())
        page.heading(f"{title} (scikit-learn's digits, not MNIST)" if name == "case4" and digits else title)


def _tables_of(page: Page, cells: Cells, name: str) -> None:
    for caption, columns, rows in tables.tables(cells, name):
        page.table(caption, columns, gpus.marked(cells, name, rows) if name in CASES else rows)
    tuned = "The tuned column is ours: σ and λ chosen on a sixth of the training rows." if name == "case4" else ""
    for said in (tuned, gpus.note(cells, name) if name in CASES else "", summary.rounded(cells, name)):
        if said:
            page.text(said, "note")


def _closing(page: Page, cells: Cells) -> None:
    page.heading("Parameters")
    for scale in summary.scales(cells):
        caption = (
            f"Summary of numerical experiments, {scale} scale, printed from the objects that were run; σ and δ in "
        )
        chosen = parameter_table([at_scale(case, scale) for case in CASES.values()])
        page.table(f"{caption}units of normalised frequencies, M, t₀ and m in steps", *chosen)
        lacking = summary.missing(cells, scale)
        page.heading("What is missing" if lacking else "Nothing is missing")
        for line in lacking or ["Every cell of this scale is among the results."]:
            page.text(line, "note")
    page.heading("Where this comes from")
    origins = {
        (str(cell["provenance"]["commit"]), describe(cell["provenance"]))
        for cell in cells.values()
        if cell["provenance"]
    }
    for commit, words in sorted(origins):
        page.text(f"Commit {commit}: {words}", "note")
    seconds = sum(cell["result"].get("seconds", 0.0) for cell in cells.values())
    page.text(f"{len(cells):,} cells, {seconds / 3600:.1f} hours of computing.", "note")
