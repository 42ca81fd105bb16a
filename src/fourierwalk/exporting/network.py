"""A description as ONNX: encoding, scaling, waves, values and classes, one function each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.exporting.description import Classes, Clip, Description
from fourierwalk.exporting.graph import Graph
from fourierwalk.exporting.inputs import MICROSECONDS, Date, InputColumns, Lookup
from fourierwalk.exporting.spread import Spread
from fourierwalk.parameters import option

NO_DATE = np.iinfo(np.int64).min
"""A missing date: NumPy's NaT as an integer."""

FAR = 1e9
"""Values beyond this many limits of a clip are at the limit, to all digits."""


class Output(NamedTuple):
    """A tensor that the user gets: its name, its type, and its shape after the rows."""

    name: str
    tensor: str
    dtype: Any
    shape: tuple[int, ...]


def to_onnx(description: Description, dtype: Any = "float64") -> Any:
    """The ``ModelProto`` of a description.

    Parameters
    ----------
    description : Description
        What to compute.
    dtype : {"float64", "float32"}
        The precision of inputs, constants and outputs.
    """
    name = np.dtype(dtype).name if isinstance(dtype, type | np.dtype) else dtype
    option("dtype", name, ("float64", "float32"))
    description = prepared(description, np.dtype(name))
    inputs = description.inputs
    graph = Graph(np.dtype(name), ("X",) if inputs.is_matrix else inputs.names)
    for each in outputs(graph, description, encoded(graph, inputs, declared(graph, inputs))):
        graph.output(each.name, each.tensor, each.dtype, *each.shape)
    return graph.model("An adaptive random Fourier features model.")


def prepared(description: Description, real: np.dtype) -> Description:
    """The description to be written in a precision: single precision does not have the digits of a year."""
    return description.with_centred_dates() if real == np.float32 else description


def declared(graph: Graph, inputs: InputColumns) -> list[str]:
    """The inputs of the graph: one matrix X, or one column for each name."""
    if inputs.is_matrix:
        return [graph.input("X", graph.real, len(inputs.names))]
    kinds: dict[int, Any] = {lookup.place: np.str_ for lookup in inputs.lookups}
    kinds |= {date.place: np.int64 for date in inputs.dates}
    return [graph.input(name, kinds.get(place, graph.real), 1) for place, name in enumerate(inputs.names)]


def encoded(graph: Graph, inputs: InputColumns, tensors: Sequence[str]) -> str:
    """The encoded columns, from one matrix of numbers or from one tensor for each column of X."""
    is_matrix = inputs.is_matrix or len(tensors) < len(inputs.names)

    def taken(places: Sequence[int]) -> str:
        if not is_matrix:
            return joined(graph, [tensors[place] for place in places])
        if list(places) == list(range(len(inputs.names))):
            return tensors[0]
        return graph.node("Gather", tensors[0], graph.constant(np.array(places, dtype=np.int64)), axis=1)

    parts = []
    if inputs.numbers.size:
        parts.append(_filled(graph, taken(inputs.numbers.tolist()), inputs.fills))
    if inputs.indicators.size:
        parts.append(graph.cast(graph.node("IsNaN", taken(inputs.indicators.tolist()))))
    parts += [_looked_up(graph, lookup, taken([lookup.place]), is_matrix) for lookup in inputs.lookups]
    parts += [_dated(graph, date, taken([date.place])) for date in inputs.dates]
    together = joined(graph, parts)
    if inputs.is_ordered:
        return together
    return graph.node("Gather", together, graph.constant(inputs.order.astype(np.int64)), axis=1)


def joined(graph: Graph, parts: Sequence[str]) -> str:
    """Columns beside each other."""
    return parts[0] if len(parts) == 1 else graph.node("Concat", *parts, axis=1)


def _filled(graph: Graph, numbers: str, fills: np.ndarray) -> str:
    if np.all(np.isnan(fills)):
        return numbers
    return graph.node("Where", graph.node("IsNaN", numbers), graph.constant(fills), numbers)


def _looked_up(graph: Graph, lookup: Lookup, column: str, are_numbers: bool) -> str:
    """The row of each level. Among numbers, the first of the columns (is level 0, is level 1, …, 1) that is one."""
    if are_numbers:
        values = [float(level) for level in lookup.levels if level is not None]  # None is the last level
        signs = [graph.node("Equal", column, graph.constant(np.array([values])))]
        signs += [graph.node("IsNaN", column)] if None in lookup.levels else []
        numbers = [graph.cast(sign, np.int32) for sign in signs]
        ones = graph.node(
            "Add", graph.node("Mul", numbers[0], graph.constant(np.int32(0))), graph.constant(np.int32(1))
        )
        codes = graph.node("ArgMax", joined(graph, [*numbers, ones]), axis=1, keepdims=0)
    else:
        words = ["" if level is None else level for level in lookup.levels]
        known = dict(zip(reversed(words), reversed(range(len(words))), strict=True))  # of two equal words the first
        codes = graph.node(
            "LabelEncoder",
            column,
            domain="ai.onnx.ml",
            keys_strings=list(known),
            values_int64s=list(known.values()),
            default_int64=len(words),
        )
        codes = graph.node("Reshape", codes, graph.constant(np.array([-1])))
    return graph.node("Gather", graph.constant(lookup.rows), codes, axis=0)


def _dated(graph: Graph, date: Date, column: str) -> str:
    """Year, cycles and mark of a date, computed in double precision: microseconds need it."""
    node, double = graph.node, partial(graph.constant, dtype=np.float64)
    missing = node("Equal", column, graph.constant(np.int64(NO_DATE)))
    days = node("Div", graph.cast(column, np.float64), double(MICROSECONDS))
    days = node("Where", missing, double(0.0), days)
    year = node("Add", node("Div", days, double(date.year)), double(date.epoch))
    columns = [node("Where", missing, double(date.median), year)]
    for _, part, shift, period in date.cycles:
        whole = node("Floor", days)
        chosen = {"days": days, "whole": whole, "fraction": node("Sub", days, whole)}[part]
        turns = node("Div", node("Add", chosen, double(shift)), double(period))
        phases = node("Mul", turns, double(2 * np.pi))
        columns += [node("Where", missing, double(0.0), node(wave, phases)) for wave in ("Cos", "Sin")]
    columns += [graph.cast(missing, np.float64)] if date.has_missing else []
    return graph.cast(joined(graph, columns))


def outputs(graph: Graph, description: Description, columns: str) -> list[Output]:
    """What the user gets, from the encoded columns. A further output is a further entry here."""
    waves = _waves(graph, description, _scaled(graph, description, columns))
    shape = (description.n_outputs,)
    if description.are_features:
        divisors = graph.constant(np.full(shape, description.divisor))  # a number alone would be joined with a MatMul
        return [Output("variable", graph.node("Div", waves, divisors), graph.real, shape)]
    values = _values(graph, description, waves)
    if description.classes is None:
        deviations = [] if description.spread is None else [_deviations(graph, description, description.spread, waves)]
        return [
            Output("variable", values, graph.real, shape),
            *(Output("std", d, graph.real, shape) for d in deviations),
        ]
    labels = _labels(description.classes)
    largest = graph.node("ArgMax", values, axis=1, keepdims=0)
    return [
        Output(
            "output_label",
            graph.node("Gather", graph.constant(labels, labels.dtype), largest, axis=0),
            labels.dtype,
            (),
        ),
        Output("output_probability", _probabilities(graph, description.classes, values), graph.real, shape),
    ]


def _scaled(graph: Graph, description: Description, columns: str) -> str:
    """(x − center)/scale. In single precision the centre is subtracted in two parts, so that it is not rounded."""
    near = description.center.astype(graph.real)
    rest = description.center - near.astype(np.float64)
    scaled = graph.node("Sub", columns, graph.constant(near))
    if np.any(rest):
        scaled = graph.node("Sub", scaled, graph.constant(rest))
    scaled = graph.node("Div", scaled, graph.constant(description.scale))
    return scaled if description.clip is None else _clipped(graph, description.clip, scaled)


def _clipped(graph: Graph, clip: Clip, scaled: str) -> str:
    share = graph.node("Div", scaled, graph.constant(clip.limit))
    share = graph.node("Clip", share, graph.constant(-FAR), graph.constant(FAR))
    root = graph.node("Sqrt", graph.node("Add", graph.node("Mul", share, share), graph.constant(1.0)))
    bounded = graph.node("Mul", graph.node("Div", share, root), graph.constant(clip.limit))
    return graph.node("Where", graph.constant(clip.clipped), bounded, scaled)


def _waves(graph: Graph, description: Description, scaled: str) -> str:
    """Cosines and sines, or sigmoids.

    The product is a Gemm: onnxruntime would join a MatMul with the scale of a single input, in single precision.
    """
    biases = [] if description.biases is None else [graph.constant(description.biases)]
    phases = graph.node("Gemm", scaled, graph.constant(description.frequencies), *biases, transB=1)
    if description.biases is None:
        return joined(graph, [graph.node("Cos", phases), graph.node("Sin", phases)])
    return graph.node("Sigmoid", phases)


def _values(graph: Graph, description: Description, waves: str) -> str:
    return _bounded_sum(graph, description, waves, description.coefficients)


def _bounded_sum(graph: Graph, description: Description, waves: str, coefficients: np.ndarray) -> str:
    values = graph.node("Gemm", waves, graph.constant(coefficients), graph.constant(description.offset))
    if description.bounds is None:
        return values
    values = graph.node("Max", values, graph.constant(description.bounds[0]))
    return graph.node("Min", values, graph.constant(description.bounds[1]))


def _deviations(graph: Graph, description: Description, spread: Spread, waves: str) -> str:
    """√(n(1 + u) + v/M): the noise, the amplitudes, and the standard error of the members' mean."""
    node, n_members = graph.node, len(spread.parts)
    leverages, members = [], []
    for part in spread.parts:
        columns = node("Gather", waves, graph.constant(part.places), axis=1)
        rotated = node("Gemm", columns, graph.constant(part.factor), transB=1)
        leverages.append(node("ReduceSumSquare", rotated, axes=[1], keepdims=1))
        coefficients = n_members * description.coefficients[part.places]
        members.append(_bounded_sum(graph, description, columns, coefficients))
    leverage = node("Div", node("Sum", *leverages), graph.constant(float(n_members)))
    variance = node("Mul", _noise(graph, spread, waves), node("Add", leverage, graph.constant(1.0)))
    if n_members > 1:
        mean = node("Div", node("Sum", *members), graph.constant(float(n_members)))
        gaps = [node("Sub", member, mean) for member in members]
        squares = node("Sum", *(node("Mul", gap, gap) for gap in gaps))
        shared = node("Div", squares, graph.constant(float(n_members * (n_members - 1))))
        variance = node("Add", variance, shared)
    return node("Sqrt", variance)


def _noise(graph: Graph, spread: Spread, waves: str) -> str:
    """The variance of the noise, (n, q). Constant noise also has a row for each row of the waves."""
    places = spread.noise_places if spread.noise_places.size else np.array([0])
    slopes = spread.slopes if spread.noise_places.size else np.zeros((1, spread.constant.size))
    columns = graph.node("Gather", waves, graph.constant(places), axis=1)
    exponent = graph.node("Gemm", columns, graph.constant(slopes), graph.constant(spread.constant))
    exponent = graph.node("Max", exponent, graph.constant(spread.least))
    return graph.node("Exp", graph.node("Min", exponent, graph.constant(spread.most)))


def _labels(classes: Classes) -> np.ndarray:
    """Labels in a type that ONNX's runtimes gather."""
    return classes.labels.astype(np.int64) if classes.labels.dtype.kind in "iu" else classes.labels


def _probabilities(graph: Graph, classes: Classes, values: str) -> str:
    shares = graph.node("Softmax", graph.node("Mul", values, graph.constant(classes.scale)), axis=1)
    kept = graph.node("Mul", shares, graph.constant(1 - classes.share))
    return graph.node("Add", kept, graph.constant(classes.share / classes.labels.size))
