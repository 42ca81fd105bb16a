"""Checkpoints: the file from which an interrupted fit is continued."""

from fourierwalk.checkpoints.checkpoint import Checkpoint

__all__ = ["Checkpoint"]
