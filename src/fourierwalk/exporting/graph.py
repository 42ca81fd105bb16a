"""An ONNX graph under construction."""

from __future__ import annotations

from typing import Any

import numpy as np

from fourierwalk.exporting.extra import needed
from fourierwalk.version import VERSION

OPSETS = {"": 17, "ai.onnx.ml": 3}
"""Versions of the operators: of 2022, so that older runtimes read the files too."""

IR_VERSION = 8


class Graph:
    """Nodes and constants. Every method gives the name of what it adds.

    Parameters
    ----------
    real : dtype
        The precision: float64 or float32. Constants of floating point numbers are rounded to it.
    taken : collection of str
        Names that are not to be used, because they are those of inputs.
    prefix : str
        How all names start.

    Examples
    --------
    >>> import pytest
    >>> onnx = pytest.importorskip("onnx")
    >>> graph = Graph(np.dtype(np.float32))
    >>> graph.node("Add", graph.constant(np.ones(2)), graph.constant(np.zeros(2)))
    'Add_2'
    """

    def __init__(self, real: np.dtype, taken: Any = (), prefix: str = "") -> None:
        self._onnx = needed("onnx", "to_onnx", "onnx")
        self.real, self._taken, self._prefix = real, set(taken), prefix
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []

    def constant(self, values: Any, dtype: Any = None) -> str:
        """An array, or a number. Floating point numbers are rounded to a type; None: to the graph's precision."""
        array = np.asarray(values)
        name = self._name("constant")
        if array.dtype.kind == "U":
            words = [word.encode() for word in array.reshape(-1).tolist()]
            tensor = self._onnx.helper.make_tensor(name, self._onnx.TensorProto.STRING, array.shape, words)
        else:
            array = array.astype(dtype or self.real) if array.dtype.kind == "f" else array
            tensor = self._onnx.numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
        self.constants.append(tensor)
        return name

    def node(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """An operation of one result."""
        name = self._name(kind)
        self.nodes.append(self._onnx.helper.make_node(kind, inputs, [name], name, domain=domain, **attributes))
        return name

    def cast(self, tensor: str, dtype: Any = None) -> str:
        """A tensor in another type; None: in the graph's precision."""
        return self.node("Cast", tensor, to=self.type_of(self.real if dtype is None else dtype))

    def input(self, name: str, dtype: Any, width: int) -> str:
        """An input of any number of rows."""
        self.inputs.append(self._onnx.helper.make_tensor_value_info(name, self.type_of(dtype), [None, width]))
        return name

    def output(self, name: str, tensor: str, dtype: Any, *shape: int) -> None:
        """Make a tensor an output: of any number of rows of this shape."""
        while name in self._taken:
            name += "_out"
        self._taken.add(name)
        self.nodes.append(self._onnx.helper.make_node("Identity", [tensor], [name], name))
        self.outputs.append(self._onnx.helper.make_tensor_value_info(name, self.type_of(dtype), [None, *shape]))

    def type_of(self, dtype: Any) -> int:
        """ONNX's number of a type."""
        dtype = np.dtype(dtype)
        return self._onnx.TensorProto.STRING if dtype.kind == "U" else self._onnx.helper.np_dtype_to_tensor_dtype(dtype)

    def model(self, about: str) -> Any:
        """The finished ``ModelProto``, checked."""
        helper = self._onnx.helper
        graph = helper.make_graph(self.nodes, "fourierwalk", self.inputs, self.outputs, self.constants)
        domains = {node.domain for node in self.nodes} | {""}
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid(domain, OPSETS[domain]) for domain in sorted(domains)],
            ir_version=IR_VERSION,
            producer_name="fourierwalk",
            producer_version=VERSION,
            doc_string=about,
        )
        self._onnx.checker.check_model(model, full_check=True)
        return model

    def _name(self, kind: str) -> str:
        number = len(self.nodes) + len(self.constants)
        name = f"{self._prefix}{kind}_{number}"
        while name in self._taken:
            name += "_"
        return name
