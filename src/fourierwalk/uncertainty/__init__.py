"""Error bars: the posterior of the amplitudes, the noise, intervals by cross-validation+, and how to check them."""

from fourierwalk.uncertainty.calibration import coverage, expected_calibration_error
from fourierwalk.uncertainty.conformal import Conformal
from fourierwalk.uncertainty.displays import CoverageDisplay, ReliabilityDisplay
from fourierwalk.uncertainty.error_bars import ErrorBars
from fourierwalk.uncertainty.noise import NoiseModel
from fourierwalk.uncertainty.posterior import Posterior

__all__ = [
    "Conformal",
    "CoverageDisplay",
    "ErrorBars",
    "NoiseModel",
    "Posterior",
    "ReliabilityDisplay",
    "coverage",
    "expected_calibration_error",
]
