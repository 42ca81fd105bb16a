"""Sphinx configuration."""

from pathlib import Path

import fourierwalk
from fourierwalk.paper import readings
from fourierwalk.training.policy import Policy

project = "fourierwalk"
author = "The fourierwalk developers"
version = release = fourierwalk.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_parser"]
autosummary_generate = True
numpydoc_show_class_members = False
html_theme = "pydata_sphinx_theme"
exclude_patterns = ["_build", "generated/policy.md", "generated/reading.md"]
myst_enable_extensions = ["dollarmath"]
# README.md is included below the title and links to its neighbours; inherited docstrings refer to scikit-learn's pages.
suppress_warnings = ["myst.header", "myst.xref_missing", "ref.ref"]

generated = Path(__file__).parent / "generated"
generated.mkdir(exist_ok=True)
(generated / "policy.md").write_text("\n".join(Policy().table()) + "\n", encoding="utf-8")
(generated / "reading.md").write_text(readings.markdown(), encoding="utf-8")
