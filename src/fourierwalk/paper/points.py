"""The text of each point of a figure, shown when a reader points at it: seeds, seconds, commits."""

from __future__ import annotations

from typing import Any

import numpy as np

from fourierwalk.paper.cases import Case, Experiment
from fourierwalk.paper.gpus import gpu_of
from fourierwalk.paper.summary import Cells


def titled(experiment: Experiment) -> str:
    """An experiment with the number that the paper gives it."""
    return f"Experiment {experiment.number}: {experiment.label}" if experiment.number else experiment.label


def told(everything: Cells, case: Case, experiment: Experiment, width: int, figure: str) -> str:
    """The text of a point of a curve: each seed's value and seconds, the commits, the GPUs."""
    start = f"{case.name}/{experiment.name}/K{width:05d}-"
    of_point = [cell for key, cell in sorted(everything.items()) if key.startswith(start)]
    cells = [cell for cell in of_point if cell["result"].get(figure) is not None]
    lines = [f"{titled(experiment)}, K = {width}", *map(_seed_line, cells, [figure] * len(cells))]
    commits = sorted({str(cell["provenance"].get("commit")) for cell in cells})
    gpus = sorted({gpu_of(cell) for cell in cells} - {""})
    return "\n".join([*lines, f"commit {', '.join(commits)}", *(f"on a GPU: {name}" for name in gpus)])


def _seed_line(cell: dict[str, Any], figure: str) -> str:
    seconds = cell["result"].get("seconds")
    return f"seed {cell['settings']['seed']}: {cell['result'][figure]:.4g}" + (
        f" in {seconds:.3g} s" if seconds else ""
    )


def told_trace(everything: Cells, experiment: Experiment, line: np.ndarray) -> list[str]:
    """The text of a mark of Case 3's curves: step, error and seconds, the seed, the commit."""
    cells = [cell for key, cell in sorted(everything.items()) if key.startswith(f"case3/{experiment.name}/")]
    cell = min((each for each in cells if "trace" in each["result"]), key=lambda each: bool(gpu_of(each)))
    origin = f"seed {cell['settings']['seed']}, commit {cell['provenance'].get('commit')}"
    return [
        f"{titled(experiment)}\nstep {int(step):,}: {error:.4g} after {seconds:.3g} s\n{origin}"
        for step, seconds, error in line[:, :3]
    ]
