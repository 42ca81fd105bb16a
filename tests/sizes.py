"""How large the functions and files of a package are, as a table for CONTRIBUTING.

python tests/sizes.py src/fourierwalk path/to/another/package

A line counts if it holds code: blank lines, comments and docstrings do not. A function's lines include its signature,
and those of functions inside it. Folders called tests are left out.
"""

import ast
import io
import statistics
import sys
import tokenize
from pathlib import Path
from typing import NamedTuple

SHORT, LONG = 6, 40
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
HEADS = ["package", "files", "lines", "file: median", "largest", "functions", "function: median", "nine in ten up to"]
HEADS += ["largest", f"under {SHORT} lines", f"over {LONG} lines"]


class Sizes(NamedTuple):
    """Lines of code of each file, and of each function by its name."""

    files: list[int]
    functions: dict[str, int]

    def row(self, name: str) -> list[str]:
        """A row of the table."""
        lengths = sorted(self.functions.values())
        ninth = lengths[int(0.9 * (len(lengths) - 1))]
        short = sum(length < SHORT for length in lengths) / len(lengths)
        figures = [len(self.files), sum(self.files), round(statistics.median(self.files)), max(self.files)]
        figures += [len(lengths), round(statistics.median(lengths)), ninth, lengths[-1]]
        return [name, *(f"{each:,}" for each in figures), f"{short:.0%}", str(sum(length > LONG for length in lengths))]


def docstring_lines(node: ast.AST) -> set[int]:
    """The lines of a module's, class's or function's docstring."""
    if not isinstance(node, DOCUMENTED) or ast.get_docstring(node, clean=False) is None:
        return set()
    return set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))


def code_lines(source: str, tree: ast.AST) -> set[int]:
    """The lines that hold code."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    lines = {line for token in tokens if token.type not in NO_CODE for line in range(token.start[0], token.end[0] + 1)}
    return lines.difference(*(docstring_lines(node) for node in ast.walk(tree)))


def measured(folder: Path) -> Sizes:
    """The sizes of a package's files and functions. A file without code is none."""
    sizes = Sizes([], {})
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder)
        if "tests" in name.parts:
            continue
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        lines = code_lines(source, tree)
        sizes.files.extend([len(lines)] if lines else [])
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                inside = range(node.lineno, (node.end_lineno or 0) + 1)
                sizes.functions[f"{name}:{node.lineno} {node.name}"] = len(lines.intersection(inside))
    return sizes


def main(folders: list[str]) -> None:
    """Print the table, and below it every function that is too long."""
    found = {Path(folder).name: measured(Path(folder)) for folder in folders}
    for cells in [HEADS, ["---"] * len(HEADS), *(sizes.row(name) for name, sizes in found.items())]:
        print(f"| {' | '.join(cells)} |")
    for name, sizes in found.items():
        for function, length in sizes.functions.items():
            if length > LONG:
                print(f"{name}/{function}: {length} lines")


if __name__ == "__main__":
    main(sys.argv[1:])
