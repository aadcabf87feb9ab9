"""The documentation as a site: `sphinx-build -W docs site`."""

import packbelt

project = "packbelt"
author = "the packbelt developers"
copyright = author  # noqa: A001 - Sphinx's name for it
version = release = packbelt.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
root_doc = "index"
exclude_patterns = ["examples/**/*.md"]

html_theme = "furo"
html_title = "packbelt"
html_show_sphinx = False
html_copy_source = False

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "deflist"]
# Examples name the file that they stand for after the language: ```yaml packs/notes.yaml
suppress_warnings = ["misc.highlighting_failure"]

default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = False
napoleon_use_rtype = False

copybutton_prompt_text = "$ "
