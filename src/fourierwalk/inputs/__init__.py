"""Checks of what users give to the estimators. Arrays stay in their own library; errors are one sentence."""

from fourierwalk.inputs.arguments import generator, groups, levels
from fourierwalk.inputs.arrays import has_holes, labels, later, later_numbers, numbers
from fourierwalk.inputs.class_labels import class_weighted, classes, known, one_hot, packed_labels, unpacked_labels
from fourierwalk.inputs.device import inputs_on, is_large, moved, on_device, where
from fourierwalk.inputs.training_data import data, given, weighted_rows

__all__ = [
    "class_weighted",
    "classes",
    "data",
    "generator",
    "given",
    "groups",
    "has_holes",
    "inputs_on",
    "is_large",
    "known",
    "labels",
    "later",
    "later_numbers",
    "levels",
    "moved",
    "numbers",
    "on_device",
    "one_hot",
    "packed_labels",
    "unpacked_labels",
    "weighted_rows",
    "where",
]
