"""The page in a real browser: no complaint, and the drawing is there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from small_story import small_story

from graftjax.report import page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SIZE = (1000, 800)
COLOURS = {
    "light": {
        "paper": (255, 255, 255),
        "join": (31, 111, 178),
        "union": (176, 89, 27),
        "bridge": (123, 75, 179),
    },
    "dark": {
        "paper": (21, 24, 28),
        "join": (111, 179, 234),
        "union": (227, 154, 92),
        "bridge": (185, 149, 230),
    },
}
"""Of page.css."""


@pytest.fixture(scope="module")
def browser() -> str:
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no browser here: none of {', '.join(NAMES)}")
    return found


def shown(browser: str, text: str, folder: Path, *options: str) -> tuple[Path, str]:
    """(a picture of the page, what the browser said on its console)."""
    file, picture = folder / "report.html", folder / "report.png"
    file.write_text(text, encoding="utf-8")
    command = [
        browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
        "--enable-logging=stderr", "--v=0", f"--user-data-dir={folder / 'profile'}",
        f"--window-size={SIZE[0]},{SIZE[1]}", *options, f"--screenshot={picture}", file.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if not picture.exists():
        pytest.skip(f"the browser does not start here: {done.stderr.strip().splitlines()[-1:]}")
    return picture, "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)


@pytest.mark.parametrize(("theme", "scheme"), [("light", "1"), ("dark", "0")])
def test_the_page_is_drawn_without_a_complaint(browser, tmp_path, theme, scheme):
    image = pytest.importorskip("PIL.Image")
    picture, console = shown(
        browser, page(small_story()), tmp_path, f"--blink-settings=preferredColorScheme={scheme}"
    )
    assert console == ""
    with image.open(picture) as opened:
        pixels = opened.convert("RGB").getcolors(1 << 24)
    counts = {colour: count for count, colour in pixels}
    paper = counts.get(COLOURS[theme].pop("paper"), 0)
    assert paper > SIZE[0] * SIZE[1] / 2
    for name, colour in COLOURS[theme].items():
        assert counts.get(colour, 0) > 20, name


def test_a_script_in_the_data_does_not_run(browser, tmp_path):
    attack = "<script>console.error('ran')</script><img src=x onerror=console.error('ran')>"
    _, console = shown(browser, page(small_story(lambda word: f"{word}{attack}")), tmp_path)
    assert console == ""


def test_the_console_is_heard(browser, tmp_path):
    """The tests above can fail: what a page says does arrive."""
    _, console = shown(browser, "<script>console.error('ran')</script>", tmp_path)
    assert "ran" in console
