"""A description as a torch module."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from fourierwalk.exporting.description import Description
from fourierwalk.exporting.inputs import MICROSECONDS, Date, Lookup

LEARNT = ("frequencies", "biases", "coefficients", "offset")
"""What is trained if the module is trainable."""


class FourierModule(torch.nn.Module):
    """A fitted model as a torch module: `forward` takes rows (n, d), and can be differentiated.

    A regressor gives what `predict` gives, a classifier what `predict_proba` gives, and `AdaptiveFourierFeatures` what
    `transform` gives. Each column of the rows is one column of X. A number is given as it is. A category is given as
    the index of its level in `levels`; any other number is a level that `fit` has not seen. A date is given as
    microseconds since 1970. NaN is a missing value. ``encoder_.codes(X)`` makes such rows of a table.

    Parameters
    ----------
    description : Description
        What to compute.
    trainable : bool
        Whether frequencies, coefficients and offset are parameters, and not buffers.

    Attributes
    ----------
    names : tuple of str
        The columns.
    levels : dict
        The levels of each category, by the name of its column; None stands for missing values.
    labels : list or None
        The classes, in the order of the probabilities.
    """

    center: Any  # buffers and parameters that `__init__` registers
    scale: Any
    clipped: Any
    fills: Any
    bounds: Any
    frequencies: Any
    biases: Any
    coefficients: Any
    offset: Any

    def __init__(self, description: Description, trainable: bool = False) -> None:
        super().__init__()
        self.description = description
        inputs, clip, bounds = description.inputs, description.clip, description.bounds
        self.names = inputs.names
        self.levels = {inputs.names[lookup.place]: list(lookup.levels) for lookup in inputs.lookups}
        self.labels = None if description.classes is None else description.classes.labels.tolist()
        arrays: dict[str, Any] = {
            "fills": inputs.fills,
            "center": description.center,
            "scale": description.scale,
            "clipped": None if clip is None else clip.clipped,
            "bounds": bounds,
            **{f"rows{i}": lookup.rows for i, lookup in enumerate(inputs.lookups)},
            **{name: getattr(description, name) for name in LEARNT},
        }
        for name, array in arrays.items():
            tensor = None if array is None else torch.tensor(np.asarray(array))
            if trainable and name in LEARNT:
                self.register_parameter(name, None if tensor is None else torch.nn.Parameter(tensor))
            else:
                self.register_buffer(name, tensor)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Predictions, probabilities or features of rows (n, d)."""
        waves = self._waves(self._scaled(self._encoded(x)))
        if self.description.are_features:
            return waves / self.description.divisor
        values = waves @ self.coefficients + self.offset
        if self.bounds is not None:
            values = torch.minimum(torch.maximum(values, self.bounds[0]), self.bounds[1])
        classes = self.description.classes
        if classes is None:
            return values[:, 0] if self.description.is_vector else values
        shares = torch.softmax(classes.scale * values, dim=1)
        return (1 - classes.share) * shares + classes.share / classes.labels.size

    def _encoded(self, x: torch.Tensor) -> torch.Tensor:
        inputs, x = self.description.inputs, x.to(self.scale.dtype)
        numbers = x[:, inputs.numbers.tolist()]
        parts = [torch.where(torch.isnan(numbers), self.fills, numbers)]
        parts += [torch.isnan(x[:, inputs.indicators.tolist()]).to(x.dtype)]
        parts += [
            _looked_up(lookup, getattr(self, f"rows{i}"), x[:, lookup.place]) for i, lookup in enumerate(inputs.lookups)
        ]
        parts += [_dated(date, x[:, date.place]) for date in inputs.dates]
        columns = torch.cat(parts, dim=1)
        return columns if inputs.is_ordered else columns[:, inputs.order.tolist()]

    def _scaled(self, columns: torch.Tensor) -> torch.Tensor:
        scaled, clip = (columns - self.center) / self.scale, self.description.clip
        if clip is None:
            return scaled
        share = torch.clamp(scaled / clip.limit, -1e9, 1e9)
        return torch.where(self.clipped, clip.limit * (share / torch.sqrt(1 + share * share)), scaled)

    def _waves(self, scaled: torch.Tensor) -> torch.Tensor:
        phases = scaled @ self.frequencies.T
        if self.biases is None:
            return torch.cat((torch.cos(phases), torch.sin(phases)), dim=1)
        return torch.sigmoid(phases + self.biases)


def _looked_up(lookup: Lookup, rows: torch.Tensor, codes: torch.Tensor) -> torch.Tensor:
    unknown = len(lookup.levels)
    is_known = (codes >= 0) & (codes < unknown)
    index = torch.where(is_known, codes, torch.full_like(codes, unknown)).long()
    return rows[torch.where(torch.isnan(codes), lookup.missing, index)]


def _dated(date: Date, moments: torch.Tensor) -> torch.Tensor:
    """Year, cycles and mark of a date, computed in double precision: microseconds need it."""
    missing = torch.isnan(moments)
    days = torch.where(missing, 0.0, moments.double() / MICROSECONDS)
    columns = [torch.where(missing, date.median, date.epoch + days / date.year)]
    parts = {"days": days, "whole": torch.floor(days), "fraction": days - torch.floor(days)}
    for _, part, shift, period in date.cycles:
        phases = 2 * math.pi * ((parts[part] + shift) / period)
        columns += [torch.where(missing, 0.0, wave(phases)) for wave in (torch.cos, torch.sin)]
    columns += [missing] if date.has_missing else []
    return torch.stack([column.to(moments.dtype) for column in columns], dim=1)
