"""Files: written beside and renamed, so that none is ever half there."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any


def write_text(path: Path | str, text: str) -> Path:
    """Write a text file in one stroke: a reader sees the old one or the new one, never a part."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path


def write_json(path: Path | str, values: Any) -> Path:
    """Write JSON in one stroke."""
    return write_text(path, json.dumps(values, indent=1, sort_keys=True, allow_nan=False) + "\n")
