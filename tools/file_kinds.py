"""Every kind of file that attnlab opens: valid files, how to corrupt them, and the real readers."""

import base64
import hashlib
import json
import random
import re
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from tools import map_kinds, mutants, weight_kinds
from tools.safe_reading import Kind

MANIFEST, TENSORS, SUMS = "manifest.json", "tensors.safetensors", "SHA256SUMS"
MOST_LOOKED = 4_000_000
"""The maximum size of a run's model that is computed; a larger one is valid but slow."""

# Sessions


@cache
def make_sessions() -> tuple[bytes, ...]:
    """Return valid sessions of many kinds, including the first format."""
    import attnlab
    from attnlab.attention import edits
    from attnlab.attention.edits import batches
    from attnlab.attention.stages.explanation import Cell
    from attnlab.attention.stages.walk import Place
    from attnlab.document.document import View
    from attnlab.document.saved_view import KEY, SavedView, to_plain
    from attnlab.files.sessions.session_file import Session, save_session

    names = (
        "journey",
        "the-cat-sat",
        "multi-head-8",
        "cross-attention",
        "random-4x8",
        "padding-batch",
        "additive",
        "rope",
        "grouped-keys",
        "t5-bias",
        "dropout",
    )
    experiments = [attnlab.preset(name) for name in names]
    experiments += [batches.add_item(experiments[0]), edits.configure(experiments[1], causal=True)]
    looked = to_plain(SavedView(View(cell=Cell("weights", 0, 1, 0), pinned=True, at=Place("scores", 0, 1, 0))))
    sessions = [Session(e, {"title": "T", "preset": "journey", KEY: looked}) for e in experiments]
    sessions.append(Session(experiments[0], {"title": "pins"}, (experiments[1], experiments[0])))
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number, session in enumerate(sessions):
            path = Path(folder) / f"{number}.attnlab"
            save_session(session, path)
            found.append(path.read_bytes())
    old = Path(__file__).parent.parent / "tests" / "files" / "version1.attnlab"
    return (*found, old.read_bytes())


def spoil_session_bytes(r: random.Random) -> bytes:
    """Return a corrupted session, mostly with valid checksums."""
    data = r.choice(make_sessions())
    way = r.random()
    if way < 0.15:
        return mutants.spoil_bytes(r, data, make_sessions())
    members = mutants.read_members(data)
    if way < 0.25:
        return mutants.spoil_zip(r, members)
    if way < 0.75:
        manifest = json.loads(members[MANIFEST])
        if way < 0.6 and isinstance(manifest.get("experiment"), dict):
            part = r.choice(("experiment", "experiment", "view"))
            if isinstance(manifest.get(part), dict):
                manifest[part] = mutants.Raw(mutants.spoil_json(r, manifest[part]).decode("utf-8", "replace"))
            text = mutants.write_json(manifest).encode("utf-8", "surrogatepass")
        else:
            text = mutants.spoil_json(r, manifest)
        members[MANIFEST] = text
    else:
        members[TENSORS] = mutants.spoil_tensors(r, members[TENSORS])
    return _correct_sums(members)


def _correct_sums(members: dict[str, bytes]) -> bytes:
    """Return an archive with the checksums of its members corrected."""
    if SUMS in members:
        listed = [(name, data) for name, data in members.items() if name != SUMS]
        members[SUMS] = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in listed).encode()
    else:  # the first format has the checksum of the arrays in its manifest
        old = json.dumps(hashlib.sha256(members[TENSORS]).hexdigest()).encode()
        members[MANIFEST] = re.sub(rb'"sha256": *"[0-9a-f]*"', b'"sha256": ' + old, members[MANIFEST])
    return mutants.write_zip(list(members.items()))


def _spoil_session(r: random.Random, folder: Path) -> None:
    (folder / "s.attnlab").write_bytes(spoil_session_bytes(r))


def _read_session(folder: Path) -> None:
    """Read a session as the window does: fit its view, compute its experiment."""
    from attnlab.attention.stages.explain import explain
    from attnlab.attention.stages.explanation import Cell
    from attnlab.compute.service import Request, answer
    from attnlab.document import opened
    from attnlab.document.saved_view import describe_dropped, from_plain
    from attnlab.files.export.script import script
    from attnlab.files.sessions.session_file import load_session, read_view

    read_view(folder / "s.attnlab")
    describe_dropped(opened.open_session(folder / "s.attnlab").dropped)
    session = load_session(folder / "s.attnlab")
    for value in session.view.values():
        from_plain(value, session.experiment)
    for e in (session.experiment, *session.pins[:2]):
        trace = answer(Request(1, e, "cpu", "float32", None, True), lambda: False).trace
        script(e, "title")
        if trace is None:
            continue
        for name in trace.all_stages:
            trace.stage(name).formula(e)
            explain(trace, Cell(name, 0, 0, 0 if trace.stage(name).has_heads else None))


def _spoil_unsaved(r: random.Random, folder: Path) -> None:
    for _ in range(3):
        stamp = (
            f"{r.choice((1, 1000, 2026, 9999)):04}{r.randint(0, 13):02}{r.randint(0, 32):02}T{r.randint(0, 240000):06}"
        )
        name = r.choice(
            (f"unsaved-{stamp}.attnlab", f"unsaved-{stamp}-{'9' * r.randint(1, 99)}.attnlab", "current.attnlab")
        )
        (folder / name).write_bytes(spoil_session_bytes(r))


def _read_unsaved(folder: Path) -> None:
    """List the unsaved work of earlier windows as the menu does."""
    from attnlab.files.sessions.unsaved import UnsavedFolder

    for each in UnsavedFolder(folder).list_all():
        assert each.write_title().isprintable()


# Lessons


@cache
def read_lessons() -> tuple[bytes, ...]:
    """Return the shipped lessons."""
    from attnlab.base import assets

    return tuple(assets.read_text(name).encode() for name in assets.names("lessons") if name.endswith(".md"))


def _shorten(r: random.Random, data: bytes) -> bytes:
    """Return the front matter of a lesson and one to three of its steps, so that reading is quick."""
    head, *steps = data.split(b"\n## ")
    return b"\n## ".join([head, *r.sample(steps, min(len(steps), r.choice((1, 2, 3))))])


def _spoil_lesson(r: random.Random, folder: Path) -> None:
    data = _shorten(r, r.choice(read_lessons()))
    (folder / "lesson.md").write_bytes(mutants.spoil_text(r, data, read_lessons()))
    if r.random() < 0.05:
        (folder / "state.attnlab").write_bytes(spoil_session_bytes(r))


def _read_lesson(folder: Path) -> None:
    """Read a lesson, compute its steps, fill its texts, and write and read it again."""
    from attnlab.lessons.library import count_steps
    from attnlab.lessons.parse import parse, read
    from attnlab.lessons.slides import check
    from attnlab.lessons.write import write

    count_steps(folder / "lesson.md")
    lesson = read(folder / "lesson.md")
    if len(lesson.steps) <= 6:
        check(lesson)
    else:
        check(replace(lesson, steps=lesson.steps[:4]))
    parse(write(lesson), lesson.name)


# Exercises and answers


@cache
def make_exercise() -> bytes:
    """Return the file of an exercise."""
    import attnlab
    from attnlab.attention.stages.explanation import Cell
    from attnlab.lessons.exercise import Exercise, save_exercise

    cells = (Cell("weights", 0, 1, 0), Cell("scores", 1, 0, 0), Cell("context", 0, 0, 0))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "e.json"
        e = attnlab.preset("journey")
        save_exercise(Exercise(e, cells, 0.01, "Title", 7, ("Ada", "Bob")), path)
        return path.read_bytes()


_ANSWERS = (
    b"student,cell,value\nAda,a,0.5\nBob,b,-0.38\n",
    b"Ada;a;0,5\nBob;c;1\n",
    b'Ada\t"weights[0, 1]"\t0.25\n',
    b"\xef\xbb\xbfstudent,cell,value\nAda,a,masked\nBob,a,1/2\nAda,a,\xe2\x88\x920.5\n",
)


def _spoil_exercise(r: random.Random, folder: Path) -> None:
    plain = json.loads(make_exercise())
    if r.random() < 0.25:
        plain["state"] = base64.b64encode(spoil_session_bytes(r)).decode()
    data = json.dumps(plain).encode() if r.random() < 0.2 else mutants.spoil_json(r, plain)
    (folder / "e.json").write_bytes(data)


def _read_exercise(folder: Path) -> None:
    """Read an exercise and compute everything on its printed sheet."""
    from attnlab.lessons.exercise import compute_answers, make_variant, read_exercise
    from attnlab.lessons.grading import grade

    exercise = read_exercise(folder / "e.json")
    for student in (*exercise.students[:2], "x"):
        e = make_variant(exercise, student)
        grade(exercise, e, {each.label: str(each.value) for each in compute_answers(exercise, e)}, student)


def _spoil_answers(r: random.Random, folder: Path) -> None:
    (folder / "a.csv").write_bytes(mutants.spoil_text(r, r.choice(_ANSWERS), _ANSWERS))


@cache
def _load_exercise() -> Any:
    from attnlab.lessons.exercise import read_exercise

    with tempfile.TemporaryDirectory() as folder:
        (path := Path(folder) / "e.json").write_bytes(make_exercise())
        return read_exercise(path)


def _read_answers(folder: Path) -> None:
    """Read a table of answers and grade it."""
    from attnlab.lessons.grading import grade, read_answer_file, sort_answers

    exercise = _load_exercise()
    lines, _ = read_answer_file(folder / "a.csv")
    for student, given in sort_answers(exercise, lines)[0].items():
        grade(exercise, exercise.experiment, given, student)


# Runs


@cache
def make_run() -> dict[str, bytes]:
    """Return the files of a run of a few steps, by name."""
    from attnlab.training import store
    from attnlab.training.marks import Mark
    from attnlab.training.messages import Progress, Started
    from attnlab.training.run import Run
    from attnlab.training.specs import ModelSpec, RunSpec, TrainSpec
    from attnlab.training.tasks import make_spec
    from attnlab.training.trainer import Trainer

    spec = make_spec("copy")
    model = replace(spec.model, layers=1, heads=2, d_model=8, d_ff=8)
    assert isinstance(model, ModelSpec)
    spec = RunSpec(spec.task, spec.options, model, TrainSpec(batch=2, steps=6, evaluate_every=3))
    trainer, run = Trainer(spec), Run(spec, "a run")
    run.take(Started(6, 6, "cpu"))
    for _ in range(3):
        metric, points = trainer.evaluate(), (trainer.take(),)
        run.take(Progress(trainer.step, trainer.seconds, points, (metric,), trainer.read_weights(), moment=True))
    run.take(trainer.make_checkpoint())
    run.mark(Mark(2, "a mark"))
    with tempfile.TemporaryDirectory() as folder:
        store.save(run.state(), folder)
        return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir()) if path.is_file()}


def _spoil_run(r: random.Random, folder: Path) -> None:
    files = dict(make_run())
    name = r.choice((*files, "run.json", "run.json"))
    if name.endswith(".json"):
        files[name] = mutants.spoil_json(r, json.loads(files[name]))
    elif name.endswith(".safetensors"):
        files[name] = mutants.spoil_tensors(r, files[name])
    else:
        files[name] = mutants.spoil_bytes(r, files[name])
    if r.random() < 0.05:
        del files[r.choice(list(files))]
    for each, data in files.items():
        (folder / each).write_bytes(data)


def _read_run(folder: Path) -> None:
    """Read a run as the window does: its row in the table, the full run, and its model at one moment."""
    from attnlab.training import store
    from attnlab.training.look import Viewer
    from attnlab.training.run import Run
    from attnlab.training.tasks import check, check_text, make_data

    store.list_runs(folder.parent)
    run = Run.of(state := store.load(folder))
    run.state()
    if state.digest:
        check_text(state.spec, state.digest)
    if not check(state.spec) and state.parameters < MOST_LOOKED and _is_small(state.spec):
        viewer = Viewer(state.spec)
        probe = make_data(state.spec).probe_text
        for moment in state.moments[:1]:
            viewer.look(moment.step, moment.weights, probe)


def _is_small(spec: Any) -> bool:
    m = spec.model
    return bool(m.layers * m.d_model * (m.d_model + m.d_ff) < MOST_LOOKED and spec.train.batch < 10_000)


# Small files


def _spoil_settings(r: random.Random, folder: Path) -> None:
    figure = [
        "format=png",
        "width_mm=85",
        "dpi=300",
        "labels=True",
        "film.fps=15",
        "decimals=2",
        "font_pt=9",
        "theme=light",
    ]
    good = {
        "version": 1,
        "theme": "dark",
        "type_size": 100,
        "reduced_motion": False,
        "recent": ["/a.attnlab"],
        "figure": figure,
    }
    (folder / "settings.json").write_bytes(mutants.spoil_json(r, good))


def _read_settings(folder: Path) -> None:
    """Read the settings, including those of figures."""
    from attnlab.document.settings import load_settings, save_settings
    from attnlab.ui.export.figure_choices import read_words

    settings, wrong = load_settings(folder / "settings.json")
    assert all(isinstance(sentence, str) for sentence in wrong)
    read_words(settings.figure)
    save_settings(settings, folder / "settings.json")


def _spoil_config(r: random.Random, folder: Path) -> None:
    data = (
        mutants.spoil_json(r, weight_kinds.CONFIG)
        if r.random() < 0.9
        else mutants.spoil_bytes(r, json.dumps(weight_kinds.CONFIG).encode())
    )
    (folder / "config.json").write_bytes(data)


def _read_config(folder: Path) -> None:
    """Read the head counts from a config beside weights."""
    from attnlab.files.weights.head_counts import heads_beside

    heads = heads_beside(folder / "model.safetensors")
    assert heads.n_heads is None or 0 < heads.n_heads < 1 << 16


_TEXT = "The cat sat on the mat.\nIt was – of course – not alone.\n" * 20


def _spoil_own_text(r: random.Random, folder: Path) -> None:
    (folder / "text.txt").write_bytes(mutants.spoil_text(r, _TEXT.encode()))


def _read_own_text(folder: Path) -> None:
    """Read a training text, and create its task."""
    from attnlab.training.tasks import check, make_data, make_spec

    spec = make_spec("characters")
    spec = replace(spec, options={**spec.options, "text": str(folder / "text.txt")})
    if not check(spec):
        make_data(spec)


KINDS = {
    "session": Kind(_spoil_session, _read_session),
    "unsaved": Kind(_spoil_unsaved, _read_unsaved),
    **weight_kinds.KINDS,
    "lesson": Kind(_spoil_lesson, _read_lesson),
    "exercise": Kind(_spoil_exercise, _read_exercise),
    "answers": Kind(_spoil_answers, _read_answers),
    "run": Kind(_spoil_run, _read_run),
    "settings": Kind(_spoil_settings, _read_settings),
    "config": Kind(_spoil_config, _read_config),
    "text": Kind(_spoil_own_text, _read_own_text),
    **map_kinds.KINDS,
}
"""The kinds by name. A seed depends on their order."""
