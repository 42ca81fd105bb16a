"""Exact calculus of fitted models: derivatives, integrals over boxes, moments, and Sobol indices."""

from fourierwalk.calculus.distributions import Gaussian, Uniform
from fourierwalk.calculus.integrals import Moments, Sobol

__all__ = ["Gaussian", "Moments", "Sobol", "Uniform"]
