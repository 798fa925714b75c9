"""Trains the small models that ship, each by its command in resources/models/models.json, and keeps the last moment.

    python -m tools.make_models [NAME …]

All take about three minutes on two cores. The numbers may differ in the last digits on another processor, so the models
are in the repository; the tests hold what they have learned.
"""

import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from attnlab.training import store
from attnlab.training.run import Curve

FOLDER = Path(__file__).parents[1] / "resources" / "models"


def main(names: list[str]) -> int:
    """Train the models with these names, or all of them."""
    entries = json.loads((FOLDER / "models.json").read_text(encoding="utf-8"))
    for entry in entries:
        if names and entry["name"] not in names:
            continue
        with tempfile.TemporaryDirectory() as room:
            run = Path(room) / "run"
            _, *arguments = shlex.split(entry["command"])
            subprocess.run([sys.executable, "-m", "attnlab", *arguments, "-o", str(run)], check=True)
            keep_last(run, FOLDER / entry["name"], entry["name"])
    return 0


def keep_last(run: Path, folder: Path, name: str) -> None:
    """Save a run with its last moment and the end of its curve only."""
    state = store.load(run)
    shutil.rmtree(folder, ignore_errors=True)
    curve, metrics, moments = state.curve, state.metrics[-1:], state.moments[-1:]
    end = Curve(curve.steps[-1:].copy(), curve.losses[-1:].copy(), curve.rates[-1:].copy())
    store.save(replace(state, name=name, moments=moments, checkpoint=None, curve=end, metrics=metrics), folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
