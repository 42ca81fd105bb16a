"""Adaptive random Fourier features: models Σ βₖ exp(iωₖ·x) whose frequencies walk to where the data needs them."""

from fourierwalk.checkpoints.checkpoint import Checkpoint
from fourierwalk.distilling import distill
from fourierwalk.estimators import AdaptiveFourierClassifier, AdaptiveFourierFeatures, AdaptiveFourierRegressor
from fourierwalk.loading import load
from fourierwalk.model import FourierModel
from fourierwalk.operators.solver import AdaptiveFourierSolver
from fourierwalk.solving.solver import Solver
from fourierwalk.tables.encoder import TableEncoder
from fourierwalk.version import VERSION

__version__ = VERSION

__all__ = [
    "AdaptiveFourierClassifier",
    "AdaptiveFourierFeatures",
    "AdaptiveFourierRegressor",
    "AdaptiveFourierSolver",
    "Checkpoint",
    "FourierModel",
    "Solver",
    "TableEncoder",
    "distill",
    "load",
]
