"""Samplers of frequencies: Algorithms 1 and 2 with their proposals, resampling, and descent. They never see data."""

from fourierwalk.sampling.descent import Descent
from fourierwalk.sampling.proposals import (
    AdaptiveWalk,
    AnnealedWalk,
    Proposal,
    RandomWalk,
    ScaledWalk,
    ShapedWalk,
    TargetedWalk,
)
from fourierwalk.sampling.resampling import Resampling
from fourierwalk.sampling.sampler import Info, Metropolis, State

__all__ = [
    "AdaptiveWalk",
    "AnnealedWalk",
    "Descent",
    "Info",
    "Metropolis",
    "Proposal",
    "RandomWalk",
    "Resampling",
    "ScaledWalk",
    "ShapedWalk",
    "State",
    "TargetedWalk",
]
