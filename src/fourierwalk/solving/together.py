"""The equations of several sets of frequencies from one pass over the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fourierwalk.arrays.library import Array, namespace
from fourierwalk.data.rows import Block
from fourierwalk.solving.direct import Direct
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.normal_equations import InNormalEquations, NormalEquations
from fourierwalk.solving.system import System


@dataclass(frozen=True)
class SeveralSums:
    """SeveralSums sums that are made in the same pass. Two of them add up sum by sum."""

    sums: tuple[NormalEquations, ...]

    def __add__(self, other: SeveralSums) -> SeveralSums:
        return SeveralSums(tuple(one + another for one, another in zip(self.sums, other.sums, strict=True)))


@dataclass(frozen=True)
class InSeveralSums:
    """The share of a block in several sums."""

    terms: tuple[InNormalEquations, ...]

    def __call__(self, block: Block) -> SeveralSums:
        """The shares."""
        return SeveralSums(tuple(term(block) for term in self.terms))


def systems(problem: LeastSquares, several: Sequence[Array]) -> list[System]:
    """The equations at each of several sets of frequencies, in double precision, from one pass over the rows.

    On the spectral path that pass makes a grid that is fine enough for all of them. A grid is made if the user asks for
    it, or if the direct path would take longer than to make it.
    """
    if not several:
        return []
    direct = [Direct(problem.rows, problem.features, frequencies) for frequencies in several]
    space, seconds = problem.paths.space, sum(path.seconds(False) for path in direct)
    if space is not None and (problem.solver.path == "spectral" or seconds > space.spreading_seconds()):
        space.grid_for(space.measured(namespace(several[0]).concat(list(several), axis=0)))
        return [problem.paths.at(frequencies).system("double") for frequencies in several]
    for path in direct:
        path.announce(problem.solver, problem.paths.budget)
    terms = tuple(InNormalEquations(problem.features, frequencies) for frequencies in several)
    total = problem.rows.sum(InSeveralSums(terms), max(path.width for path in direct))
    return [sums.system(problem.features) for sums in total.sums]
