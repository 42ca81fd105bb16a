"""Distillation: any fitted model becomes a Fourier model that gives nearly its answers."""

from fourierwalk.distilling.student import distill

__all__ = ["distill"]
