"""One headless Chromium for all browser tests; without it they are skipped."""

import shutil

import pytest


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs Playwright: scripts/install_heavy installs it"
    )
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("needs Debian's chromium: scripts/install_heavy installs it")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()
