"""The command line as a whole: what it loads, its exit codes, and errors without a traceback."""

import errno
import io
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

import attnlab
from attnlab.cli import main as cli
from attnlab.cli.main import main
from tests.nursery import run_python
from tests.patience import PATIENCE_S

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have a display")


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run ``python -m attnlab`` as a terminal without a display does."""
    return run_python("-m", "attnlab", *arguments, env=_without_display(environment))


def start(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run it in a process that Python itself starts, where that is what is tested."""
    started = [sys.executable, "-m", "attnlab", *arguments]
    return subprocess.run(started, capture_output=True, text=True, check=False, env=_without_display(environment))


def _without_display(changes: dict[str, str]) -> dict[str, str]:
    absent = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return {name: value for name, value in os.environ.items() if name not in absent} | changes


def test_importing_the_entry_points_loads_neither_qt_nor_torch_nor_numpy() -> None:
    code = "import sys, attnlab.cli.main; print(sorted({'PySide6', 'torch', 'numpy', 'pyqtgraph'} & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


@pytest.mark.slow
def test_commands_that_only_print_do_not_load_qt() -> None:
    code = (
        "import sys, attnlab.cli.main as c\n"
        "for arguments in ['show', 'preset:journey'], ['code', 'preset:journey'], ['presets']:\n"
        "    assert c.main(arguments) == 0, arguments\n"
        "    assert 'PySide6' not in sys.modules, arguments"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stderr) == (0, "")


def test_the_version_option_names_four_versions_without_loading_packages() -> None:
    code = "import sys, attnlab.cli.main as c; c.main(['--version']); print({'torch', 'PySide6'} & set(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    line, loaded = answer.stdout.splitlines()
    assert loaded == "set()"
    pattern = (
        rf"attnlab {re.escape(attnlab.__version__)} \(Qt \d[^,]*, torch \d[^,]*, Python {platform.python_version()}\)"
    )
    assert re.fullmatch(pattern, line)


@pytest.mark.parametrize("arguments", [["--help"], ["show", "-h"], ["export", "-h"], ["bench", "-h"], ["doctor", "-h"]])
def test_the_help_option_succeeds(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    assert "usage: attnlab" in capsys.readouterr().out


def test_the_help_of_the_program_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--help"])
    out = capsys.readouterr().out
    assert all(f"attnlab {name}" in out for name in cli.COMMANDS)


@pytest.mark.slow
def test_an_invalid_command_line_is_one_line_and_exit_code_2() -> None:
    answer = command("show", "preset:nope")
    assert answer.returncode == 2
    assert answer.stdout == ""
    assert re.fullmatch(r"attnlab: [^\n]*'nope'[^\n]*journey[^\n]*\n", answer.stderr)


@pytest.mark.slow
def test_a_figure_needs_no_display_and_exits_cleanly(tmp_path: Path) -> None:
    answer = start("export", "preset:journey", "-o", str(tmp_path / "w.png"))
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")
    assert (tmp_path / "w.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_several_figures_in_one_process_exit_cleanly(tmp_path: Path) -> None:
    code = (
        "import sys, attnlab.cli.main as c;"
        f"sys.exit(max(c.main(['export', 'preset:causal-5x8', '-o', r'{tmp_path}/' + n + '.png']) for n in 'abc'))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")
    assert len(list(tmp_path.glob("*.png"))) == 3


@linux_only
def test_the_window_without_a_display_is_refused_with_a_remedy() -> None:
    answer = command()
    assert answer.returncode == 2
    assert re.fullmatch(r"attnlab: There is no display[^\n]*--screenshot OUT\.png[^\n]*\n", answer.stderr)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nope.attnlab"], "There is no file nope.attnlab"),
        (["frobnicate"], "neither a file nor a command 'frobnicate'; the commands are show, export"),
        (["preset:journey", "--preset", "journey"], "give one of them"),
        (["--theme", "pink"], "light"),
        (["--size", "100x100"], "--screenshot"),
        (["--screenshot", "x.jpg"], "needs to end in .png"),
        (["--screenshot", "/nowhere/at/all/x.png"], "cannot be written: there is no folder"),
        (["--screenshot", "x.png", "--size", "wide"], "'wide' is not a size; use 1440x900"),
        (["--screenshot", "x.png", "--size", "0x0"], "'0x0' is not a size"),
        (["--screenshot", "x.png", "--preset", "nope"], "'nope'"),
        (["bench", "nope"], "There is no bench 'nope'; there are live, engine, start"),
        (["doctor", "--fix"], "--fix"),
        (["--theme", "dark", "doctor"], "Unrecognized arguments: --theme dark; attnlab doctor --help"),
        (["--screenshot", "show"], "needs to end in .png"),
        (["--theme", "dark", "--", "train"], "neither a file nor a command 'train'"),
        (["--theme", "dark", "lesson", "--", "nope"], "There is no lesson 'nope'"),
        (["code", "preset:nope"], "'nope'"),
        (["show", ""], "The name of the source is empty; give a file, or preset:NAME."),
        ([""], "The name of the source is empty"),
        (["export", "preset:journey", "-o", "x.png", "--dpi", "x"], "Argument --dpi: 'x' is not a whole number;"),
        (["export", "preset:journey", "-o", "x.png", "--width", "x"], "Argument --width: 'x' is not a number;"),
    ],
    ids=str,
)
def test_every_misuse_is_one_sentence_and_exit_code_2(
    arguments: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("attnlab: ")
    assert err.count("\n") == 1
    assert sentence in err
    assert [entry for entry in tmp_path.iterdir() if entry.is_file()] == []


@pytest.mark.parametrize("name", ["run/run.json", "weights.safetensors"])
def test_a_broken_run_or_file_of_weights_is_not_drawn(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken, picture = tmp_path / name, tmp_path / "x.png"
    broken.parent.mkdir(exist_ok=True)
    broken.write_text("{nothing")
    assert main([str(broken), "--screenshot", str(picture)]) == 2
    err = capsys.readouterr().err
    assert err.startswith("attnlab: ")
    assert err.count("\n") == 1
    assert broken.name in err
    assert not picture.exists()


@linux_only
@pytest.mark.parametrize("arguments", [["--preset", "nope"], ["preset:nope"]])
def test_an_unknown_preset_is_named_before_the_missing_display(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert main(["--preset", "journey"]) == 2
    assert "There is no display" in capsys.readouterr().err
    assert main(arguments) == 2
    assert "'nope'" in capsys.readouterr().err


def test_a_damaged_session_is_reported_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.attnlab").write_bytes(b"PK\x05\x06" + bytes(18))
    assert main(["show", str(tmp_path / "bad.attnlab")]) == 2
    assert re.fullmatch(r"attnlab: [^\n]*bad\.attnlab[^\n]*\n", capsys.readouterr().err)


@pytest.mark.parametrize("debug", [False, True])
def test_an_unexpected_error_is_one_line_and_exit_code_1(
    debug: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(argv: list[str]) -> int:
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setitem(cli.COMMANDS, "presets", broken)
    if debug:
        monkeypatch.setenv("ATTNLAB_DEBUG", "1")
    else:
        monkeypatch.delenv("ATTNLAB_DEBUG", raising=False)
    assert main(["presets"]) == 1
    err = capsys.readouterr().err
    assert "ZeroDivisionError: division by zero" in err.splitlines()[-1]
    assert ("Traceback" in err) is debug
    assert debug or err.count("\n") == 1


def test_ctrl_c_exits_without_a_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(argv: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setitem(cli.COMMANDS, "presets", interrupted)
    assert main(["presets"]) == 130
    assert capsys.readouterr() == ("", "")


def test_a_missing_library_suggests_the_doctor(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lacking(argv: list[str]) -> int:
        raise ImportError("libEGL.so.1: cannot open shared object file", name="PySide6.QtGui")

    monkeypatch.setitem(cli.COMMANDS, "export", lacking)
    assert main(["export"]) == 2
    assert re.fullmatch(r"attnlab: [^\n]*libEGL\.so\.1[^\n]*attnlab doctor[^\n]*\n", capsys.readouterr().err)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="pipes there close otherwise")
def test_a_closed_output_pipe_is_not_an_error() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "attnlab", "code", "preset:head-average"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline().startswith(b'"""Attention')
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == b""
    assert process.wait(timeout=PATIENCE_S) == 0


def test_a_closed_or_full_output_is_told_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Full(io.StringIO):
        def write(self, _: str) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    for stream, sentence in (
        (None, "Nothing can be printed: standard output is closed."),
        (Full(), "Standard output cannot be written: No space left on device."),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", stream)
            assert main(["presets"]) == 2
        assert capsys.readouterr().err == f"attnlab: {sentence}\n"


def test_a_closed_standard_error_leaves_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["show", "preset:nope"]) == 2
    sys.stderr.close()  # type: ignore[union-attr]


@pytest.mark.slow
def test_characters_missing_in_the_output_encoding_become_question_marks() -> None:
    answer = start("presets", PYTHONIOENCODING="ascii")
    assert answer.returncode == 0
    assert "draws from ?1/?d_in instead of 0 to 1" in answer.stdout


@pytest.mark.slow
def test_the_doctor_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) in (0, 1)
    assert "torch" in capsys.readouterr().out


def test_the_environment_is_restored_after_a_figure(
    tmp_path: Path, qapp: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("QT_QPA_PLATFORM")
    assert main(["export", "preset:journey", "-o", str(tmp_path / "w.png")]) == 0
    assert "QT_QPA_PLATFORM" not in os.environ


@pytest.mark.parametrize("scale", ["1", pytest.param("2", marks=pytest.mark.quick), "1.5"])
def test_a_screenshot_needs_no_display_and_has_the_requested_size(tmp_path: Path, scale: str) -> None:
    attnlab.save(attnlab.preset("the-cat-sat"), tmp_path / "s.attnlab")
    path = tmp_path / "w.png"
    arguments = [str(tmp_path / "s.attnlab"), "--theme", "dark", "--screenshot", str(path), "--size", "1201x801"]
    answer = command(*arguments, QT_SCALE_FACTOR=scale)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")
    with Image.open(path) as image:
        assert image.size == (1201, 801)
        pixels = image.convert("RGB")
        assert sum(pixels.getpixel((2, 2))) < 200  # dark
        assert pixels.crop((601, 401, 1201, 801)).getcolors(8) is None  # the whole of it is drawn


@pytest.mark.slow
def test_an_unknown_gallery_view_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    answer = run_python("-m", "tools.gallery", tmp_path, "nope", env=os.environ | {"QT_QPA_PLATFORM": "offscreen"})
    assert answer.returncode == 2
    assert answer.stdout.startswith("No picture's name contains nope. The views are journey, the-cat-sat,")
