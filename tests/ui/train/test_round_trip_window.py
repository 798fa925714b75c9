"""From a training to the playground and back, with real weights of a tiny model."""

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel, QMenu, QPushButton

from attnlab.attention import edits
from tests.ui.conftest import Person
from tests.ui.train.pupil import Pupil, tiny


@pytest.fixture
def pupil(person: Person) -> Pupil:
    return Pupil(person.window, person.qtbot)


def shown_maps(pupil: Pupil, layer: str) -> np.ndarray:
    seen = pupil.trainer.session.inspection.seen
    assert seen is not None
    return next(each.weights for each in seen.look.maps if each.layer == layer)


def open_choice(pupil: Pupil) -> QMenu:
    """Return the menu of layers, as it is shown; a press would wait for the choice."""
    button = pupil.find(QPushButton, "Choose a layer")
    assert button.text() == "Layer"  # the arrow is that of every button with a menu
    menu = button.menu()
    assert isinstance(menu, QMenu)
    menu.aboutToShow.emit()
    return menu


@pytest.mark.slow
def test_a_head_can_be_edited_in_the_playground_and_trained_further(pupil: Pupil) -> None:
    pupil.begin(tiny())
    pupil.click(pupil.find(QPushButton, "Start"))
    pupil.wait_for_step(40)
    trainer = pupil.trainer
    pupil.click(pupil.find(QPushButton, "Open decoder 1 in Playground"))
    pupil.wait_for_playground()
    origin = pupil.tools.round_trip.origin
    assert origin is not None
    assert pupil.run.step == origin.step
    assert trainer.session.state == "paused"
    assert pupil.document.scene.title == f"Reverse · decoder 1 · step {origin.step:,}"
    weights = pupil.painted("weights")
    pupil.wait_for(lambda: pupil.shown_step == origin.step)
    np.testing.assert_allclose(weights, shown_maps(pupil, "decoder 1"), atol=1e-6)
    assert pupil.find(QLabel, f"decoder 1 at step {origin.step:,}").isVisible()

    pupil.open_table("W_q")
    pupil.type_number(0, 0, "0")
    pupil.settle()
    pupil.click(pupil.find(QPushButton, "Send back"))
    pupil.wait_for(lambda: pupil.window.current == "train")
    pupil.wait_for_step(origin.step + 30)
    run = trainer.session.run
    assert run is not None
    assert len(run.losses) >= origin.step + 30
    assert np.isfinite(run.losses).all()
    sent = run.recorder.find_nearest(origin.step)
    assert sent is not None
    assert any(array.shape == (16, 16) and array[0, 0] == 0 for array in sent.weights.values())
    assert [mark.title for mark in run.marks if not mark.suggested] == ["edited: decoder 1"]
    trainer.session.stop()


@pytest.mark.slow
def test_continuing_from_an_earlier_moment_branches_the_run(pupil: Pupil) -> None:
    pupil.begin(tiny(steps=60))
    pupil.click(pupil.find(QPushButton, "Start"))
    trainer = pupil.trainer
    pupil.wait_for(lambda: trainer.session.run is not None and not trainer.session.alive)
    assert pupil.run.step == 60
    trainer.footer.go_first()
    first, losses, moments = pupil.run, pupil.run.losses.copy(), pupil.run.recorder.moments
    every = first.spec.train.evaluate_every
    index = next(at for at in range(len(moments) // 3, len(moments)) if moments[at].step % every)  # none measured there
    step = moments[index].step
    trainer.footer.line.moment_chosen.emit(index)
    pupil.wait_for(lambda: pupil.shown_step == step)
    pupil.tools.round_trip.open("decoder 1", 1)
    pupil.wait_for_playground()
    assert pupil.document.view.head == 1
    pupil.open_table("W_o")
    pupil.type_number(0, 0, "0")
    pupil.settle()
    pupil.click(pupil.find(QPushButton, "Send back"))
    pupil.wait_for(lambda: trainer.session.run is not first)  # it may have ended already
    pupil.wait_for(lambda: not trainer.session.alive)
    run = pupil.run
    assert run is not first
    assert trainer.title() == f"Reverse · seed 0, from step {step}"
    assert run.step == 60
    assert run.steps.tolist() == list(range(60))
    np.testing.assert_array_equal(run.losses[:step], losses[:step])
    assert (run.losses[step:] != losses[step:]).any()
    assert trainer.session.kept == (first,)
    assert [moment.step for moment in first.recorder.moments] == [moment.step for moment in moments]
    np.testing.assert_array_equal(first.losses, losses)
    assert any(mark.title == "edited: decoder 1" and mark.step == step for mark in run.marks)
    assert step % run.spec.train.evaluate_every
    assert step in [metric.step for metric in run.metrics]  # the curve shows at once what the edit did
    assert [(mark.name, mark.x) for mark in pupil.trainer.curves.loss.marks] == [("edited", step)]


@pytest.mark.slow
def test_the_way_back_to_the_training_stays_with_large_type(pupil: Pupil) -> None:
    pupil.begin(tiny())
    pupil.tools.round_trip.open("decoder 1", -1)
    pupil.wait_for_playground()
    pupil.window.resize(900, 600)
    pupil.window.change_settings(type_size=175)
    pupil.settle()
    strip = pupil.tools.round_trip.strip
    for button in (strip.leave, strip.send):
        assert button.isVisible()
        assert button.width() >= button.sizeHint().width()
        assert strip.rect().contains(button.geometry())
    pupil.click(pupil.find(QPushButton, "To the training"))
    assert pupil.window.current == "train"


@pytest.mark.slow
def test_other_sizes_are_refused_in_a_sentence(pupil: Pupil) -> None:
    pupil.begin(tiny())
    pupil.tools.round_trip.open("decoder 1", -1)
    pupil.wait_for_playground()
    pupil.document.edit("causal", lambda e: edits.configure(e, causal=False))
    pupil.settle()
    pupil.click(pupil.find(QPushButton, "Send back"))
    pupil.wait_for(lambda: "causal" in pupil.playground.step_bar.message)
    assert pupil.window.current == "playground"
    assert not pupil.trainer.session.alive
    pupil.undo()
    pupil.undo()
    pupil.settle()
    assert pupil.tools.round_trip.origin is None
    assert not pupil.tools.round_trip.strip.isVisible()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "kind", "layer"),
    [
        ("dates", "encoder-decoder", "cross 1"),
        ("dates", "encoder-decoder", "encoder 1"),
        ("dates", "luong", "alignment"),
    ],
)
def test_every_kind_of_layer_opens_with_the_maps_of_the_model(pupil: Pupil, task: str, kind: str, layer: str) -> None:
    pupil.begin(tiny(task, kind=kind))
    pupil.wait_for(lambda: pupil.tools.round_trip.layers != () and layer in pupil.tools.round_trip.layers)
    maps = shown_maps(pupil, layer)
    pupil.tools.round_trip.open(layer, -1)
    pupil.wait_for_playground()
    np.testing.assert_allclose(pupil.painted("weights"), maps, atol=1e-6)


@pytest.mark.slow
def test_a_layer_opens_as_a_whole_block_and_its_feed_forward_is_sent_back(pupil: Pupil) -> None:
    pupil.begin(tiny())
    trip = pupil.tools.round_trip
    pupil.wait_for(lambda: trip.layers != ())
    menu = open_choice(pupil)
    assert [action.text() for action in menu.actions()] == [
        "Open decoder 1 in Playground",
        "Open decoder 1 as a whole block",
    ]
    menu.actions()[1].trigger()
    pupil.wait_for_playground()
    assert pupil.document.scene.title == "Reverse · decoder 1, whole block · step 0"
    assert pupil.experiment.config.block == "before"
    np.testing.assert_allclose(pupil.painted("weights"), shown_maps(pupil, "decoder 1"), atol=1e-6)
    pupil.open_table("W_2")
    pupil.type_number(0, 0, "0")
    pupil.settle()
    pupil.click(pupil.find(QPushButton, "Send back"))
    pupil.wait_for(lambda: pupil.window.current == "train")
    pupil.wait_for_step(1)
    sent = pupil.run.recorder.find_nearest(0)
    assert sent is not None
    assert sent.weights["blocks.0.feed_forward.3.weight"][0, 0] == 0
    pupil.trainer.session.stop()


def test_layers_without_a_block_are_not_offered_as_one(pupil: Pupil) -> None:
    pupil.begin(tiny("dates", kind="luong"))
    trip = pupil.tools.round_trip
    pupil.wait_for(lambda: trip.layers != ())
    menu = open_choice(pupil)
    assert [action.text() for action in menu.actions()] == ["Open alignment in Playground"]
