"""The cases of :mod:`tests.ui.test_every_job_fails` for the jobs of Models."""

from attnlab.ui.models.texts_dialog import TextsDialog
from tests.ui.failing_jobs import Desk, case
from tests.ui.models.reader import ModelReader


def sit(desk: Desk) -> ModelReader:
    person = desk.person()
    reader = ModelReader(person.window, person.qtbot)
    reader.open()
    return reader


def open_texts(desk: Desk, target: str) -> tuple[ModelReader, TextsDialog]:
    """Open the dialog of several texts, and let a function fail from then on."""
    reader = sit(desk)
    reader.models.tools.show_texts()
    (dialog,) = reader.window.findChildren(TextsDialog)
    reader.wait_for(lambda: not reader.models.session.busy and dialog.note.text() != "")
    desk.plant(target)
    return reader, dialog


@case("models/models_session.py ModelsSession._ask", "running the model")
def run_model(desk: Desk) -> None:
    reader = sit(desk)
    desk.plant("attnlab.pretrained.model.Model.run")
    reader.models.set_text("a b a", "retype the text")
    reader.wait_for(lambda: "Something went wrong" in reader.models.panel.message.text())
    assert reader.models.session.state.text == "c a d b f e c a d"


@case("models/models_tools.py ModelsTools.choose_model", "listing models")
def list_models(desk: Desk) -> None:
    reader = sit(desk)
    desk.plant("attnlab.pretrained.find_model.list_cached")
    reader.models.tools.choose_model()
    reader.wait_for(lambda: "Something went wrong" in reader.models.footer.note.text())


@case("models/models_tools.py ModelsTools.open_first", "listing models")
def open_first(desk: Desk) -> None:
    person = desk.person()
    desk.plant("attnlab.pretrained.shipped.list_shipped")
    reader = ModelReader(person.window, person.qtbot)
    reader.window.show_workspace("models")
    reader.wait_for(lambda: "Something went wrong" in reader.models.footer.note.text())


@case("models/models_tools.py ModelsTools._read_text", "reading a text")
def read_text(desk: Desk) -> None:
    reader = sit(desk)
    desk.plant("attnlab.ui.models.models_tools.read_text")
    reader.models.tools._read_text(desk.folder / "text.txt")
    reader.wait_for(lambda: "Something went wrong" in reader.models.panel.message.text())


@case("models/models_session.py ModelsSession.ask_experiment", "opening a layer in the playground")
def open_layer(desk: Desk) -> None:
    reader = sit(desk)
    desk.plant("attnlab.pretrained.model_run.Run.experiment")
    reader.models.tools.trip.open()
    reader.wait_for(lambda: "Something went wrong" in reader.models.panel.message.text())


@case("models/models_session.py ModelsSession.ask_texts", "reading several texts")
def read_several(desk: Desk) -> None:
    reader, dialog = open_texts(desk, "attnlab.pretrained.model.Model.read_texts")
    dialog.texts.setPlainText("a b a")
    reader.wait_for(lambda: "Something went wrong" in dialog.message.text())


@case("models/texts_files.py TextFiles.read", "reading texts")
def read_text_files(desk: Desk) -> None:
    reader, dialog = open_texts(desk, "attnlab.ui.models.texts_files.read_texts")
    dialog._read(desk.folder / "text.txt")
    reader.wait_for(lambda: "Something went wrong" in dialog.message.text())


@case("models/texts_files.py TextFiles.write", "saving a table")
def save_table(desk: Desk) -> None:
    reader, dialog = open_texts(desk, "attnlab.ui.models.texts_files.write_bytes")
    dialog._save(desk.folder / "table.csv")
    reader.wait_for(lambda: "Something went wrong" in dialog.message.text())


@case("models/models_session.py ModelsSession.ask_answers", "predicting every token")
def save_answers(desk: Desk) -> None:
    reader = sit(desk)
    desk.plant("attnlab.pretrained.pattern_tables.encode_rows")
    reader.models.tools._save_answers(desk.folder / "answer.csv")
    reader.wait_for(lambda: "Something went wrong" in reader.models.footer.note.text())


@case("models/models_session.py ModelsSession.ask_words", "opening a layer in the playground")
def run_words(desk: Desk) -> None:
    reader = sit(desk)
    trip = reader.models.tools.trip
    trip.open()
    reader.wait_for(lambda: trip.origin is not None)
    desk.plant("attnlab.pretrained.model_run.Run.experiment")
    reader.playground.inputs.query_box.tokens.token_removed.emit(0)
    reader.wait_for(lambda: "Something went wrong" in trip.strip.truth.text())
