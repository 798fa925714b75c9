"""The model of a session as plain values: read back as written, and refused if it is none."""

import json

import pytest

from attnlab.document.saved_model import SavedModel, model_from_plain, model_to_plain

WHOLE = SavedModel(
    "induction",
    "c a d\nb",
    "so far",
    ("one", "two"),
    (("encoder", 0, 1, -1, -1), ("cross", 2, 3, 4, 5)),
    (("decoder", 1, 2),),
    "cross",
    2,
    3,
)


def test_it_is_read_back_as_it_was_written() -> None:
    assert model_from_plain(json.loads(json.dumps(model_to_plain(WHOLE)))) == WHOLE


@pytest.mark.parametrize(
    "wrong",
    [
        {"source": ""},
        {"source": 3},
        {"source": "//server/share"},
        {"source": "\\\\server\\share"},
        {"source": "\\/server/share"},
        {"source": "/\\server/share"},
        {"source": "a\nb"},
        {"text": None},
        {"text": "x" * 200_001},
        {"others": ["x"] * 9},
        {"off": [["encoder", 0, 1, -1, 3]]},
        {"off": [["elsewhere", 0, 1, -1, -1]]},
        {"off": [["encoder", -1, 1, -1, -1]]},
        {"off": [["encoder", True, 1, -1, -1]]},
        {"edited": [["encoder", 0]]},
        {"part": "all"},
        {"layer": -1},
        {"head": 1.5},
    ],
)
def test_what_is_no_model_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        model_from_plain({**model_to_plain(WHOLE), **wrong})


def test_no_mapping_is_no_model() -> None:
    with pytest.raises(ValueError, match="no mapping"):
        model_from_plain([])
