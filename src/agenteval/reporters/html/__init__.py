"""A run as one HTML file that needs nothing else: no network, no server, no framework.

`page` says what the report holds, `checks`, `timeline` and `beside` what it says of a test, `texts` how a value
reads; `document` puts it into the templates beside it.
"""

from agenteval.reporters.html.page import render, render_mutants

__all__ = ["render", "render_mutants"]
