"""``fourierwalk bench``: speeds beside their targets, on a CPU or on a GPU."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from fourierwalk.benchmarks import cpu, gpu
from fourierwalk.benchmarks.figures import HEADER, Figure, markdown
from fourierwalk.files import write_json, write_text
from fourierwalk.provenance import provenance


def register(verbs: Any) -> None:
    """Add the verb and its options."""
    parser = verbs.add_parser("bench", help="measure speeds and print them beside their targets")
    parser.add_argument("--device", default="cpu", help="cpu, or cuda (torch)")
    parser.add_argument("--out", type=Path, help="folder of the results (default: results/bench, cuda: results/gpu)")
    names = f"cpu: {', '.join(cpu.BENCHES)}; cuda: {', '.join(gpu.BENCHES)}"
    parser.add_argument("--only", nargs="+", metavar="NAME", help=f"only these of {names}")
    parser.add_argument("--data-dir", help="folder with MNIST's four files (cuda alone)")
    parser.add_argument("--small", action="store_true", help="toy sizes, to see that it runs: figures mean nothing")
    parser.set_defaults(run=main)


def main(options: argparse.Namespace) -> int:
    """Measure, print, write after every part; the exit code is 0 either way."""
    on_gpu = options.device != "cpu"
    benches: dict[str, Any] = gpu.BENCHES if on_gpu else cpu.BENCHES
    unknown = [name for name in options.only or () if name not in benches]
    if unknown:
        raise ValueError(f"--only must name some of {list(benches)}, got {unknown[0]!r}.")
    shrink = 16 if options.small else 1
    setting: Any = gpu.Setting.on(options.device, shrink, options.data_dir) if on_gpu else shrink
    out = options.out or Path("results/gpu" if on_gpu else "results/bench")
    console, found = Console(), list[Figure]()
    content: dict[str, Any] = {"provenance": provenance(), "toy_sizes": options.small, "figures": []}
    if on_gpu:
        content["device"] = setting.described()
    for name in options.only or benches:
        console.print(f"{name} …")
        try:
            found += benches[name](setting)
        except Exception as error:  # the others are measured all the same
            if not on_gpu:
                raise
            console.print_exception()
            content.setdefault("failures", {})[name] = f"{type(error).__name__}: {error}"
        content["figures"] = [{**vars(figure), "met": figure.met} for figure in found]
        write_json(out / "bench.json", content)
        write_text(out / "bench.md", markdown(found, content["provenance"]))
    console.print(_table(found, options.small))
    if not on_gpu and options.only is None:
        content["scaling"] = cpu.scaling_exponents(shrink)
        write_json(out / "bench.json", content)
        cpu.scaling_figure(content["scaling"]).savefig(out / "scaling.png", dpi=110, metadata={"Software": None})
    console.print(f"Written: {out / 'bench.json'}")
    return 0


def _table(found: list[Figure], is_small: bool) -> Table:
    table = Table(title="Measured against targets" + (" (toy sizes: not to be quoted)" if is_small else ""))
    for column in HEADER:
        table.add_column(column, justify="right" if column in ("measured", "target") else "left")
    for figure in found:
        table.add_row(*figure.cells)
    return table
