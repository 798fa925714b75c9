"""The player: frames forward and back, restored states, undo, and edits in between."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.attention import edits
from attnlab.attention.examples.presets import preset
from attnlab.attention.stages.walk import Place, make_question_place
from attnlab.document.document import Document
from attnlab.document.scene import Scene
from attnlab.lessons.library import find
from attnlab.lessons.parse import parse
from attnlab.lessons.tour import make_tour
from attnlab.ui.lessons.player import LessonPlayer
from tests.ui.lessons.conftest import MASKS


def opened(step: int = 0) -> tuple[Document, LessonPlayer]:
    document = Document("Open", Scene(preset("the-cat-sat"), "The cat sat", "the-cat-sat"))
    player = LessonPlayer(document, document)
    player.open(parse(MASKS, "masks"), step)
    return document, player


def walk_text(text: str) -> tuple[Document, LessonPlayer]:
    """Return a document and the player of a lesson that is written here."""
    document, player = opened()
    player.open(parse(f"---\ntitle: A lesson\n---\n\n{text}", "written"))
    return document, player


def where(player: LessonPlayer) -> tuple[int, int]:
    assert player.slide is not None
    return player.slide.index, player.frame_index


def test_it_walks_frame_by_frame_to_the_end_and_all_the_way_back() -> None:
    _, player = opened()
    forward = [where(player)]
    while not player.at_end:
        player.go_next()
        forward.append(where(player))
    assert forward == [(0, 0), *((1, i) for i in range(7)), (2, 0), (3, 0), (3, 0)]  # the last key shows the answer
    player.go_next()
    assert where(player) == (3, 0)
    assert player.answered
    back = [where(player)]
    while not player.at_start:
        player.go_back()
        back.append(where(player))
    assert back == forward[::-1]
    player.go_back()
    assert where(player) == (0, 0)


def test_next_and_back_return_to_the_slide_after_another_opening() -> None:
    for key in ("go_next", "go_back"):
        document, player = opened(1)
        player.go_next()
        slide, place = player.slide, where(player)
        assert slide is not None
        document.open("Open", Scene(preset("the-cat-sat"), "The cat sat", "the-cat-sat"))
        assert player.elsewhere
        assert document.view.at is None
        assert where(player) == place
        document.undo()
        assert not player.elsewhere
        assert document.view.at == player.frame
        document.redo()
        assert player.elsewhere
        getattr(player, key)()
        assert not player.elsewhere
        assert document.experiment is slide.experiment
        assert where(player) == (1, 0)
        document.edit("Edit", lambda e: edits.configure(e, causal=False))
        assert not player.elsewhere


def test_a_frame_sets_the_documents_view() -> None:
    document, player = opened(1)
    assert document.view.at == player.frame == Place("weights", -1)
    player.go_next()
    player.go_next()
    assert document.view.at == player.frame == Place("weights", 1)
    assert document.view.depth == "row"
    player.skip()
    assert where(player) == (2, 0)
    assert document.view.at is None
    assert document.view.pinned
    assert document.view.cell is not None
    assert (document.view.cell.row, document.view.cell.column) == (2, 1)


def test_each_state_is_one_history_entry_and_undo_goes_back_past_the_lesson() -> None:
    document, player = opened()
    begun = document.history.entries[0].scene
    player.go(1)
    player.go(2)
    labels = [entry.label for entry in document.history.entries]
    assert labels == ["Open", "Everyone sees all", "The future is hidden", "One number is different"]
    assert not document.modified
    assert document.path is None
    player.go(3)
    assert len(document.history.entries) == 4, "a state that did not change is no entry"
    for _ in range(3):
        document.undo()
    assert document.scene is begun


def test_entering_a_step_again_restores_its_numbers() -> None:
    document, player = opened(2)
    own = document.experiment
    document.edit("Drag", lambda e: edits.set_block(e, "W_q", 0, 0, [[9.0]]))
    assert document.experiment is not own
    player.go_back()
    player.go_next()
    assert document.experiment is own
    document.undo()
    document.undo()
    assert float(edits.array(document.experiment, "W_q")[0, 0]) == 9.0


def test_frames_follow_an_edit_of_the_sizes() -> None:
    from attnlab.attention.edits.token_edits import set_tokens

    document, player = opened(1)
    for _ in range(5):
        player.go_next()
    assert len(player.frames) == 7
    document.edit("Three words", lambda e: set_tokens(e, ("Your", "journey", "ends")))
    assert len(player.frames) == 4
    assert player.frame == document.view.at
    player.go_next()
    assert where(player)[0] in (1, 2)


def test_closing_keeps_the_experiment_and_shows_all_of_it() -> None:
    document, player = opened(1)
    shown = document.scene
    told: list[object] = []
    player.slide_changed.connect(told.append)
    player.close()
    player.close()
    assert told == [None]
    assert (player.lesson, player.slide, player.at_end, player.at_start) == (None, None, True, True)
    assert document.scene is shown
    assert document.view.at is None
    for walk in (player.go_next, player.go_back, player.go_first, player.go_last, player.skip):
        walk()
    assert document.scene is shown


def test_a_tour_keeps_the_open_experiment() -> None:
    e = preset("causal-5x8")
    document = Document("Open", Scene(e))
    player = LessonPlayer(document, document)
    player.open(make_tour(e))
    assert player.frame == Place("inputs", -1)
    while not player.at_end:
        player.go_next()
    assert document.experiment is e
    assert len(document.history.entries) == 1


def test_a_lesson_without_steps_opens_and_shows_nothing(tmp_path: Path) -> None:
    path = tmp_path / "empty.md"
    path.write_text("---\ntitle: Empty\n---\n", encoding="utf-8")
    document = Document("Open", Scene(preset("journey")))
    player = LessonPlayer(document, document)
    player.open(find(str(path)))
    assert player.slide is None
    assert player.at_end


@given(st.lists(st.sampled_from(["go_next", "go_back", "skip", "go_first", "go_last", "undo", "redo"]), max_size=25))
def test_any_walk_ends_with_the_view_of_the_frame(moves: list[str]) -> None:
    document, player = opened()
    for move in moves:
        getattr(document if move in ("undo", "redo") else player, move)()
        assert player.slide is not None
        assert 0 <= player.frame_index < len(player.frames)
        if move not in ("undo", "redo"):
            asked = make_question_place(player.hidden) if player.asking else None
            assert document.view.at == (None if player.elsewhere else asked or player.frame)


def test_the_first_key_shows_the_answer_the_next_goes_on_and_back_covers_it_again() -> None:
    step = "preset: journey\n```\n\nHow much?\n\n```question\nblank: weights[1, 0]\n```\n\n```answer\nIt is this much."
    document, player = walk_text(f"## Ask\n\n```state\n{step}\n```\n\n## Then\n\nMore.\n")
    assert (player.hidden, player.answered) == (player.slides[0].blanks, False)
    assert document.view.at == make_question_place(player.hidden)
    player.go_next()
    assert where(player) == (0, 0)
    assert (player.hidden, player.answered, document.view.at) == ((), True, None)
    player.go_next()
    assert where(player) == (1, 0)
    player.go_back()
    assert where(player) == (0, 0)
    assert player.answered
    player.go_back()
    assert where(player) == (0, 0)
    assert player.hidden == player.slides[0].blanks
    assert player.at_start
    player.reveal(player.hidden[0])
    assert player.answered


def test_an_answer_without_a_question_is_one_key_and_after_a_walk_none() -> None:
    block = "```answer\nIt is this much.\n```\n"
    _, player = walk_text(
        f"## Alone\n\n```state\npreset: journey\n```\n\n{block}\n## Walk\n\n```state\ndepth: stage\n```\n\n{block}"
    )
    seen = [(*where(player), player.answered)]
    while not player.at_end:
        player.go_next()
        seen.append((*where(player), player.answered))
    assert seen == [(0, 0, False), (0, 0, True), (1, 0, False), (1, 1, True)]


@pytest.mark.parametrize("step", [-3, 99])
def test_a_step_out_of_range_is_the_nearest_one(step: int) -> None:
    _, player = opened()
    player.go(step)
    assert where(player)[0] == (0 if step < 0 else 3)
