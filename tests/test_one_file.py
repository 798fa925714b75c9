"""A lens, an export format, a workspace and a normaliser are one file each: a copy of the package gets one of each.

The commands are tried here; ``tests/ui/added_to_a_copy.py`` sits at the window of the copy.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ADDED = {
    "lenses/token_count_lens.py": "ui/playground/lenses",
    "table_formats/psv_format.py": "files/export/table_formats",
    "figure_formats/bmp_format.py": "figures/figure_formats",
    "workspaces/notes.py": "ui/workspaces",
}
NORMALIZER = """
        Normalizer(
            name="halves",
            title="all halves",
            about="Every key gets one half.",
            formula=r"1 \\div 2",
            apply=lambda logits, p: torch.full_like(logits, 0.5).masked_fill(logits == -torch.inf, 0),
            explain=lambda logits, j, p, limit: (line("1 ÷ 2 = 0.5"),),
            code="weights = torch.full_like({x}, 0.5).masked_fill({x} == -torch.inf, 0)",
            competes=False,
        ),
"""
LESSON = "---\ntitle: Mine\n---\n\n## One\n\n```state\npreset: journey\nlens: token_count\n```\n\nText.\n"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a copy of the package and one added file of each kind."""
    root = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "attnlab", root / "attnlab", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "resources", root / "resources")
    for file, package in ADDED.items():
        shutil.copy(ROOT / "tests" / "added" / file, root / "attnlab" / package)
    registry = root / "attnlab" / "attention" / "registries" / "normalizers.py"
    before, start, after = registry.read_text(encoding="utf-8").partition("    for normalizer in (")
    assert start
    registry.write_text(before + start + NORMALIZER + after.removeprefix("\n"), encoding="utf-8")
    (root / "mine.md").write_text(LESSON, encoding="utf-8")
    return root


def run(copy: Path, *arguments: str) -> str:
    """Run Python in the copy, with the tests of this checkout at hand, and return what it prints."""
    environ = os.environ | {"PYTHONPATH": os.pathsep.join((str(copy), str(ROOT)))}
    command = [sys.executable, "-P", *arguments]
    done = subprocess.run(command, cwd=copy, env=environ, capture_output=True, text=True, check=False, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_commands_list_the_added_files(copy: Path) -> None:
    listed = " ".join(run(copy, "-m", "attnlab", "export", "--help").split())
    assert "pdf,bmp,csv" in listed
    assert "safetensors,psv}" in listed
    assert "pdf, bmp)" in listed
    assert "token_count" in run(copy, "-m", "attnlab", "lesson", "--help")
    assert "nothing wrong" in run(copy, "-m", "attnlab", "lesson", "mine.md", "--check")
    code = (
        "import attnlab; from attnlab.attention import edits; from attnlab.cli.main import main\n"
        "attnlab.save(edits.configure(attnlab.preset('journey'), normalizer='halves'), 'halves.attnlab')\n"
        "for name in ('weights.bmp', 'weights.psv'):\n"
        "    assert main(['export', 'halves.attnlab', '-o', name]) == 0\n"
        "assert main(['show', 'halves.attnlab', '--stage', 'weights', '--format', 'csv']) == 0\n"
        "assert main(['code', 'halves.attnlab']) == 0\n"
        "attnlab.figure(attnlab.preset('journey'), 'figure.bmp')\n"
    )
    told = run(copy, "-c", code)
    assert "starts,0.5,0.5,0.5,0.5,0.5,0.5" in told
    assert "torch.full_like" in told
    assert (copy / "weights.bmp").read_bytes()[:2] == (copy / "figure.bmp").read_bytes()[:2] == b"BM"
    assert (copy / "weights.psv").read_text(encoding="utf-8").splitlines() == ["0.5|0.5|0.5|0.5|0.5|0.5"] * 6


def test_the_window_lists_the_added_files(copy: Path) -> None:
    child = ROOT / "tests" / "ui" / "added_to_a_copy.py"
    options = ("-q", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT))
    assert "5 passed" in run(copy, "-m", "pytest", *options, str(child))
