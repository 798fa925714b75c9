"""``attnlab train --data FILE``: pairs of a .tsv, lines of any other text, and one sentence for a bad file."""

from pathlib import Path

import pytest

from attnlab.cli.main import main
from attnlab.training.store import load

SMALL = [
    word
    for name in ("layers=1", "heads=2", "d_model=16", "d_ff=16", "batch=4", "evaluate_every=5", "level=character")
    for word in ("--set", name)
]
PLURALS = "".join(f"{word}\t{word}s\n" for word in "abcdefghijklmnopqrst")


def train(*words: str) -> int:
    return main(["train", *words])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "task"), [("mine.tsv", "pairs"), ("mine.TSV", "pairs"), ("mine.txt", "lines")])
def test_the_ending_says_what_the_file_holds(
    name: str, task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_text(PLURALS)
    assert train("--data", str(path), "--steps", "6", "-o", str(tmp_path / "run"), *SMALL) == 0
    state = load(tmp_path / "run")
    assert (state.spec.task, state.spec.options["data"], state.step) == (task, str(path), 6)
    assert state.digest
    assert train("--resume", str(tmp_path / "run"), "--steps", "8") == 0
    path.write_text(PLURALS * 2)
    capsys.readouterr()
    assert train("--resume", str(tmp_path / "run"), "--steps", "10") == 2
    assert "has changed since this run began" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--data", "bad.tsv"], "Line 21 of bad.tsv has one column; each line needs a source, a tab and a target."),
        (["copy", "--data", "bad.tsv"], "The task copy learns from no file; --data is for characters, pairs, lines."),
        (["--data", "none.txt"], "There is no file"),
        (["--resume", "x", "--data", "bad.tsv"], "--data is only for a new run"),
    ],
)
def test_a_file_that_cannot_be_learned_from_is_refused_before_anything_is_written(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.tsv").write_text(PLURALS + "lonely\n")
    out = [] if "--resume" in words else ["-o", "run"]
    assert train(*words, *out) == 2
    told = capsys.readouterr().err
    assert said in told
    assert len(told.strip().splitlines()) == 1
    assert not Path("run").exists()
