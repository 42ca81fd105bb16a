"""Linear operators of a model, and what is known about them: derivatives observed, and differential equations."""

from fourierwalk.operators.condition import Condition
from fourierwalk.operators.domain import Domain
from fourierwalk.operators.operator import Operator, at, d, divergence, identity, laplacian

__all__ = ["Condition", "Domain", "Operator", "at", "d", "divergence", "identity", "laplacian"]
