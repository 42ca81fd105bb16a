"""Adaptive random Fourier features: models Σ βₖ exp(iωₖ·x) whose frequencies walk to where the data needs them."""

from fourierwalk.estimators import AdaptiveFourierClassifier, AdaptiveFourierFeatures, AdaptiveFourierRegressor
from fourierwalk.model import FourierModel
from fourierwalk.solving.solver import Solver
from fourierwalk.tables.encoder import TableEncoder

__version__ = "0.1.0"

__all__ = [
    "AdaptiveFourierClassifier",
    "AdaptiveFourierFeatures",
    "AdaptiveFourierRegressor",
    "FourierModel",
    "Solver",
    "TableEncoder",
]
