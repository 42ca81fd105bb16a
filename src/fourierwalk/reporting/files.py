"""Text and JSON, written atomically."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fourierwalk.files.writing import replacing


def write_text(path: Path | str, text: str) -> Path:
    """Write a text file atomically: a reader sees the old one or the new one, never a part."""
    with replacing(path) as file:
        file.write(text.encode("utf-8"))
    return Path(path)


def write_json(path: Path | str, values: Any) -> Path:
    """Write JSON atomically."""
    return write_text(path, json.dumps(values, indent=1, sort_keys=True, allow_nan=False) + "\n")
