"""What tests that open reports in a browser share."""

from collections.abc import Callable

from playwright.sync_api import Page

Open = Callable[..., Page]
"""Opens a file: what the fixture `visit` gives."""
PHONE = {"width": 390, "height": 844}
SAYS = (
    "</noscript></script></style></textarea><script>document.title = 'taken'</script>"
    "<img src=https://evil.example/x onerror=\"document.title = 'taken'\"><iframe src=https://evil.example/></iframe>"
    "<style>* { display: none }</style><base href=https://evil.example/><meta http-equiv=refresh content=0>"
    "<a href=javascript:alert(1)>click</a>{{ 7 * 7 }}{% raw %}&lt;b&gt;\u202eright to left\x00\x1b[31m"
)
"""What a hostile agent says: markup of every kind, templates, and signs that turn text around."""
