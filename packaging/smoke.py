"""Tries the frozen program as a person would, without a screen, and reads what it says for signs of a broken bundle.

python packaging/smoke.py build/frozen/attnlab        needs the attnlab of this checkout, to compare with
"""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

FATAL = re.compile(
    r"Traceback|ImportError|ModuleNotFoundError|No module named|cannot open shared object|undefined symbol"
    r"|Segmentation fault|Fatal Python error|Aborted|core dumped|qt\.qpa\.plugin|Could not (load|find) the Qt"
    r"|no Qt platform plugin|QPixmap::|QPainter::|QFont::|failed to|Failed to|Warning:"
    r"|is missing from|Unable to (find|retrieve)"
)
"""What no log of a healthy program holds."""

_LIMIT_S = 180
_ALIVE_S = 20


class Trial:
    """Runs the program in an empty folder with an empty home, and collects what is wrong."""

    def __init__(self, program: Path, folder: Path) -> None:
        self.program, self.folder = program.resolve(), folder
        self.faults: list[str] = []
        keep = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "LANG")
        self._environ = {name: os.environ[name] for name in keep if name in os.environ}
        self._environ |= {"HOME": str(folder), "ATTNLAB_CONFIG_DIR": str(folder), "QT_QPA_PLATFORM": "offscreen"}

    def run(self, *arguments: str, code: int = 0) -> str:
        """Run a command to its end, hold its exit code and its words against what they should be; return the words."""
        command = [str(self.program), *arguments]
        print("  attnlab", *arguments, flush=True)
        done = subprocess.run(
            command, cwd=self.folder, env=self._environ, capture_output=True, text=True, timeout=_LIMIT_S, check=False
        )
        self.check(
            done.returncode == code, f"{arguments} ended with {done.returncode}, not {code}: {done.stderr[-500:]}"
        )
        self._scan(arguments, done.stdout + done.stderr)
        return done.stdout

    def stay(self, *arguments: str) -> None:
        """Open the window, leave it open for a while, and end it as Ctrl+C would."""
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
        """Note a fault unless something holds."""
        if not holds:
            self.faults.append(fault)
            print(f"    FAULT {fault}", flush=True)

    def _scan(self, arguments: Sequence[str], log: str) -> None:
        for line in log.splitlines():
            self.check(not FATAL.search(line), f"{arguments} says: {line}")


def try_commands(trial: Trial, session: Path, expected: list[list[list[float]]]) -> None:
    """Try what needs no window: versions, numbers, tables, figures, code, lessons, and a file that is none."""
    trial.check("attnlab 0." in trial.run("--version"), "the version is not said")
    trial.check("Everything that is needed is here" in trial.run("doctor"), "the doctor finds something missing")
    shown = json.loads(trial.run("show", str(session), "--stage", "weights", "--json") or "{}")
    trial.check(shown.get("values") == expected, "its numbers are not those of the program that is not frozen")
    trial.run("export", str(session), "-o", "weights.png", "--dpi", "150", "--width", "85")
    trial.check(_png_size(trial.folder / "weights.png")[0] == round(85 / 25.4 * 150), "the figure has another width")
    for table in ("weights.csv", "weights.npy", "weights.safetensors"):
        trial.run("export", str(session), "-o", table)
        trial.check((trial.folder / table).is_file(), f"{table} was not written")
    trial.check("import torch" in trial.run("code", str(session)), "the code is no script")
    trial.check(len(trial.run("lesson", "--list").splitlines()) >= 12, "lessons are missing")
    trial.check("nothing wrong" in trial.run("lesson", "why-attention", "--check"), "a lesson does not compute")
    trial.run("lesson", "why-attention", "--pdf", "lesson.pdf")
    trial.check(_begins(trial.folder / "lesson.pdf", b"%PDF-"), "the printed lesson is no PDF")
    (trial.folder / "broken.attnlab").write_bytes(session.read_bytes()[:100])
    trial.run("show", "broken.attnlab", code=2)


def try_window(trial: Trial, session: Path) -> None:
    """Try the window: drawn in two themes, with a session and with a lesson in it."""
    for theme in ("light", "dark"):
        picture = f"{theme}.png"
        trial.run(str(session), "--theme", theme, "--screenshot", picture, "--size", "1440x900")
        trial.check(_png_size(trial.folder / picture) == (1440, 900), f"{picture} has another size")
    trial.stay("lesson", "why-attention", "--step", "2")


def size_of(bundle: Path) -> tuple[int, list[tuple[int, str]]]:
    """Return the bytes of a folder, links not followed, and its ten largest files."""
    files = [(path.lstat().st_size, str(path.relative_to(bundle))) for path in bundle.rglob("*") if not path.is_dir()]
    return sum(size for size, _ in files), sorted(files, reverse=True)[:10]


def main(bundle: Path) -> int:
    """Try everything and print the faults; return 1 when there are any."""
    import attnlab

    program = bundle / ("attnlab.exe" if sys.platform == "win32" else "attnlab")
    experiment = attnlab.preset("journey")
    expected = [[[float(f"{x:.9g}") for x in row] for row in head] for head in attnlab.compute(experiment)["weights"]]
    with tempfile.TemporaryDirectory(prefix="attnlab smoke ü ") as name:  # a space and a letter that is not ASCII
        trial = Trial(program, Path(name))
        session = trial.folder / "Sitzung über journey.attnlab"
        attnlab.save(experiment, session)
        try_commands(trial, session, expected)
        try_window(trial, session)
        kept = os.environ.get("SMOKE_KEEP")
        if kept:
            for picture in trial.folder.glob("*.p*"):
                (Path(kept) / picture.name).write_bytes(picture.read_bytes())
    total, largest = size_of(bundle)
    print(f"The bundle takes {total / 1e6:,.0f} MB; its largest files:")
    print("".join(f"  {size / 1e6:8.1f} MB  {file}\n" for size, file in largest), end="")
    print(f"{len(trial.faults)} faults." if trial.faults else "It works.")
    return int(bool(trial.faults))


def _begins(path: Path, start: bytes) -> bool:
    return path.is_file() and path.read_bytes().startswith(start)


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
