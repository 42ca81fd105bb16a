"""Frequencies ↦ amplitudes: the least squares problem and the ways to solve it."""
