"""The data: rows and their blocks, streaming, scaling (Algorithm 3), features, and the span of wide rows."""

from fourierwalk.data.affine import Affine
from fourierwalk.data.columns import Columns
from fourierwalk.data.features import Activation, ComplexExponentials, CosineSine, Features, sigmoid
from fourierwalk.data.rows import Block, Rows
from fourierwalk.data.scaling import Scaling
from fourierwalk.data.span import Span
from fourierwalk.data.streaming import Streamed

__all__ = [
    "Activation",
    "Affine",
    "Block",
    "Columns",
    "ComplexExponentials",
    "CosineSine",
    "Features",
    "Rows",
    "Scaling",
    "Span",
    "Streamed",
    "sigmoid",
]
