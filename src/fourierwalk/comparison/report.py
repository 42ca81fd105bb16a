"""One page from a folder of cells: a table, a verdict and a figure per data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fourierwalk.comparison import plots, summary
from fourierwalk.comparison.summary import Found
from fourierwalk.paper import results
from fourierwalk.reporting.files import write_text
from fourierwalk.reporting.page import Page
from fourierwalk.reporting.provenance import describe

EXPLANATION = (
    "Ours is AdaptiveFourierRegressor or AdaptiveFourierClassifier with default settings at K frequencies (2K real "
    "columns). Every peer has its inputs scaled by the same rule as ours, regression targets standardised, and its "
    "parameters tuned by cross-validation on training rows only: a coarse grid, then a closer one. Kernel ridge and "
    "support vector machines are tuned on at most 2,000 of the rows, the others on at most 5,000; the last fit is on "
    "all. Errors are means ± standard deviations over the splits, all methods on the same splits. Seconds to fit "
    "include all tuning, also ours; the last fit is what remains once the parameters are known."
)
CAUTION = (
    "The best peer is the one of the lowest mean test error among kernel methods, fixed features and the network, "
    "chosen after the fact, which favours it. Random splits of one data set share rows: there the standard error of a "
    "difference is too small to be read as a test."
)
CAPTION = (
    "Error over seconds to fit, means over the splits, bars of ± one standard deviation. The thin line ends at the "
    "last fit alone, without tuning; the dotted line is the front that no method beats in both."
)


def write_report(folder: Path) -> Path:
    """Read the cells of a folder, write its ``comparison.html`` and its figures as PNG files."""
    found = read(folder)
    page = Page("fourierwalk compared with its peers").text(EXPLANATION).text(CAUTION, "note")
    for dataset in summary.datasets(found):
        _section(page, found, dataset, folder)
    page.heading("Where this comes from")
    for line in origins(found):
        page.text(line, "note")
    write_text(folder / "tables.md", markdown(found))
    return page.write(folder / "comparison.html")


def markdown(found: Found) -> str:
    """The tables and verdicts alone, for documents."""
    lines = [EXPLANATION, "", CAUTION, ""]
    for dataset in summary.datasets(found):
        table = summary.rows(found, dataset)
        header = [summary.error_name(found, dataset) if name == "error" else name for name in summary.HEADER]
        lines += [
            f"### {dataset}",
            "",
            summary.describe(found, dataset),
            "",
            line(header),
            line(["---"] * len(header)),
        ]
        lines += [line(summary.cells_of(row)) for row in table]
        lines += ["", *(f"- {summary.words_of(difference)}" for difference in summary.differences(table)), ""]
    return "\n".join([*lines, *origins(found), ""])


def line(cells: Sequence[str]) -> str:
    """Of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def read(folder: Path) -> Found:
    """The cells of a folder, or a sentence that there are none."""
    found = results.read(folder)
    if not found:
        raise ValueError(f"{folder} holds no cells: fourierwalk compare --out {folder} writes them.")
    return found


def _section(page: Page, found: Found, dataset: str, folder: Path) -> None:
    page.heading(dataset).text(summary.describe(found, dataset))
    table, label = summary.rows(found, dataset), summary.error_name(found, dataset)
    if table:
        header = [label if name == "error" else name for name in summary.HEADER]
        page.table(header, [summary.cells_of(row) for row in table])
        for difference in summary.differences(table):
            page.text(summary.words_of(difference))
        figure = plots.pareto_figure(table, label)
        path = folder / "figures" / f"{dataset}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=110, bbox_inches="tight", metadata={"Software": None})
        page.figure(figure, CAPTION)
    for lines, kind in ((summary.warnings_of(found, dataset), "warn"), (summary.left_out(found, dataset), "note")):
        if lines:
            page.text(" ".join(lines), kind)


def origins(found: Found) -> list[str]:
    """Each commit and machine once, with the methods that it computed."""
    origins: dict[str, set[str]] = {}
    for cell in found.values():
        origin = cell["provenance"]
        words = f"Commit {origin['commit']}: {describe(origin)}"
        threads = cell["result"].get("threads")
        words += f" Threads: {threads}." if threads else ""
        if "error" in cell["result"]:
            origins.setdefault(words, set()).add(cell["settings"]["method"]["label"])
    return [f"{words} Methods: {', '.join(sorted(methods))}." for words, methods in sorted(origins.items())]
