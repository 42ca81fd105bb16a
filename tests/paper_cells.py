"""Cells of the paper made by hand: given figures in the place of computed ones."""

import numpy as np

from fourierwalk.paper import results
from fourierwalk.paper.cases import CASES, Cell


def cell(case, experiment, width, seed, result, scale="paper", provenance=None):
    """One cell by its key."""
    chosen = next(each for each in CASES[case].experiments if each.name == experiment)
    made = Cell(CASES[case], chosen, width, seed)
    content = {"settings": results.settings(made, scale), "result": result, "provenance": provenance or {}}
    return {made.key: content}


def errors(case, experiment, values, figure="rms_modulus", scale="paper"):
    """Cells with a figure by (width, seed)."""
    found = {}
    for (width, seed), value in values.items():
        found |= cell(case, experiment, width, seed, {figure: value}, scale)
    return found


def scattered(means, scatter=0.02, n_seeds=5):
    """A figure by (width, seed): n realisations with exactly these means and this relative standard deviation."""
    shape = np.linspace(-1, 1, n_seeds)
    shape /= np.std(shape, ddof=1)
    return {(w, s): mean * (1 + scatter * shape[s]) for w, mean in means.items() for s in range(n_seeds)}


def law(widths, exponent, first=1.0):
    """Means that follow a power of K."""
    return {width: first * (width / widths[0]) ** exponent for width in widths}
