"""Sphinx configuration."""

import os
import sys
from pathlib import Path

import matplotlib
from docutils.nodes import SkipNode

import fourierwalk
from fourierwalk.paper import readings
from fourierwalk.training.policy import Policy

here = Path(__file__).parent
sys.path.insert(0, str(here))
matplotlib.use("agg")

import formula  # noqa: E402
import pictures  # noqa: E402
import thumbnails  # noqa: E402

project = "fourierwalk"
author = "The fourierwalk developers"
version = release = fourierwalk.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
autosummary_generate = True
numpydoc_show_class_members = False
autodoc_typehints = "none"  # the lists of parameters have the types
html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "navigation_with_keys": True,
    "show_prev_next": True,
    "show_nav_level": 1,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_title = f"fourierwalk {version}"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_sidebars = {name: [] for name in ("start", "search", "genindex")}  # they are in no section
exclude_patterns = ["_build", "generated/*.md"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header", "ref.ref", "config.cache"]  # inherited docstrings refer to scikit-learn's pages
html_math_renderer = "pictures"


def setup(app) -> None:
    """Formulas and thumbnails that need neither a network nor a script."""

    def picture(writer, node):
        writer.body.append(f"<div class='formula'>{formula.svg(node.astext())}</div>")
        raise SkipNode

    app.add_html_math_renderer("pictures", (picture, None), (picture, None))
    app.connect("builder-inited", thumbnails.place, priority=900)  # after the gallery


def style(gallery_conf: dict, name: str) -> None:
    """Every figure of the gallery has the same look."""
    matplotlib.style.use(here.parent / "examples" / "gallery.mplstyle")


# FOURIERWALK_GALLERY is a regular expression of the examples to run; the others are shown without their output.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": os.environ.get("FOURIERWALK_GALLERY") or r"plot_",
    "reset_modules": ("matplotlib", style),
    "image_scrapers": ("thumbnails.scrape",),
    "within_subsection_order": "thumbnails.Order",
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 0,
    "download_all_examples": False,
    "plot_gallery": "True",
}

generated = here / "generated"
generated.mkdir(exist_ok=True)
# The files beside docs/ link to each other; here they are pages.
pages = {
    "](docs/": "](",
    "](examples)": "](auto_examples/index.rst)",
    "](ALGORITHM.md)": "](algorithm.md)",
    "](CONTRIBUTING.md)": "](contributing.md)",
    "](CODE_OF_CONDUCT.md)": "](conduct.md)",
    "](SECURITY.md)": "](security.md)",
    "(docs/photograph.png)": "(photograph.png)",
}
for name in ("README", "ALGORITHM", "CHANGELOG", "CONTRIBUTING", "CODE_OF_CONDUCT", "SECURITY"):
    text = (here.parent / f"{name}.md").read_text(encoding="utf-8")
    for link, page in pages.items():
        text = text.replace(link, page)
    (generated / f"{name}.md").write_text(text, encoding="utf-8")
(generated / "policy.md").write_text("\n".join(Policy().table()) + "\n", encoding="utf-8")
(generated / "reading.md").write_text(readings.markdown(), encoding="utf-8")

pictures.draw(generated)
