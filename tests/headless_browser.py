"""A headless Chromium for tests of pages: no network, and no error of a page goes unseen.

`PACKBELT_TEST_CHROMIUM` names its binary, else it is Debian's; without one these tests are skipped. The browser
lives for one module: while Playwright's loop runs in a thread, nothing else there can start a loop of its own.
"""

import os
from pathlib import Path

import pytest

CHROMIUM = Path(os.environ.get("PACKBELT_TEST_CHROMIUM") or "/usr/bin/chromium")


@pytest.fixture(scope="module")
def chromium():
    """A running Chromium."""
    if not CHROMIUM.is_file():
        pytest.skip(f"no Chromium at {CHROMIUM}: install it, or name one in PACKBELT_TEST_CHROMIUM")
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium):
    """Open a file; at the end nothing was fetched but the file, and nothing unforeseen was said on the console."""
    asked, said, contexts = [], [], []

    def opened(file, *, width=1440, height=900, scheme="light", at="", says=None):
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, offline=True
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("request", lambda request: asked.append(request.url))
        page.on(
            "console",
            lambda message: said.append(message.text) if not says or says not in message.text else None,
        )
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(Path(file).as_uri() + at)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
