"""The cases of :mod:`tests.ui.test_every_job_fails` for the jobs of Models."""

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QLabel

from attnlab.ui.models.texts_dialog import TextsDialog
from tests.ui.failing_jobs import FaultyProgram, case
from tests.ui.models.reader import ModelReader

EXPERIMENT = "attnlab.pretrained.model_run.Run.experiment"


def open_models(program: FaultyProgram) -> ModelReader:
    person = program.person()
    reader = ModelReader(person.window, person.qtbot)
    reader.open()
    return reader


def open_texts(program: FaultyProgram) -> tuple[ModelReader, TextsDialog]:
    """Open the dialog of several texts."""
    reader = open_models(program)
    reader.models.tools.show_texts()
    (dialog,) = reader.window.findChildren(TextsDialog)
    reader.wait_for(lambda: not reader.models.session.busy and dialog.note.text() != "")
    return reader, dialog


def fail(program: FaultyProgram, reader: ModelReader, target: str, do: Callable[[], object], label: QLabel) -> None:
    """Let a function fail, do what needs it, and wait until the label says that something went wrong."""
    program.plant(target)
    do()
    reader.wait_for(lambda: "Something went wrong" in label.text())


@case("models/models_session.py ModelsSession._ask", "running the model", "models")
def run_model(program: FaultyProgram) -> None:
    reader = program.share(open_models)
    models = reader.models
    retype = partial(models.set_text, "a b a", "retype the input")
    fail(program, reader, "attnlab.pretrained.model.Model.run", retype, models.panel.message)
    assert models.session.state.text == "c a d b f e c a d"


@case("models/models_tools.py ModelsTools.choose_model", "listing models", "models")
def list_models(program: FaultyProgram) -> None:
    reader = program.share(open_models)
    models = reader.models
    fail(program, reader, "attnlab.pretrained.find_model.list_cached", models.tools.choose_model, models.footer.note)


@case("models/models_tools.py ModelsTools.open_shipped", "listing models")
def open_shipped(program: FaultyProgram) -> None:
    person = program.person()
    program.plant("attnlab.pretrained.shipped.list_shipped")
    reader = ModelReader(person.window, person.qtbot)
    reader.window.show_workspace("models")
    reader.wait_for(lambda: "Something went wrong" in reader.models.footer.note.text())


@case("models/models_tools.py ModelsTools._read_text", "reading a text", "models")
def read_text(program: FaultyProgram) -> None:
    reader = program.share(open_models)
    models = reader.models
    read = partial(models.tools._read_text, program.folder / "text.txt")
    fail(program, reader, "attnlab.ui.models.models_tools.read_text", read, models.panel.message)


@case("models/models_session.py ModelsSession.ask_experiment", "opening a layer in the playground", "models")
def open_layer(program: FaultyProgram) -> None:
    reader = program.share(open_models)
    models = reader.models
    fail(program, reader, EXPERIMENT, models.tools.trip.open, models.panel.message)


@case("models/models_session.py ModelsSession.ask_texts", "reading several texts")
def read_several(program: FaultyProgram) -> None:
    reader, dialog = open_texts(program)
    write = partial(dialog.texts.setPlainText, "a b a")
    fail(program, reader, "attnlab.pretrained.model.Model.read_texts", write, dialog.message)


@case("models/texts_files.py TextFiles.read", "reading texts")
def read_text_files(program: FaultyProgram) -> None:
    reader, dialog = open_texts(program)
    read = partial(dialog._read, program.folder / "text.txt")
    fail(program, reader, "attnlab.ui.models.texts_files.read_texts", read, dialog.message)


@case("models/texts_files.py TextFiles.write", "saving a table")
def save_table(program: FaultyProgram) -> None:
    reader, dialog = open_texts(program)
    save = partial(dialog._save, program.folder / "table.csv")
    fail(program, reader, "attnlab.ui.models.texts_files.write_bytes", save, dialog.message)


@case("models/models_session.py ModelsSession.ask_answers", "predicting every token", "models")
def save_answers(program: FaultyProgram) -> None:
    reader = program.share(open_models)
    save = partial(reader.models.tools._save_answers, program.folder / "answer.csv")
    fail(program, reader, "attnlab.pretrained.pattern_tables.encode_rows", save, reader.models.footer.note)


@case("models/models_session.py ModelsSession._ask_diagram", "drawing the model", "models")
def draw_model(program: FaultyProgram) -> None:
    reader = program.share(open_models)
    models = reader.models
    draw = partial(models.session.show, drawn=True)
    fail(program, reader, "attnlab.pretrained.model_blocks.describe_model", draw, models.cards.diagram.message)


@case("models/models_session.py ModelsSession.ask_words", "opening a layer in the playground")
def run_words(program: FaultyProgram) -> None:
    reader = open_models(program)
    trip = reader.models.tools.trip
    trip.open()
    reader.wait_for(lambda: trip.origin is not None)
    remove = partial(reader.playground.inputs.query_box.tokens.token_removed.emit, 0)
    fail(program, reader, EXPERIMENT, remove, trip.strip.truth)
