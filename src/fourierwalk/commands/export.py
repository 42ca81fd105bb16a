"""``fourierwalk export``: a model file as ONNX or as a C header."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

from fourierwalk import loading
from fourierwalk.commands import options as shared
from fourierwalk.files.writing import check_writable

EXAMPLES = """  fourierwalk export houses.fw --out houses.onnx
  fourierwalk export houses.fw --out houses.onnx --float32
  fourierwalk export houses.fw --out houses.h --name price
"""


def register(verbs: Any) -> None:
    """Add the command and its options."""
    parser = shared.verb(verbs, "export", "write a model as ONNX or as a C header", EXAMPLES)
    parser.add_argument("model", type=Path, metavar="MODEL", help="what fourierwalk fit, or model.save, wrote")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="file to write: .onnx, or .h for C")
    parser.add_argument("--float32", action="store_true", help="ONNX in single precision: half the size")
    parser.add_argument("--std", action="store_true", help="ONNX with standard deviations (fit --error-bars)")
    parser.add_argument("--name", help="how all names in a C header start (default: the file's name)")
    parser.add_argument("--readable", action="store_true", help="C with constants as numbers: faster, but longer")
    shared.add_output(parser)
    parser.set_defaults(run=main)


def main(options: argparse.Namespace) -> int:
    """Read the model, write the file, and say how large it is."""
    kind = options.out.suffix.lower()
    if kind not in (".onnx", ".h"):
        raise ValueError(f"--out must end in .onnx or .h, got {options.out}.")
    is_onnx = kind == ".onnx"
    wrong = [name for name in (("name", "readable") if is_onnx else ("float32", "std")) if getattr(options, name)]
    if wrong:
        raise ValueError(f"--{wrong[0]} must be given with {'.h' if is_onnx else '.onnx'} alone, got {options.out}.")
    check_writable(options.out, options.model)
    model = loading.load(options.model)
    if is_onnx:
        model.to_onnx(options.out, dtype="float32" if options.float32 else "float64", std=options.std)
    else:
        name = options.name or re.sub(r"\W|^(?=\d)", "_", options.out.stem, flags=re.ASCII)
        model.to_c(options.out, name=name, readable=options.readable)
    size = options.out.stat().st_size
    if options.json:
        print(json.dumps({"file": str(options.out), "bytes": size}))
    elif not options.quiet:
        print(f"Written: {options.out}, {size / 1000:.1f} kB")
    return 0
