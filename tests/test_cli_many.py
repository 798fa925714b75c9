"""``attnlab code`` and ``attnlab export`` with several sources: folders, patterns, names, failures and Ctrl+C."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import attnlab
from attnlab.cli.main import main
from attnlab.files.export.code_notebook import notebook
from attnlab.files.export.script import script
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.usefixtures("qapp")
posix_only = pytest.mark.skipif(os.name != "posix", reason="Ctrl+C and terminals are others there")


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder for the commands: two sessions, two of equal names in subfolders, and a note."""
    monkeypatch.chdir(tmp_path)
    for folder in ("runs", "runs/a", "runs/b"):
        Path(folder).mkdir()
    places = {"one": "journey", "two": "the-cat-sat", "a/last": "causal-5x8", "b/last": "multi-head-8"}
    for name, preset in places.items():
        attnlab.save(attnlab.preset(preset), f"runs/{name}.attnlab")
    Path("runs/notes.txt").write_text("no session")
    return tmp_path


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def errors(capsys: pytest.CaptureFixture[str]) -> list[str]:
    out, err = capsys.readouterr()
    assert out == ""
    assert all(line.startswith("attnlab: ") for line in err.splitlines())
    return [line.removeprefix("attnlab: ") for line in err.splitlines()]


def test_a_folder_gives_one_script_for_each_session(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["code", "runs", "-o", "scripts"]) == 0
    assert errors(capsys) == []
    assert files(runs / "scripts") == ["one.py", "two.py"]
    assert (runs / "scripts" / "one.py").read_text() == script(attnlab.preset("journey"), "one")


def test_a_pattern_matches_in_folders_and_names_stay_distinct(runs: Path) -> None:
    assert main(["code", "runs/**", "--notebook", "--dtype", "float64", "-o", "books/{folder}/{name}.ipynb"]) == 0
    assert files(runs / "books") == ["a/last.ipynb", "b/last.ipynb", "runs/one.ipynb", "runs/two.ipynb"]
    made = (runs / "books" / "a" / "last.ipynb").read_text()
    assert json.loads(made) == json.loads(notebook(attnlab.preset("causal-5x8"), "last", "float64"))


def test_sources_of_equal_names_do_not_overwrite_each_other(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "runs/**/*.attnlab", "-o", "tables/{name}.csv"]) == 2
    assert files(runs / "tables") == ["last.csv", "one.csv", "two.csv"]
    clash = "runs/b/last.attnlab was not written: tables/last.csv belongs to runs/a/last.attnlab; add {folder} to -o."
    assert errors(capsys) == [clash]
    assert len((runs / "tables" / "last.csv").read_text().splitlines()) == 1 + 5  # causal-5x8, not eight heads


def test_a_repeated_source_is_written_once(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["code", "runs/one.attnlab", "runs", "./runs/one.attnlab", "-o", "scripts"]) == 0
    assert (errors(capsys), files(runs / "scripts")) == ([], ["one.py", "two.py"])


def test_a_failing_source_is_one_line_and_the_others_continue(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (runs / "runs" / "broken.attnlab").write_bytes(b"nonsense")
    sources = ["runs", "none.attnlab", "runs/none*", "preset:nope", "preset:multi-head-8"]
    assert main(["export", *sources, "-o", "figures", "--format", "svg", "--head", "1"]) == 2
    said = errors(capsys)
    assert files(runs / "figures") == ["multi-head-8.svg"]
    for start, sentence in zip(
        ["No file matches 'runs/none*'", "runs/broken", "runs/one", "runs/two", "There is no file none", "preset:nope"],
        said,
        strict=True,
    ):
        assert sentence.startswith(start), said
    assert said[2].startswith("runs/one.attnlab: There is no head 1; there are head")


def test_an_unexpected_error_with_one_source_gives_exit_code_1_and_the_others_continue(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(e: object, title: str, dtype: str) -> str:
        if title == "one":
            raise ZeroDivisionError
        return "fine"

    monkeypatch.setattr("attnlab.files.export.script.script", broken)
    assert main(["code", "runs", "nowhere", "-o", "scripts"]) == 1
    assert errors(capsys)[0].startswith("This is a fault in attnlab with runs/one.attnlab (ZeroDivisionError)")
    assert files(runs / "scripts") == ["two.py"]


def test_patterns_match_presets(runs: Path) -> None:
    assert main(["export", "preset:journey*", "-o", "t/{folder}-{name}.npy", "--stage", "output"]) == 0
    wanted = [f"preset-{name}.npy" for name in attnlab.presets() if name.startswith("journey")]
    assert files(runs / "t") == sorted(wanted)


def test_warnings_of_a_trace_name_its_source(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "preset:naive-softmax-overflow", "preset:journey", "-o", "t/{name}.csv"]) == 0
    said = errors(capsys)
    assert said
    assert all(line.startswith("preset:naive-softmax-overflow: ") for line in said)


def test_the_output_of_one_source_may_be_a_folder(runs: Path) -> None:
    (runs / "out").mkdir()
    assert main(["code", "preset:journey", "-o", "out"]) == 0
    assert main(["export", "runs/one.attnlab", "-o", "out"]) == 0
    assert files(runs / "out") == ["journey.py", "one.png"]


def test_a_file_whose_name_looks_like_a_pattern_is_found(runs: Path) -> None:
    attnlab.save(attnlab.preset("journey"), "runs/[one].attnlab")
    assert main(["code", "runs/[one].attnlab", "-o", "x.py"]) == 0
    assert (runs / "x.py").read_text() == script(attnlab.preset("journey"), "[one]")


def test_the_format_option_overrides_the_file_ending(runs: Path) -> None:
    assert main(["export", "preset:journey", "-o", "figure.dat", "--format", "pdf"]) == 0
    assert (runs / "figure.dat").read_bytes().startswith(b"%PDF")


def test_the_ending_ipynb_gives_a_notebook(runs: Path) -> None:
    assert main(["code", "preset:journey", "-o", "x.ipynb"]) == 0
    assert json.loads((runs / "x.ipynb").read_text())["nbformat"] == 4


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["export", "runs", "-o", "x.pdf"],
            "Several sources cannot all be written to x.pdf; give -o a folder, or a path with {name}.pdf",
        ),
        (["export", "runs/*", "-o", "x.txt"], "Several sources cannot all be written to x.txt"),
        (["code", "runs"], "Only the code of one source can be printed; -o FOLDER writes a file for each source."),
        (["code", "preset:journey", "-o", "x.py", "--notebook"], "x.py has the extension of a script"),
        (
            ["code", "preset:journey", "-o", "x.txt"],
            "x.txt has no extension that attnlab can write; choose one of .py, .ipynb.",
        ),
        (["code", "preset:journey", "-o", "none/x.py"], "none/x.py cannot be written: there is no folder none."),
        (["code", "preset:journey", "--dtype", "int8"], "dtype 'int8' is unknown"),
        (
            ["code", "empty", "-o", "x"],
            "There is no session (.attnlab) in the folder empty; 'empty/**/*.attnlab' also searches",
        ),
        (["code", "preset:zz*", "-o", "x"], "No preset matches 'preset:zz*'; attnlab presets lists them."),
        (["code", "runs", "-o", "runs/notes.txt/x/"], "cannot be written: Not a directory"),
        (["export", "runs", "-o", "x", "--stages", "scores", "--format", "csv"], "A table contains one stage"),
    ],
    ids=str,
)
def test_an_invalid_request_is_one_sentence_and_writes_nothing(
    arguments: list[str], sentence: str, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (runs / "empty").mkdir()
    before = files(runs)
    assert main(arguments) == 2
    assert all(sentence in line for line in errors(capsys))
    assert files(runs) == before


def begun(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    """Start a command and wait for its first output about one of its sources."""
    process = subprocess.Popen(
        [sys.executable, "-m", "attnlab", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stderr is not None
    assert "preset:naive-softmax-overflow" in process.stderr.readline()
    return process


@pytest.mark.slow
@posix_only
@pytest.mark.parametrize("ending", [".png", ".csv"])
def test_ctrl_c_leaves_no_partial_file(ending: str, tmp_path: Path) -> None:
    attnlab.save(attnlab.preset("journey"), tmp_path / "0.attnlab")
    for number in range(1, 2000):  # more than are written before the signal is there, however late that is
        os.link(tmp_path / "0.attnlab", tmp_path / f"{number}.attnlab")
    process = begun(tmp_path, "export", "preset:naive*", "*.attnlab", "-o", f"x/{{name}}{ending}")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    written = files(tmp_path / "x")
    assert f"naive-softmax-overflow{ending}" in written
    assert len(written) < 2000
    ends = b"IEND\xaeB`\x82" if ending == ".png" else b"\n"
    assert all((tmp_path / "x" / name).read_bytes().endswith(ends) for name in written)


@posix_only
def test_progress_is_shown_on_a_terminal(runs: Path) -> None:
    import pty

    (runs / "runs" / "broken.attnlab").write_bytes(b"nonsense")
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        sources = ["runs", "preset:naive-softmax-overflow"]
        command = [sys.executable, "-m", "attnlab", "export", *sources, "-o", "x", "--format", "npy"]
        done = subprocess.run(command, cwd=runs, stderr=theirs, stdout=subprocess.PIPE, check=False, timeout=PATIENCE_S)
        os.close(theirs)
        said = b""
        try:
            while piece := terminal.read(65536):
                said += piece
        except OSError:  # how Linux says that the other end is closed
            pass
    assert (done.returncode, done.stdout) == (2, b"")
    lines = [line.rstrip() for line in said.decode().replace("\n", "\r").split("\r") if line.strip()]
    assert lines == [
        "1 of 4  runs/broken.attnlab",
        "attnlab: runs/broken.attnlab is not an attnlab session, or only a part of one.",
        "2 of 4  runs/one.attnlab",
        "3 of 4  runs/two.attnlab",
        "4 of 4  preset:naive-softmax-overflow",
        "attnlab: preset:naive-softmax-overflow: weights: 14 of 36 values are ∞ or NaN in float32.",
        "attnlab: preset:naive-softmax-overflow: context: 12 of 18 values are ∞ or NaN in float32.",
        "attnlab: preset:naive-softmax-overflow: output: 12 of 18 values are ∞ or NaN in float32.",
    ]
