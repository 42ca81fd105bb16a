"""A description as a C99 header."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from fourierwalk.exporting import constants, program
from fourierwalk.exporting.description import Classes, Description
from fourierwalk.exporting.inputs import InputColumns
from fourierwalk.exporting.program import Store
from fourierwalk.version import VERSION

PLAIN = re.compile(r'[^ -~]|["\\?*]')
"""What is escaped in a string: all that a C compiler, or the end of a comment, could take for something else."""

INCLUDES = """#include <math.h>
#include <stdint.h>
#include <string.h>
"""

CLASS = """/* The index of the class of a row. */
static inline int NAME_class(const double *x)
{
    double y[NAME_OUTPUTS];
    int best = 0;
    NAME_values(x, y);
    for (int i = 1; i < NAME_OUTPUTS; i++)
        if (y[i] > y[best])
            best = i;
    return best;
}

/* The probability of each class. */
static inline void NAME_predict(const double *x, double *y)
{
    double highest, total = 0;
    NAME_values(x, y);
    highest = y[0];
    for (int i = 1; i < NAME_OUTPUTS; i++)
        highest = fmax(highest, y[i]);
    for (int i = 0; i < NAME_OUTPUTS; i++)
        total += y[i] = exp(TEMPERATURE * (y[i] - highest));
    for (int i = 0; i < NAME_OUTPUTS; i++)
        y[i] = KEPT * (y[i] / total) + SHARE;
}
"""


def to_c(description: Description, name: str = "model", readable: bool = False) -> str:
    """The text of the header.

    Parameters
    ----------
    description : Description
        What to compute.
    name : str
        How all names in the header start.
    readable : bool
        Whether constants are numbers, and not packed into strings.
    """
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name, re.ASCII):
        raise ValueError(f"name must be a name in C, of letters, digits and underscores, got {name!r}.")
    store, classes = Store(), description.classes
    code = program.values(description, store, "predict" if classes is None else "values").replace("NAME", name)
    sizes = f"{name}_INPUTS = {len(description.inputs.names)}, {name}_OUTPUTS = {description.n_outputs}"
    parts = [
        f"/* {_about(description, name)}\n */\n#ifndef {name}_HEADER\n#define {name}_HEADER\n",
        INCLUDES,
        f"enum {{ {sizes} }};\n",
        (constants.literal if readable else constants.packed)(name, store.array),
        code,
        *([] if classes is None else [_labels(classes, name), _classes(classes).replace("NAME", name)]),
        "#endif\n",
    ]
    return "\n".join(parts)


def quoted(word: str) -> str:
    """A string of C, in ASCII.

    Examples
    --------
    >>> print(quoted('a "b"'), quoted("*/"))
    "a \\042b\\042" "\\052/"
    """
    escaped = PLAIN.sub(lambda match: "".join(f"\\{byte:03o}" for byte in match.group().encode()), word)
    return f'"{escaped}"'


def _about(description: Description, name: str) -> str:
    """The first comment: what there is, and the columns of a row."""
    what = "features" if description.are_features else "prediction" if description.classes is None else "probabilities"
    lines = [
        f"A model of fourierwalk {VERSION}, in C99. It needs the standard library alone.",
        "",
        f"void {name}_predict(const double *x, double *y) writes the {what} of a row x to y.",
        *([] if description.classes is None else [f"int {name}_class(const double *x) gives the index of its class."]),
        "NaN is a missing value, so do not compile with -ffast-math.",
        "",
        *_columns(description.inputs),
    ]
    return "\n * ".join(lines).replace(" * \n", " *\n")


def _columns(inputs: InputColumns) -> list[str]:
    """A line for each column of X."""
    said = {lookup.place: _levels(lookup.levels) for lookup in inputs.lookups}
    said |= {date.place: "a date, in microseconds since 1970" for date in inputs.dates}
    return [f"x[{j}] {quoted(name)}: {said.get(j, 'a number')}" for j, name in enumerate(inputs.names)]


def _levels(levels: Sequence[str | None]) -> str:
    words = ["missing" if level is None else quoted(level) for level in levels]
    return f"{', '.join(f'{code} = {word}' for code, word in enumerate(words))}, or another number if unknown"


def _labels(classes: Classes, name: str) -> str:
    """The labels as an array: of strings, of whole numbers or of doubles."""
    values = classes.labels.tolist()
    if classes.are_words:
        kind, words = "char *const", [quoted(word) for word in values]
    elif classes.labels.dtype.kind == "f":
        kind, words = "double", [repr(value) for value in values]
    else:
        kind, words = "int64_t", [str(int(value)) for value in values]
    return f"static const {kind} {name}_labels[{len(words)}] = {{{', '.join(words)}}};\n"


def _classes(classes: Classes) -> str:
    uniform = np.float64(classes.share / classes.labels.size)
    filled = {"TEMPERATURE": classes.scale, "KEPT": 1 - classes.share, "SHARE": uniform}
    code = CLASS
    for word, value in filled.items():
        code = code.replace(word, repr(float(value)))
    return code
