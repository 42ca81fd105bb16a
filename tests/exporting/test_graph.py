import numpy as np
import pytest
from exported import run_onnx

from fourierwalk.exporting.graph import Graph

onnx = pytest.importorskip("onnx")


def test_constants_are_rounded_to_the_precision():
    graph = Graph(np.dtype(np.float32))
    graph.constant(np.ones(2))
    graph.constant(np.ones(2), np.float64)
    graph.constant(np.arange(2))
    graph.constant(np.array(["ä"]))
    kinds = [tensor.data_type for tensor in graph.constants]
    proto = onnx.TensorProto
    assert kinds == [proto.FLOAT, proto.DOUBLE, proto.INT64, proto.STRING]
    assert [list(tensor.dims) for tensor in graph.constants] == [[2], [2], [2], [1]]


def test_names_that_inputs_have_are_not_taken():
    graph = Graph(np.dtype(np.float64), ["Add_1", "variable"])
    x = graph.input("Add_1", np.float64, 2)
    total = graph.node("Add", x, graph.constant(1.0))
    graph.output("variable", total, np.float64, 2)
    assert total == "Add_1_"
    found = run_onnx(graph.model(""), {"Add_1": np.zeros((3, 2))})
    assert {name: values.tolist() for name, values in found.items()} == {"variable_out": [[1.0, 1.0]] * 3}


def test_a_graph_that_makes_no_sense_is_an_error():
    graph = Graph(np.dtype(np.float64))
    graph.output("variable", graph.node("Add", "nothing", "nothing"), np.float64, 2)
    with pytest.raises(onnx.checker.ValidationError):
        graph.model("")
