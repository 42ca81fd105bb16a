"""The C code of a description's values: encoding, scaling, waves and their sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fourierwalk.exporting.description import Description
from fourierwalk.exporting.inputs import MICROSECONDS, Date, InputColumns

LEVEL = """/* The row of numbers that stands for a level. */
static inline void NAME_level(double code, int levels, int missing, int rows, int width, double *c)
{
    const int row = isnan(code) ? missing : code >= 0 && code < levels ? (int)code : levels;
    for (int i = 0; i < width; i++)
        c[i] = NAME_at(rows + row * width + i);
}

"""

WITHIN = """/* A value between bounds; NaN stays NaN. */
static inline double NAME_within(double value, double lowest, double highest)
{
    return value < lowest ? lowest : value > highest ? highest : value;
}

"""

VALUES = """static inline void NAME_FUNCTION(const double *x, double *y)
{
    double c[ENCODED], z[ENCODED];
ENCODING
    for (int j = 0; j < ENCODED; j++)
        z[j] = (c[SOURCE] - NAME_at(CENTER + j)) / NAME_at(SCALE + j);
CLIPPING    for (int i = 0; i < NAME_OUTPUTS; i++)
        y[i] = FIRST;
    for (int k = 0; k < COUNT; k++) {
        double phase = BIAS;
        for (int j = 0; j < ENCODED; j++)
            phase += z[j] * NAME_at(FREQUENCIES + k * ENCODED + j);
WAVES
    }
BOUNDING}
"""

CLIP = """    for (int j = 0; j < ENCODED; j++) {
        const double share = NAME_within(z[j] / LIMIT, -1e9, 1e9);
        if (NAME_at(CLIPPED + j) != 0)
            z[j] = LIMIT * (share / sqrt(1 + share * share));
    }
"""

SUM = """        for (int i = 0; i < NAME_OUTPUTS; i++)
            y[i] += TERM;"""

BOUND = """    for (int i = 0; i < NAME_OUTPUTS; i++)
        y[i] = NAME_within(y[i], NAME_at(LOWEST + i), NAME_at(LOWEST + NAME_OUTPUTS + i));
"""


class Store:
    """The constants of a header, and where each array of them begins."""

    def __init__(self) -> None:
        self._arrays: list[np.ndarray] = []

    def put(self, array: Any) -> int:
        """Keep an array, and say where it begins."""
        place = sum(each.size for each in self._arrays)
        self._arrays.append(np.asarray(array, dtype=np.float64).reshape(-1))
        return place

    @property
    def array(self) -> np.ndarray:
        """All of them, one after the other."""
        return np.concatenate(self._arrays)


def values(description: Description, store: Store, function: str) -> str:
    """The function of this name; its constants go to the store."""
    inputs, clip, bounds, biases = description.inputs, description.clip, description.bounds, description.biases
    source = "j" if inputs.is_ordered else "order[j]"
    order = [] if inputs.is_ordered else [f"static const int order[] = {_list(inputs.order)};"]
    clipping = "" if clip is None else _put(CLIP, LIMIT=repr(clip.limit), CLIPPED=store.put(clip.clipped))
    bounded = bounds is not None and not description.are_features
    code = _put(
        VALUES,
        CLIPPING=clipping,
        ENCODING="\n".join(f"    {line}" for line in [*order, *_encoding(inputs, store)]),
        WAVES=_features(description) if description.are_features else _sum(description, store),
        BOUNDING=_put(BOUND, LOWEST=store.put(bounds)) if bounded else "",
        FIRST="0" if description.are_features else f"NAME_at({store.put(description.offset)} + i)",
        BIAS="0" if biases is None else f"NAME_at({store.put(biases)} + k)",
        SOURCE=source,
        CENTER=store.put(description.center),
        SCALE=store.put(description.scale),
        FREQUENCIES=store.put(description.frequencies),
        COUNT=description.frequencies.shape[0],
        ENCODED=description.center.size,
        FUNCTION=function,
    )
    return (LEVEL if inputs.lookups else "") + (WITHIN if clip is not None or bounded else "") + code


def _put(template: str, **words: Any) -> str:
    """The template with words in capitals replaced, in this order."""
    for word, value in words.items():
        template = template.replace(word, str(value))
    return template


def _list(numbers: np.ndarray) -> str:
    return f"{{{', '.join(map(str, numbers.tolist()))}}}"


def _encoding(inputs: InputColumns, store: Store) -> list[str]:
    """Lines that fill c with the encoded columns: numbers, marks, categories and dates."""
    lines, start = [], inputs.numbers.size + inputs.indicators.size
    if inputs.numbers.size:
        fill = "" if np.all(np.isnan(inputs.fills)) else f"isnan(v) ? NAME_at({store.put(inputs.fills)} + i) : "
        lines += _loop(inputs.numbers, f"c[i] = {fill}v;")
    if inputs.indicators.size:
        lines += _loop(inputs.indicators, f"c[{inputs.numbers.size} + i] = isnan(v) ? 1 : 0;")
    for lookup in inputs.lookups:
        width, rows = lookup.rows.shape[1], store.put(lookup.rows)
        numbers = f"{len(lookup.levels)}, {lookup.missing}, {rows}, {width}"
        lines.append(f"NAME_level(x[{lookup.place}], {numbers}, c + {start});")
        start += width
    for date in inputs.dates:
        lines += _dated(date, start)
        start += date.width
    return lines


def _loop(places: np.ndarray, statement: str) -> list[str]:
    """A loop over columns of X; v is the value of the i-th."""
    return [
        "{",
        f"    static const int places[] = {_list(places)};",
        f"    for (int i = 0; i < {places.size}; i++) {{",
        "        const double v = x[places[i]];",
        f"        {statement}",
        "    }",
        "}",
    ]


def _dated(date: Date, start: int) -> Sequence[str]:
    lines = [
        f"const double v = x[{date.place}], days = isnan(v) ? 0 : v / {MICROSECONDS!r}, whole = floor(days);",
        f"c[{start}] = isnan(v) ? {date.median!r} : {date.epoch!r} + days / {date.year!r};",
    ]
    parts = {"days": "days", "whole": "whole", "fraction": "(days - whole)"}
    for i, (_, part, shift, period) in enumerate(date.cycles):
        phase = f"{2 * np.pi!r} * (({parts[part]} + {shift!r}) / {period!r})"
        lines += [
            f"c[{start + 1 + 2 * i + turned}] = isnan(v) ? 0 : {wave}({phase});"
            for turned, wave in enumerate(("cos", "sin"))
        ]
    lines += [f"c[{start + date.width - 1}] = isnan(v) ? 1 : 0;"] if date.has_missing else []
    return ["{", *(f"    {line}" for line in lines), "}"]


def _waves(description: Description) -> list[str]:
    """The features of a phase, in C."""
    return ["cos(phase)", "sin(phase)"] if description.biases is None else ["1 / (1 + exp(-phase))"]


def _features(description: Description) -> str:
    """Lines that store the features of frequency k."""
    n, divisor = description.frequencies.shape[0], repr(description.divisor)
    lines = [f"        y[{n * i} + k] = {wave} / {divisor};" for i, wave in enumerate(_waves(description))]
    return "\n".join(lines)


def _sum(description: Description, store: Store) -> str:
    """Lines that add the terms of frequency k to the values."""
    waves, shape = _waves(description), description.coefficients.shape
    place, n = store.put(description.coefficients), description.frequencies.shape[0]
    lines = [f"        const double wave{i} = {wave};" for i, wave in enumerate(waves)]
    terms = [f"wave{i} * NAME_at({place + i * n * shape[1]} + k * NAME_OUTPUTS + i)" for i in range(len(waves))]
    return "\n".join([*lines, _put(SUM, TERM=" + ".join(terms))])
