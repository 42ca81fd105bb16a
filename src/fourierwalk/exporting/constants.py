"""Constants of a C header: as numbers, or packed into strings. Both keep every bit."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

PER_LINE = 8
"""Numbers on a line."""

DIGITS = 11
"""Digits of six bits that a double takes."""

FIRST = ord("#")
"""The digit zero. The digits are the 64 characters from here on."""

LITERAL = """static inline double NAME_at(int i)
{
    return NAME_constants[i];
}
"""

PACKED = """/* Each double is its 64 bits, in 11 digits of six bits, the lowest first. The digit zero is '#'. */
static inline double NAME_at(int i)
{
    const char *digits = NAME_constants[i / PER_LINE] + DIGITS * (i % PER_LINE);
    uint64_t bits = 0;
    double value;
    for (int j = DIGITS - 1; j >= 0; j--)
        bits = bits << 6 | (uint64_t)(digits[j] - '#');
    memcpy(&value, &bits, sizeof value);
    return value;
}
"""


def literal(name: str, values: np.ndarray) -> str:
    """An array of numbers, each with the fewest digits that give the same double.

    Examples
    --------
    >>> print(literal("sine", np.array([0.1, -2.0])).partition(";")[0])
    static const double sine_constants[2] = {
    0.1,-2.0
    }
    """
    words = ["NAN" if value != value else repr(value).replace("inf", "INFINITY") for value in values.tolist()]
    lines = ",\n".join(",".join(line) for line in _lines(words))
    return f"static const double {name}_constants[{values.size}] = {{\n{lines}\n}};\n\n" + LITERAL.replace("NAME", name)


def packed(name: str, values: np.ndarray) -> str:
    """Strings of six-bit digits. The compiled program reads each number out of them when it needs it.

    Examples
    --------
    >>> print(packed("sine", np.array([0.0, 2.0])).partition(";")[0])
    static const char sine_constants[1][89] = {
    "#####################'"
    }
    """
    words = ["".join(map(_digit, _digits(bits))) for bits in values.astype("<f8").view("<u8").tolist()]
    lines = [f'"{"".join(line)}"' for line in _lines(words)]
    code = PACKED.replace("PER_LINE", str(PER_LINE)).replace("DIGITS", str(DIGITS)).replace("NAME", name)
    joined, width = ",\n".join(lines), DIGITS * PER_LINE + 1
    return f"static const char {name}_constants[{len(lines)}][{width}] = {{\n{joined}\n}};\n\n{code}"


def _lines(words: list[str]) -> Iterable[list[str]]:
    return (words[start : start + PER_LINE] for start in range(0, len(words), PER_LINE))


def _digits(bits: int) -> list[int]:
    return [bits >> (6 * place) & 63 for place in range(DIGITS)]


def _digit(value: int) -> str:
    """A digit, escaped where a C string needs it: two question marks would start a trigraph."""
    character = chr(FIRST + value)
    return "\\" + character if character in "\\?" else character
