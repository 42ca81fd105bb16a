"""The paper redrawn: one self-contained page from a folder of results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fourierwalk.paper import claims, plots, results, summary, tables
from fourierwalk.paper.cases import CASES, at_scale, parameter_table
from fourierwalk.paper.readings import READINGS
from fourierwalk.paper.summary import Found
from fourierwalk.paper.verdicts import Claim
from fourierwalk.reporting.page import Page
from fourierwalk.reporting.provenance import describe


def write_report(folder: Path) -> Path:
    """Read the cells of a folder, write its ``report.html`` and its figures as PNG files."""
    found = results.read(folder)
    if not found:
        raise ValueError(f"{folder} holds no results: fourierwalk reproduce --out {folder} writes them.")
    page = Page("Adaptive random Fourier features with Metropolis sampling: the paper, reproduced")
    _opening(page, found)
    for name, figure, caption in figures(found):
        _section_of(page, found, name)
        path = folder / "figures" / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=110, bbox_inches="tight", metadata={"Software": None})
        page.figure(figure, caption)
        _tables_of(page, found, name)
    _closing(page, found)
    return page.write(folder / "report.html")


def figures(found: Found) -> Iterator[tuple[str, Any, str]]:
    """(name, figure, caption) of every figure that the cells allow."""
    there = {key.split("/")[0] for key in found}
    yield (
        "target",
        plots.target_figure(),
        "Case 1's target, the data near the step, and |f̂| (the paper's first figure).",
    )
    if "case1" in there:
        yield "case1", plots.six_panels(found), f"Case 1, {plots.ERROR}; bars are e_K ± 2σ_K (divided by √Ñ)."
        histogram = plots.histogram_figure(found)
        if histogram is not None:
            yield "histogram", histogram, "Case 1: frequencies of Algorithm 1 at the largest K against |f̂|."
        yield "amplitudes", plots.variation_figure(found), "Case 1: how unequal amplitudes are."
    if "case2" in there:
        yield "case2", plots.width_figure(found, CASES["case2"]), f"Case 2, {plots.ERROR}; bars are e_K ± 2σ_K."
    if "case3" in there:
        yield "case3", plots.time_figure(found), f"Case 3, {plots.ERROR}, over time and over steps."
    if "case4" in there:
        yield "case4", plots.digits_figure(found), "Case 4: % misclassified on the test set."
    if "sweep" in there:
        yield (
            "sweep",
            plots.sweep_figure(found),
            f"{plots.ERROR} over the spread of fixed frequencies; dashed: σ_ω = 1.",
        )


def _opening(page: Page, found: Found) -> None:
    words = summary.scales(found)
    page.text(
        "Kammonen, Kiessling, Plecháč, Sandberg, Szepessy (2020), recomputed by fourierwalk. Every figure below is "
        "drawn from JSON files that the command fourierwalk reproduce wrote."
    )
    if words != ["paper"]:
        page.text(f"Scale of these results: {' and '.join(words)}. These are not the paper's parameters.", "warn")
    page.heading("Claims of the paper")
    _claims(page, claims.claims(found))
    page.heading("The theory, by number")
    _claims(page, claims.theory(found))
    page.heading("How we read the paper")
    page.text("What the text leaves open, or says otherwise elsewhere, and what was done here.")
    page.table(["where", "the paper", "here"], [list(each) for each in READINGS])


def _claims(page: Page, judged: list[Claim]) -> None:
    rows = [[c.verdict, c.text, c.where, c.evidence, c.restriction] for c in judged]
    page.table(["verdict", "claim", "where", "evidence", "restriction"], rows)


def _section_of(page: Page, found: Found, name: str) -> None:
    if name in CASES:
        title = f"{CASES[name].title} ({CASES[name].shown_in} of the paper)"
        digits = any(cell["settings"]["case"]["target"] == "digits" for cell in found.values())
        page.heading(f"{title} (scikit-learn's digits, not MNIST)" if name == "case4" and digits else title)
    elif name == "target":
        page.heading("The target of Case 1")


def _tables_of(page: Page, found: Found, name: str) -> None:
    for table in tables.tables(found, name):
        page.text(table.caption)
        page.table(table.columns, table.rows)
    if name == "case4":
        page.text("The tuned column is ours: σ and λ chosen on a sixth of the training rows.")
    if said := summary.rounded(found, name):
        page.text(said)


def _closing(page: Page, found: Found) -> None:
    page.heading("Parameters")
    for scale in summary.scales(found):
        page.text(f"Summary of numerical experiments, {scale} scale; printed from the objects that were run.")
        page.table(*parameter_table([at_scale(case, scale) for case in CASES.values()]))
        lacking = summary.missing(found, scale)
        page.heading("What is missing" if lacking else "Nothing is missing")
        for line in lacking:
            page.text(line, "note")
    page.heading("Where this comes from")
    origins = {
        (str(cell["provenance"]["commit"]), describe(cell["provenance"]))
        for cell in found.values()
        if cell["provenance"]
    }
    for commit, words in sorted(origins):
        page.text(f"Commit {commit}: {words}", "note")
    seconds = sum(cell["result"].get("seconds", 0.0) for cell in found.values())
    page.text(f"{len(found):,} cells, {seconds / 3600:.1f} hours of computing.", "note")
