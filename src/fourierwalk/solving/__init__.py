"""Amplitudes from frequencies: the least squares problem, and the ways to solve it."""

from fourierwalk.solving.direct import Direct
from fourierwalk.solving.dual import Dual
from fourierwalk.solving.eigensystem import Eigensystem
from fourierwalk.solving.fourier_space import FourierSpace
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.minibatch import Minibatch
from fourierwalk.solving.normal_equations import NormalEquations
from fourierwalk.solving.orthogonal import Orthogonal
from fourierwalk.solving.paths import Path
from fourierwalk.solving.solution import Solution, SolveInfo
from fourierwalk.solving.solver import Solver
from fourierwalk.solving.spectral import Spectral
from fourierwalk.solving.system import System

__all__ = [
    "Direct",
    "Dual",
    "Eigensystem",
    "FourierSpace",
    "LeastSquares",
    "Minibatch",
    "NormalEquations",
    "Orthogonal",
    "Path",
    "Solution",
    "SolveInfo",
    "Solver",
    "Spectral",
    "System",
]
