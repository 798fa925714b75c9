"""Builds sdist and wheel, and tests them in a clean environment outside the checkout.

python packaging/dist.py dist          builds into dist/ and tries what is there
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent


def main(into: Path) -> int:
    """Build sdist and wheel, compare them, install and use the wheel; return 1 if anything fails."""
    into = into.resolve()
    for old in (*into.glob("*.whl"), *into.glob("*.tar.gz")):
        old.unlink()
    _build(ROOT, into, "sdist", "wheel")
    (wheel,), (sdist,) = into.glob("*.whl"), into.glob("*.tar.gz")
    with tempfile.TemporaryDirectory(prefix="attnlab-dist-") as name:
        folder = Path(name)
        same_wheel(sdist, wheel, folder)
        holds_everything(wheel)
        use(wheel, folder)
    print(f"{wheel.name} ({wheel.stat().st_size:,} bytes) and {sdist.name} ({sdist.stat().st_size:,} bytes) passed.")
    return 0


def same_wheel(sdist: Path, wheel: Path, folder: Path) -> None:
    """Build a wheel from the unpacked sdist, and compare every file in it."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    _build(source, folder / "again", "wheel")
    (again,) = (folder / "again").glob("*.whl")
    ours, theirs = contents(wheel), contents(again)
    apart = sorted(name for name in ours | theirs if ours.get(name) != theirs.get(name))
    if apart:
        raise SystemExit(f"The sdist builds another wheel; what differs: {', '.join(apart[:10])}.")


def holds_everything(wheel: Path) -> None:
    """Compare the resources in the wheel with the checkout, and refuse files that do not belong in it."""
    inside = contents(wheel)
    for path in sorted((ROOT / "resources").rglob("*")):
        name = f"attnlab/_resources/{path.relative_to(ROOT / 'resources').as_posix()}"
        if path.is_file() and inside.get(name) != path.read_bytes():
            raise SystemExit(f"The wheel lacks {name}, or holds another.")
    strange = [name for name in inside if name.startswith("tests/") or "__pycache__" in name or name.endswith(".pyc")]
    if strange:
        raise SystemExit(f"The wheel holds what is not the program's: {strange[0]}.")


def use(wheel: Path, folder: Path) -> None:
    """Install the wheel as a user would, and run the command outside the checkout."""
    home = folder / "home"
    home.mkdir()
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    pins = ["-c", str(HERE / "constraints.txt")]
    pip = [str(programs / "python"), "-m", "pip"]
    _run("pip", *pip, "install", "-q", "--disable-pip-version-check", *pins, str(wheel), cwd=folder)
    _run("pip check", *pip, "check", cwd=folder)
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    environ |= {"QT_QPA_PLATFORM": "offscreen", "ATTNLAB_CONFIG_DIR": str(home)}
    attnlab = str(programs / "attnlab")
    for arguments in (
        ["--version"],
        ["doctor"],
        ["show", "preset:journey", "--stage", "weights"],
        ["--screenshot", "window.png"],
        ["export", "preset:multi-head-8", "-o", "heads.png"],
        ["export", "preset:journey", "--canvas", "--width", "180", "-o", "canvas.svg"],
        ["export", "preset:journey", "--width", "85", "-o", "weights.pdf"],
        ["lesson", "--list"],
        ["lesson", "why-attention", "--check"],
    ):
        said = _run(" ".join(arguments), attnlab, *arguments, cwd=home, environ=environ)
        print(said.rstrip().split("\n")[0] if arguments == ["--version"] else f"attnlab {' '.join(arguments)}: done")
    for picture, begins in (
        ("window.png", b"\x89PNG"),
        ("heads.png", b"\x89PNG"),
        ("canvas.svg", b"<?xml"),
        ("weights.pdf", b"%PDF-"),
    ):
        if not (home / picture).read_bytes().startswith(begins):
            raise SystemExit(f"{picture} is no picture.")


def contents(wheel: Path) -> dict[str, bytes]:
    """Return the files of a wheel except its list of checksums."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}


def _build(source: Path, into: Path, *targets: str) -> None:
    asked = [part for target in targets for part in ("-t", target)]
    _run("hatchling", sys.executable, "-m", "hatchling", "build", *asked, "-d", str(into), cwd=source)


def _run(what: str, *command: str, cwd: Path, environ: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, check=False)
    if done.returncode or "Traceback" in done.stderr:
        raise SystemExit(f"{what} ended with {done.returncode}:\n{done.stdout[-1000:]}{done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("Say where to build: python packaging/dist.py dist")
    sys.exit(main(Path(sys.argv[1])))
