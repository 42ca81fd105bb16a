"""Converters of the estimators for skl2onnx, so that pipelines with them become ONNX."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fourierwalk.estimators import AdaptiveFourierClassifier, AdaptiveFourierFeatures, AdaptiveFourierRegressor
from fourierwalk.exporting.description import Description
from fourierwalk.exporting.extra import needed
from fourierwalk.exporting.graph import Graph
from fourierwalk.exporting.inputs import InputColumns
from fourierwalk.exporting.network import encoded, joined, outputs, prepared

OPTIONS = {"zipmap": [True, False, "columns"], "nocl": [True, False], "output_class_labels": [False, True]}
"""What skl2onnx lets users choose for classifiers."""

LABEL_ENCODER = 2
"""The version of the operator that finds the index of a word. skl2onnx would take a newer one than it supports."""


def register() -> None:
    """Tell skl2onnx how to convert the three estimators (extra ``onnx``).

    A pipeline with inputs of single precision is converted to single precision. For predictions that equal those of
    Python, give inputs of the type ``DoubleTensorType``.

    Examples
    --------
    >>> import numpy as np
    >>> import pytest
    >>> skl2onnx, runtime = pytest.importorskip("skl2onnx"), pytest.importorskip("onnxruntime")
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from fourierwalk import AdaptiveFourierRegressor, converters
    >>> converters.register()
    >>> x = np.linspace(-3, 3, 300)[:, None]
    >>> pipeline = make_pipeline(StandardScaler(), AdaptiveFourierRegressor(8, random_state=0))
    >>> pipeline = pipeline.fit(x, np.sin(2 * x[:, 0]))
    >>> session = runtime.InferenceSession(skl2onnx.to_onnx(pipeline, x).SerializeToString())
    >>> bool(np.allclose(session.run(None, {"X": x})[0][:, 0], pipeline.predict(x), rtol=0, atol=1e-12))
    True
    """
    skl2onnx = needed("skl2onnx", "register", "onnx")
    for kind in (AdaptiveFourierRegressor, AdaptiveFourierClassifier, AdaptiveFourierFeatures):
        options = OPTIONS if kind is AdaptiveFourierClassifier else None
        skl2onnx.update_registered_converter(kind, f"Fourierwalk{kind.__name__}", _shape, _convert, options=options)


def _shape(operator: Any) -> None:
    """Set types and shapes of an operator's outputs."""
    types = needed("skl2onnx", "register", "onnx").common.data_types
    description = _described(operator)
    n_rows = operator.inputs[0].get_first_dimension()
    real = types.DoubleTensorType if _real(operator) == np.float64 else types.FloatTensorType
    real = types.FloatTensorType if _is_zipped(operator) else real
    operator.outputs[-1].type = real([n_rows, description.n_outputs])
    if description.classes is not None:
        label = types.StringTensorType if description.classes.are_words else types.Int64TensorType
        operator.outputs[0].type = label([n_rows])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of an operator."""
    onnx = needed("onnx", "register", "onnx")
    description = prepared(_described(operator), _real(operator))
    graph = Graph(_real(operator), prefix=scope.get_unique_operator_name("fourierwalk") + "_")
    columns = encoded(graph, description.inputs, _tensors(graph, operator, description.inputs))
    results = outputs(graph, description, columns)
    if _is_zipped(operator):
        results[-1] = results[-1]._replace(tensor=graph.cast(results[-1].tensor, np.float32))
    container.initializers.extend(graph.constants)
    for node in graph.nodes:
        attributes = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
        about = {"op_domain": node.domain, "op_version": LABEL_ENCODER if node.domain else None, "name": node.name}
        container.add_node(node.op_type, list(node.input), list(node.output), **about, **attributes)
    for result, variable in zip(results, operator.outputs, strict=True):
        container.add_node("Identity", [result.tensor], [variable.full_name], name=f"{result.tensor}_out")


def _described(operator: Any) -> Description:
    """The description of an operator's estimator. skl2onnx has words or whole numbers as labels."""
    description: Description = operator.raw_operator.description()
    classes = description.classes
    if classes is None or classes.are_words:
        return description
    return replace(description, classes=replace(classes, labels=classes.labels.astype(np.int64)))


def _real(operator: Any) -> np.dtype:
    """Double precision if some input has it."""
    is_double = any("Double" in type(each.type).__name__ for each in operator.inputs)
    return np.dtype(np.float64 if is_double else np.float32)


def _is_zipped(operator: Any) -> bool:
    """Whether the probabilities become dicts (option zipmap). ONNX has these in single precision only."""
    others = operator.scope_inst.operators.values()
    return any(each.type == "SklearnZipMap" and operator.outputs[-1] in list(each.inputs) for each in others)


def _tensors(graph: Graph, operator: Any, inputs: InputColumns) -> list[str]:
    """One tensor for each column of X, or one matrix of numbers."""
    given, dates = operator.inputs, {date.place for date in inputs.dates}
    kinds = [type(each.type).__name__ for each in given]
    if len(given) == len(inputs.names):
        are_kept = ["String" in kind or place in dates for place, kind in enumerate(kinds)]
    elif inputs.dates or not all(lookup.has_numbers for lookup in inputs.lookups):
        raise ValueError(
            f"The model must have one input for each of its columns {list(inputs.names)}, because some hold words or "
            f"dates, got {len(given)} inputs."
        )
    else:
        are_kept = [False] * len(given)
    names = [each.full_name if kept else graph.cast(each.full_name) for each, kept in zip(given, are_kept, strict=True)]
    return names if len(given) == len(inputs.names) and not inputs.is_matrix else [joined(graph, names)]
