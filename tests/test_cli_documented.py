"""Every option of the command line stands in README.md, or in docs/options.md, which lists those left out there."""

import re
from pathlib import Path

import pytest

from attnlab.cli.main import COMMANDS, main

ROOT = Path(__file__).parent.parent
PAGES = "".join((ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "docs/options.md"))


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_option_is_documented(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert main([*filter(None, [command]), "--help"]) == 0
    options = set(re.findall(r"--[a-z][a-z-]+", capsys.readouterr().out)) - {"--help"}
    assert {option for option in options if not re.search(rf"{option}(?![a-z-])", PAGES)} == set()
