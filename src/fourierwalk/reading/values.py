"""Turns the texts of a column into numbers, dates and times, or words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from fourierwalk.tables.table import MOMENTS, NUMBERS, WORDS

MISSING = frozenset(["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "<NA>", "#N/A", "?"])
"""Texts that mean a missing value. Spaces around them do not count."""

TRUTHS = {**dict.fromkeys(("true", "TRUE"), "True"), **dict.fromkeys(("false", "FALSE"), "False")}
"""Spellings of truth values, each with the one word that it becomes."""

SAMPLE = 1000
"""Number of texts used to estimate which share of a column of words are numbers."""

POINT, COMMA = ".", ","
_THOUSANDS = {
    POINT: re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?"),
    COMMA: re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?([eE][+-]?\d+)?"),
}
_MOMENT = re.compile(
    r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?:[ T](\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) ?(?:Z|UTC|[+-]\d{2}:?\d{2})?)?"
)
_GERMAN = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?: (\d{1,2}:\d{2}(?::\d{2})?))?")


class OddText(ValueError):
    """The error for a text that is not of the kind. `place` is its index among the texts."""

    def __init__(self, place: int, text: str) -> None:
        super().__init__(text)
        self.place, self.text = place, text


def numbers(texts: Sequence[str], decimal: str = POINT) -> np.ndarray:
    """Numbers as float64, with NaN for missing values. Thousands separators are allowed.

    Examples
    --------
    >>> numbers(["1", " 2.5", "", "1,234.5"])
    array([1.0000e+00, 2.5000e+00,        nan, 1.2345e+03])
    >>> numbers(["1.234,5", "0,25"], decimal=",")
    array([1.2345e+03, 2.5000e-01])
    """
    if decimal == POINT:
        try:
            return np.array(list(map(float, texts)))
        except ValueError:
            pass
    return np.array(_each(texts, lambda text: _number(text, decimal)), dtype=np.float64)


def _number(text: str, decimal: str) -> float:
    text = text.strip()
    if text in MISSING:
        return np.nan
    if _THOUSANDS[decimal].fullmatch(text):
        text = text.replace(",", "") if decimal == POINT else text.replace(".", "").replace(",", ".")
    elif decimal == COMMA and "," in text:
        raise ValueError(text)
    return float(text)


def moments(texts: Sequence[str], decimal: str = POINT) -> np.ndarray:
    """Dates and times, written year first or as in 31.12.2024. A time with a time zone keeps its local hour.

    Examples
    --------
    >>> moments(["2024-01-31", "2024/2/1 13:30", "31.12.2024", ""])
    array(['2024-01-31T00:00:00.000000', '2024-02-01T13:30:00.000000',
           '2024-12-31T00:00:00.000000',                        'NaT'],
          dtype='datetime64[us]')
    """
    return np.array(_each(texts, _moment), dtype="datetime64[us]")


def _moment(text: str) -> np.datetime64:
    text = text.strip()
    if text in MISSING:
        return np.datetime64("NaT", "us")
    if found := _MOMENT.fullmatch(text):
        year, _, month, day, hour = found.groups()
    elif found := _GERMAN.fullmatch(text):
        day, month, year, hour = found.groups()
    else:
        raise ValueError(text)
    clock = f"T{hour.zfill(5) if hour.count(':') == 1 else hour.zfill(8)}" if hour else ""
    return np.datetime64(f"{year}-{month.zfill(2)}-{day.zfill(2)}{clock}", "us")


def words(texts: Sequence[str], decimal: str = POINT) -> np.ndarray:
    """Words without the spaces around them, with None for missing values. Equal words are one object.

    Examples
    --------
    >>> words(["red ", "NA", "TRUE"])
    array(['red', None, 'True'], dtype=object)
    """
    known: dict[str, str | None] = {}
    for text in set(texts):
        word = text.strip()
        known[text] = None if word in MISSING else TRUTHS.get(word, word)
    found = np.empty(len(texts), dtype=object)
    found[:] = [known[text] for text in texts]
    return found


PARSERS: dict[str, Callable[[Sequence[str], str], np.ndarray]] = {NUMBERS: numbers, MOMENTS: moments, WORDS: words}


def share_of_numbers(texts: Sequence[str], decimal: str) -> float:
    """The share of numbers among the first texts that are not missing."""
    there = [text for text in texts[:SAMPLE] if text.strip() not in MISSING]
    return sum(is_number(text, decimal) for text in there) / max(1, len(there))


def is_number(text: str, decimal: str = POINT) -> bool:
    """Whether a text is a number."""
    try:
        _number(text, decimal)
    except ValueError:
        return False
    return text.strip() not in MISSING


def has_decimal_comma(texts: Sequence[str]) -> bool:
    """Whether some numbers among the texts have a decimal comma and none has a decimal point."""
    plain = [text.strip() for text in texts]
    points = any(re.fullmatch(r"[+-]?\d+\.\d+", text) and not _THOUSANDS[COMMA].fullmatch(text) for text in plain)
    return not points and any(re.fullmatch(r"[+-]?(\d{1,3}(\.\d{3})+|\d+),\d+", text) for text in plain)


def _each(texts: Sequence[str], parse: Callable[[str], object]) -> list[object]:
    found = []
    for place, text in enumerate(texts):
        try:
            found.append(parse(text))
        except ValueError as error:
            raise OddText(place, text.strip()) from error
    return found
