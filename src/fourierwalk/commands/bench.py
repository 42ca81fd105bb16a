"""``fourierwalk bench``: speeds beside their targets, on a CPU or on a GPU."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from fourierwalk.benchmarks import (
    billion,
    cpu,
    distilling,
    error_bars,
    exports,
    flights,
    gpu,
    plan,
    predictions,
    relief,
    scale,
    tables,
    training,
)
from fourierwalk.benchmarks.figures import HEADER, Figure, markdown, read
from fourierwalk.benchmarks.setting import Setting
from fourierwalk.reporting.files import write_json, write_text
from fourierwalk.reporting.provenance import provenance

ON_CPU = {
    **cpu.BENCHES,
    **predictions.BENCHES,
    **error_bars.BENCHES,
    **tables.BENCHES,
    **exports.BENCHES,
    **plan.BENCHES,
}
ON_ANY_DEVICE = {**billion.BENCHES, **relief.BENCHES, **flights.BENCHES}


class Group(NamedTuple):
    """Benchmarks that run together."""

    folder: str  # of their results
    benches: Mapping[str, Callable[[Setting], Iterable[Figure]]]
    toy_shrink: int  # toy sizes are real ones divided by this


def register(verbs: Any) -> None:
    """Add the command and its options."""
    parser = verbs.add_parser("bench", help="measure speeds and print them beside their targets")
    parser.add_argument("--device", default="cpu", help="cpu, or cuda (torch)")
    parser.add_argument(
        "--out", type=Path, help="folder (default: results/bench, results/scale, results/training or results/gpu)"
    )
    names = f"cpu: {', '.join(ON_CPU)}, distill and distill-trees (with --data-dir); "
    names += f"beyond memory: {', '.join(scale.BENCHES)}, and on any device {', '.join(ON_ANY_DEVICE)}; "
    names += f"default training: {', '.join(training.BENCHES)}; cuda: {', '.join(gpu.BENCHES)}"
    parser.add_argument("--only", nargs="+", metavar="NAME", help=f"run only some of {names}; other results are kept")
    parser.add_argument(
        "--data-dir",
        help="cuda: folder with MNIST's four files, or of the suite's tables, for tables; cpu: folder of the suite's "
        "tables, for distill; else the benchmark's files",
    )
    parser.add_argument(
        "--small", action="store_true", help="toy sizes, to check that it runs: the figures mean nothing"
    )
    parser.add_argument("--shrink", type=int, help="divide the numbers of rows by this (default: 1)")
    parser.set_defaults(run=main)


def main(options: argparse.Namespace) -> int:
    """Measure, print, and write after every figure. The exit code is 0 even where a target is missed."""
    on_gpu = options.device != "cpu"
    folder, benches, toy_shrink = _asked(options)
    unknown = [name for name in options.only or () if name not in benches]
    if unknown:
        raise ValueError(f"--only must name some of {list(benches)}, got {unknown[0]!r}.")
    shrink = toy_shrink if options.small else options.shrink or 1
    out = options.out or Path("results") / folder
    setting = Setting.on(options.device, shrink, options.data_dir, out)
    console = Console()
    content: dict[str, Any] = {"toy_sizes": options.small, "parts": {}, **_kept(out, options)}
    origin = provenance() | ({"device": setting.described()} if on_gpu else {})
    for name in options.only or benches:
        console.print(f"{name} …")
        part: dict[str, Any] = {"provenance": origin, "figures": []}
        parts = {**content["parts"], name: part}
        content["parts"] = {each: parts[each] for each in benches if each in parts}
        try:
            for figure in benches[name](setting):  # long benchmarks give one figure after the other
                part["figures"].append({**vars(figure), "met": figure.met})
                _write(out, content)
        except Exception as error:  # the other benchmarks still run
            if not on_gpu:
                raise
            console.print_exception()
            part["failure"] = f"{type(error).__name__}: {error}"
        _write(out, content)
    console.print(_table(read(content["parts"].values()), options.small))
    if not on_gpu and options.only is None:
        content["scaling"] = cpu.scaling_exponents(shrink)
        write_json(out / "bench.json", content)
        cpu.scaling_figure(content["scaling"]).savefig(out / "scaling.png", dpi=110, metadata={"Software": None})
    console.print(f"Written: {out / 'bench.json'}")
    return 0


def _asked(options: argparse.Namespace) -> Group:
    """The group that has all benchmarks that were named, or else the first one of the device."""
    names = set(options.only or ())
    if options.device != "cpu":
        groups = [Group("gpu", gpu.BENCHES, 16), Group("scale/gpu", ON_ANY_DEVICE, 1000)]
    else:
        groups = [
            Group("bench", _shrunk({**ON_CPU, **distilling.benches(options.data_dir)}), 16),
            Group("scale", {**_shrunk(scale.BENCHES), **ON_ANY_DEVICE}, 1000),
            Group("training", _shrunk(training.BENCHES), 16),
        ]
    return next((group for group in groups if names and names <= group.benches.keys()), groups[0])


def _shrunk(benches: Mapping[str, Any]) -> dict[str, Callable[[Setting], Iterable[Figure]]]:
    """Benchmarks that need to know only by how much they are shrunk."""

    def at(bench: Any) -> Callable[[Setting], Iterable[Figure]]:
        return lambda setting: bench(setting.shrink)

    return {name: at(bench) for name, bench in benches.items()}


def _write(out: Path, content: dict[str, Any]) -> None:
    write_json(out / "bench.json", content)
    write_text(out / "bench.md", markdown(content["parts"].values()))


def _kept(out: Path, options: argparse.Namespace) -> dict[str, Any]:
    """The parts that an earlier run left in the folder, if this run does not measure all of them."""
    path = out / "bench.json"
    if options.only is None or not path.exists():
        return {}
    earlier = json.loads(path.read_text(encoding="utf-8"))
    return earlier if earlier.get("toy_sizes") == options.small and "parts" in earlier else {}


def _table(found: list[Figure], is_small: bool) -> Table:
    table = Table(title="Measured against targets" + (" (toy sizes: not to be quoted)" if is_small else ""))
    for column in HEADER:
        table.add_column(column, justify="right" if column in ("measured", "target") else "left")
    for figure in found:
        table.add_row(*figure.cells)
    return table
