"""Sphinx settings: Markdown sources, warnings are errors (`make docs`)."""

from importlib.metadata import version as version_of

project = "metalml"
author = "the metalml developers"
release = version_of("metalml")
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 3
nitpicky = True
exclude_patterns = ["decisions/template.md"]

html_theme = "furo"
html_title = f"metalml {release}"
