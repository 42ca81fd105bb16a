"""Whether this tree is slower than an earlier commit: cases of ``make bench``, timed in turns with that commit's code.

``python tests/side_by_side.py REV [--out FOLDER] [--rounds 4] [--turns 7]`` on a quiet machine, from a git checkout.
Each round starts three fresh processes on one thread: the earlier commit, the earlier commit once more, and this tree.
They take turns at every case. The middle of the turns' ratios is the figure. The earlier commit against itself is the
noise: a difference within it is none.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SIDES = ("before", "before again", "now")
REPEATS = {
    "direct step, complex, d = 5, N = 10,000, K = 1,024": 1,
    "direct step, cosine-sine, d = 5, N = 10,000, K = 1,024": 1,
    "walk of 200 steps, N = 500, K = 16": 2,
    "fit of a classifier, 256 fixed frequencies, d = 5, N = 10,000": 1,
    "fit of a regressor, likewise": 1,
    "predict, 100,000 rows, d = 5, K = 256": 1,
    "predict, one row, d = 5, K = 256": 1000,
}
HEADER = ("case", "before: seconds", "now: seconds", "now / before", "by round", "noise: before / before", "by round")


def cases():
    """A function for each case. Both trees' ``benchmarks.cpu`` has the names that these need, wherever they live."""
    from fourierwalk import AdaptiveFourierClassifier
    from fourierwalk.benchmarks import cpu

    def step(features):
        x, y, omega = cpu.problem(5, 10_000, 1024)
        minimize = cpu.LeastSquares(cpu.Rows(x, y), features, cpu.REGULARIZATION, cpu.solver_for("direct"))
        return lambda: minimize(omega + 0)

    def walk():
        x, y, omega = cpu.problem(1, 500, 16)
        rows = cpu.Rows(x, y)
        minimize = cpu.LeastSquares(rows, cpu.ComplexExponentials(), cpu.REGULARIZATION, cpu.Solver("direct"))
        sampler = cpu.Metropolis(cpu.RandomWalk(1.0), exponent=1.0, refit_every=201)
        start = sampler.init(minimize, 0 * omega)
        return lambda: list(sampler.sample(minimize, start, cpu.np.random.default_rng(0), 200))

    x, y, _ = cpu.problem(5, 10_000, 1)
    regressor = cpu.AdaptiveFourierRegressor(256, sampler="fixed", initial=1.0, random_state=0)
    regressor.fit(x, y[:, 0])
    classifier = AdaptiveFourierClassifier(256, sampler="fixed", initial=1.0, random_state=0)
    many, one = cpu.np.tile(x, (10, 1)), x[:1]
    calls = [step(cpu.ComplexExponentials()), step(cpu.CosineSine()), walk()]
    calls += [lambda: classifier.fit(x, y[:, 0] > 0), lambda: regressor.fit(x, y[:, 0])]
    calls += [lambda: regressor.predict(many), lambda: regressor.predict(one)]
    return dict(zip(REPEATS, calls, strict=True))


def serve():
    """Be one side: read the name of a case, answer with its seconds."""
    calls = cases()
    for line in sys.stdin:
        name = line.rstrip("\n")
        start = time.perf_counter()
        for _ in range(REPEATS[name]):
            calls[name]()
        print((time.perf_counter() - start) / REPEATS[name], flush=True)


class Side:
    """A process that times cases with one tree's code."""

    def __init__(self, tree):
        alone = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            env={**os.environ, **alone, "PYTHONPATH": str(tree / "src")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, name):
        """One timing of a case."""
        self.process.stdin.write(f"{name}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def end(self):
        """Let the process end."""
        self.process.communicate()


def one_round(trees, n_turns):
    """Seconds of fresh processes, as a list of turns for each case and side. Who begins changes with each turn."""
    sides = [Side(trees[name]) for name in SIDES]
    timed = {name: {side: [] for side in SIDES} for name in REPEATS}
    for name in REPEATS:
        for turn in range(n_turns + 1):
            for i in range(len(sides)):
                place = (turn + i) % len(sides)
                seconds = sides[place].seconds(name)
                if turn:  # the first call of each is not measured
                    timed[name][SIDES[place]].append(seconds)
    for side in sides:
        side.end()
    return timed


def ratio(rounds, name, side):
    """The median over all turns of a side's seconds over those of "before", and the median of each round."""
    turns = [
        [mine / first for mine, first in zip(timed[name][side], timed[name]["before"], strict=True)] for timed in rounds
    ]
    return statistics.median(chain(*turns)), [statistics.median(each) for each in turns]


def summary(rounds):
    """For each case the median seconds, and the ratios."""
    found = {}
    for name in REPEATS:
        every = {side: list(chain(*(timed[name][side] for timed in rounds))) for side in SIDES}
        now, noise = ratio(rounds, name, "now"), ratio(rounds, name, "before again")
        found[name] = {
            "seconds before": statistics.median(every["before"]),
            "seconds now": statistics.median(every["now"]),
            "ratio": now[0],
            "ratio by round": now[1],
            "noise": noise[0],
            "noise by round": noise[1],
        }
    return found


def table(found):
    """The summary as a Markdown table."""
    lines = [HEADER, ("---",) * len(HEADER)]
    for name, row in found.items():
        spans = [f"{min(row[key]):.3f} to {max(row[key]):.3f}" for key in ("ratio by round", "noise by round")]
        seconds = [f"{row[key]:.3g}" for key in ("seconds before", "seconds now")]
        lines.append((name, *seconds, f"{row['ratio']:.3f}", spans[0], f"{row['noise']:.3f}", spans[1]))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main(options):
    """Measure, print, and write where asked."""
    from fourierwalk.reporting.files import write_json, write_text
    from fourierwalk.reporting.provenance import describe, provenance

    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", options.rev, "src"], cwd=ROOT, capture_output=True, check=True)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        trees = {"before": Path(folder), "before again": Path(folder), "now": ROOT}
        rounds = [one_round(trees, options.turns) for _ in range(options.rounds)]
    found = summary(rounds)
    print(table(found))
    if options.out:
        origin = provenance(
            f"python tests/side_by_side.py {options.rev} --rounds {options.rounds} --turns {options.turns}"
        )
        origin |= {"seconds": round(time.perf_counter() - begun), "before": options.rev}
        text = f"{table(found)}\nBefore: {options.rev}. Now: {origin['commit']}. One thread. {describe(origin)}\n"
        write_json(options.out / "side-by-side.json", {"provenance": origin, "cases": found})
        write_text(options.out / "side-by-side.md", text)


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        parser = argparse.ArgumentParser(description=__doc__)
        parser.add_argument("rev", help="the earlier commit")
        parser.add_argument("--out", type=Path, help="folder for side-by-side.json and .md")
        parser.add_argument("--rounds", type=int, default=4, help="fresh processes so many times")
        parser.add_argument("--turns", type=int, default=7, help="timings of each case in a round")
        main(parser.parse_args())
