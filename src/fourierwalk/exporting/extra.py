"""Packages that only an export needs."""

from __future__ import annotations

import importlib
from typing import Any


def needed(package: str, what: str, extra: str) -> Any:
    """The imported package. If it is missing, the error says what needs it and which extra brings it.

    Examples
    --------
    >>> needed("no_such_package", "to_onnx", "onnx")
    Traceback (most recent call last):
        ...
    ImportError: to_onnx needs no_such_package: pip install 'fourierwalk[onnx]'.
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise ImportError(f"{what} needs {package}: pip install 'fourierwalk[{extra}]'.") from error
