"""Tests the frozen program without a screen, and searches its output for signs of a broken bundle.

python packaging/smoke.py build/frozen/attnlab        compares with the attnlab of this checkout
"""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

FATAL = re.compile(
    r"Traceback|ImportError|ModuleNotFoundError|No module named|cannot open shared object|undefined symbol"
    r"|Segmentation fault|Fatal Python error|Aborted|core dumped|qt\.qpa\.plugin|Could not (load|find) the Qt"
    r"|no Qt platform plugin|QPixmap::|QPainter::|QFont::|failed to|Failed to|Warning:"
    r"|is missing from|Unable to (find|retrieve)"
)
"""Output that shows a broken bundle."""

FILM = """
from pathlib import Path
from PySide6.QtGui import QGuiApplication
import attnlab
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.figures.films.film_frame import make_film_spec
from attnlab.lessons.sweep import make_sweep
from attnlab.ui.base.slices import draw_now
from attnlab.ui.export.filming import Filming, Scenario
app = QGuiApplication([])
experiment = attnlab.load({session!r})
sweep = make_sweep(experiment, "temperature", 0.5, 2.0, 3)
try:
    scenario = Scenario(experiment, sweep, make_film_spec(FigureSpec(), 320, 120.0), fps=3)
    draw_now(Filming(scenario, Path({name!r})).run_steps())
    print("filmed")
except attnlab.AttnlabError as error:
    print(error)
"""
"""A script that exports a film as the window does."""

_STEP = """
import multiprocessing
step = '''
import torch
weight = torch.nn.Parameter(torch.ones(2))
optimiser = torch.optim.AdamW([weight], lr=0.5)
weight.square().sum().backward()
optimiser.step()
with open("step.txt", "w") as file:
    file.write("stepped" if (weight < 1).all() else "stood still")
'''
child = multiprocessing.get_context("spawn").Process(target=exec, args=(step,))
child.start()
child.join(120)
print("the child ended with", child.exitcode)
"""
"""A script that takes a training step in a child process, which starts the same frozen program again."""

_LIMIT_S = 180
_ALIVE_S = 20


class Trial:
    """Runs the program in an empty folder with an empty home, and collects faults."""

    def __init__(self, program: Path, folder: Path) -> None:
        self.program, self.folder = program.resolve(), folder
        self.faults: list[str] = []
        keep = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "LANG")
        self._environ = {name: os.environ[name] for name in keep if name in os.environ}
        self._environ |= {"HOME": str(folder), "ATTNLAB_CONFIG_DIR": str(folder), "QT_QPA_PLATFORM": "offscreen"}
        self._path = self._environ.get("PATH", "")

    def look_for_programs(self, *folders: Path) -> None:
        """Restrict PATH to these folders; without folders, restore the system's PATH."""
        self._environ["PATH"] = os.pathsep.join(map(str, folders)) or self._path

    def run(self, *arguments: str, code: int = 0) -> str:
        """Run a command, check its exit code and output, and return the output."""
        command = [str(self.program), *arguments]
        print("  attnlab", *("…" if "\n" in each else each for each in arguments), flush=True)
        done = subprocess.run(
            command, cwd=self.folder, env=self._environ, capture_output=True, text=True, timeout=_LIMIT_S, check=False
        )
        self.check(
            done.returncode == code, f"{arguments} ended with {done.returncode}, not {code}: {done.stderr[-500:]}"
        )
        self._scan(arguments, done.stdout + done.stderr)
        return done.stdout

    def stay(self, *arguments: str) -> None:
        """Open the window, leave it open for a while, and end it like Ctrl+C."""
        print("  attnlab", *arguments, f" (stays open for {_ALIVE_S} seconds)", flush=True)
        pipe = subprocess.PIPE
        command = [str(self.program), *arguments]
        window = subprocess.Popen(command, cwd=self.folder, env=self._environ, stdout=pipe, stderr=pipe, text=True)
        try:
            window.wait(_ALIVE_S)
            self.check(False, f"{arguments} ended by itself with {window.returncode}")
        except subprocess.TimeoutExpired:
            window.terminate()
        said = window.communicate(timeout=_LIMIT_S)
        self._scan(arguments, "".join(said))

    def check(self, holds: bool, fault: str) -> None:
        """Record a fault unless the condition is true."""
        if not holds:
            self.faults.append(fault)
            print(f"    FAULT {fault}", flush=True)

    def _scan(self, arguments: Sequence[str], log: str) -> None:
        for line in log.splitlines():
            self.check(not FATAL.search(line), f"{arguments} says: {line}")


def try_commands(trial: Trial, session: Path, expected: list[list[list[float]]]) -> None:
    """Try what needs no window: versions, numbers, tables, figures, code, lessons, and a file that is none."""
    trial.check("attnlab 0." in trial.run("--version"), "--version does not print the version")
    trial.check("Everything attnlab needs is installed" in trial.run("doctor"), "doctor reports something missing")
    shown = json.loads(trial.run("show", str(session), "--stage", "weights", "--json") or "{}")
    trial.check(shown.get("values") == expected, "its numbers differ from those of the program run from source")
    trial.run("export", str(session), "-o", "weights.png", "--dpi", "150", "--width", "85")
    trial.check(_png_size(trial.folder / "weights.png")[0] == round(85 / 25.4 * 150), "the figure has the wrong width")
    trial.run("export", str(session), "--canvas", "--width", "180", "-o", "canvas.svg")
    texts = {each.text for each in _svg(trial.folder / "canvas.svg").iter("{http://www.w3.org/2000/svg}text")}
    trial.check({"Inputs", "Weights", "Output"} <= texts, "the SVG of the canvas lacks stages or real text")
    trial.run("export", str(session), "--width", "85", "-o", "weights.pdf")
    trial.check(_begins(trial.folder / "weights.pdf", b"%PDF-"), "the PDF is not a PDF")
    trial.check(b"Inter" in (trial.folder / "weights.pdf").read_bytes(), "the PDF does not embed its typeface")
    for table in ("weights.csv", "weights.npy", "weights.safetensors"):
        trial.run("export", str(session), "-o", table)
        trial.check((trial.folder / table).is_file(), f"{table} was not written")
    trial.check("import torch" in trial.run("code", str(session)), "the code is not a script")
    trial.check(len(trial.run("lesson", "--list").splitlines()) >= 12, "lessons are missing")
    trial.check("nothing wrong" in trial.run("lesson", "why-attention", "--check"), "a lesson does not compute")
    trial.check("nothing wrong" in trial.run("lesson", "cost", "--check"), "a lesson with a lens does not compute")
    trial.run("lesson", "why-attention", "--pdf", "lesson.pdf")
    trial.check(_begins(trial.folder / "lesson.pdf", b"%PDF-"), "the printed lesson is not a PDF")
    (trial.folder / "broken.attnlab").write_bytes(session.read_bytes()[:100])
    trial.run("show", "broken.attnlab", code=2)


def try_films(trial: Trial, session: Path) -> None:
    """Try films of three frames, with an ffmpeg and without."""
    for name, begins in (("sweep.gif", b"GIF89a"), ("sweep.apng", b"\x89PNG")):
        said = trial.run("-c", FILM.format(session=str(session), name=name))
        trial.check("filmed" in said and _begins(trial.folder / name, begins), f"{name} was not filmed: {said}")
    trial.look_for_programs(trial.folder)
    said = trial.run("-c", FILM.format(session=str(session), name="none.mp4"))
    trial.check("An MP4 needs ffmpeg: install it" in said, f"without ffmpeg it says: {said}")
    ffmpeg = _ffmpeg()
    if ffmpeg is None:
        print("    ffmpeg is not installed, so MP4 was not tested.")
    else:
        (trial.folder / "programs").mkdir()
        shutil.copy(ffmpeg, trial.folder / "programs" / f"ffmpeg{ffmpeg.suffix if ffmpeg.suffix == '.exe' else ''}")
        trial.look_for_programs(trial.folder / "programs")
        said = trial.run("-c", FILM.format(session=str(session), name="sweep.mp4"))
        film = trial.folder / "sweep.mp4"
        trial.check("filmed" in said and film.is_file() and film.read_bytes()[4:8] == b"ftyp", f"no MP4: {said}")
    trial.look_for_programs()


def try_training(trial: Trial) -> None:
    """Test training, and a child process of the frozen program that computes."""
    trial.check("ended with 0" in trial.run("-c", _STEP), "a child process fails")
    trial.check(_begins(trial.folder / "step.txt", b"stepped"), "a child process takes no training step")
    trial.run("train", "copy", "--steps", "3", "-o", "run")
    trial.check((trial.folder / "run" / "run.json").is_file(), "a training run was not saved")


def try_window(trial: Trial, session: Path) -> None:
    """Test the window in two themes, with a session and with a lesson."""
    for theme in ("light", "dark"):
        picture = f"{theme}.png"
        trial.run(str(session), "--theme", theme, "--screenshot", picture, "--size", "1440x900")
        trial.check(_png_size(trial.folder / picture) == (1440, 900), f"{picture} has the wrong size")
    trial.stay("lesson", "why-attention", "--step", "2")


def size_of(bundle: Path) -> tuple[int, list[tuple[int, str]]]:
    """Return the size of a folder in bytes, without following links, and its ten largest files."""
    files = [(path.lstat().st_size, str(path.relative_to(bundle))) for path in bundle.rglob("*") if not path.is_dir()]
    return sum(size for size, _ in files), sorted(files, reverse=True)[:10]


def main(bundle: Path) -> int:
    """Run all checks and print the faults; return 1 if there are any."""
    import attnlab

    program = bundle / ("attnlab.exe" if sys.platform == "win32" else "attnlab")
    experiment = attnlab.preset("journey")
    expected = [[[float(f"{x:.9g}") for x in row] for row in head] for head in attnlab.compute(experiment)["weights"]]
    with tempfile.TemporaryDirectory(prefix="attnlab smoke ü ") as name:  # a space and a letter that is not ASCII
        trial = Trial(program, Path(name))
        session = trial.folder / "Sitzung über journey.attnlab"
        attnlab.save(experiment, session)
        try_commands(trial, session, expected)
        try_films(trial, session)
        try_training(trial)
        try_window(trial, session)
        kept = os.environ.get("SMOKE_KEEP")
        if kept:
            for picture in trial.folder.iterdir():
                if picture.suffix in (".png", ".svg", ".pdf", ".gif", ".apng", ".mp4"):
                    shutil.copy(picture, kept)
    total, largest = size_of(bundle)
    print(f"The bundle takes {total / 1e6:,.0f} MB; its largest files:")
    print("".join(f"  {size / 1e6:8.1f} MB  {file}\n" for size, file in largest), end="")
    print(f"{len(trial.faults)} faults." if trial.faults else "All checks passed.")
    return int(bool(trial.faults))


def _begins(path: Path, start: bytes) -> bool:
    return path.is_file() and path.read_bytes().startswith(start)


def _svg(path: Path) -> ElementTree.Element:
    try:
        return ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return ElementTree.Element("missing")


def _ffmpeg() -> Path | None:
    """Return an ffmpeg of this machine: that of the environment, or of the system."""
    from attnlab.base.errors import AttnlabError
    from attnlab.figures.films.film_file import find_ffmpeg

    try:
        return Path(find_ffmpeg())
    except AttnlabError:
        return None


def _png_size(path: Path) -> tuple[int, int]:
    head = path.read_bytes()[:24] if path.is_file() else b""
    if head[:8] != b"\x89PNG\r\n\x1a\n":
        return 0, 0
    width, height = struct.unpack(">II", head[16:24])
    return int(width), int(height)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("Say where the frozen program lies: python packaging/smoke.py build/frozen/attnlab")
    sys.exit(main(Path(sys.argv[1])))
