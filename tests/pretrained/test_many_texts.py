"""Several texts: targets and mean scores equal those of the texts one by one, and what cannot be read is named."""

from pathlib import Path

import numpy as np
import pytest

from attnlab.base.errors import ArgumentError, FileError
from attnlab.files.texts_in import read_texts
from attnlab.pretrained.model import Model, open_model
from attnlab.pretrained.pattern_tables import encode_patterns, encode_targets
from tests.pretrained.conftest import make_model, save_tokenizer

TEXTS = ["c a d b f e c a d", "a b a b a b", "h i j k"]


@pytest.fixture(scope="module")
def model() -> Model:
    return open_model("induction")


@pytest.mark.parametrize("plain", [True, False])
def test_targets_are_the_largest_weights(model: Model, plain: bool) -> None:
    found = model.read_texts(TEXTS, heads_off=[(0, 1)])
    for text, each in zip(TEXTS, found.texts, strict=True):
        run = model.run(text, heads_off=[(0, 1)])
        assert each.query_tokens == run.tokens
        for layer in range(model.n_layers):
            weights = run.attention(layer).numpy()
            for head, own in enumerate([*weights, weights.mean(0)]):
                head = -1 if head == model.n_heads else head
                for token, row in enumerate(own):
                    row = np.where(np.arange(len(row)) == 0, 0.0, row) if plain else row
                    name, weight = each.find(layer, head, token, plain=plain)
                    assert weight == pytest.approx(float(row.max()), abs=1e-6)
                    if weight > 0:
                        assert name.startswith(run.tokens[int(row.argmax())])


def test_a_token_that_occurs_twice_has_its_number(model: Model) -> None:
    each = model.read_texts(["c a d b f e c a d"]).texts[0]
    assert each.name(3) == "b"
    assert each.name(6) == "c₆"
    assert each.find(0, 0, 0, plain=True) == ("", 0.0)


def test_scores_are_means_over_texts(model: Model) -> None:
    found = model.read_texts(TEXTS)
    one_by_one = np.array([[row[2:-1] for row in model.run(text).patterns()] for text in TEXTS])
    np.testing.assert_allclose([row[2:-1] for row in found.patterns], one_by_one.mean(0), rtol=1e-5, atol=1e-7)
    assert {row.strongest for row in found.patterns} == {-1}


@pytest.mark.slow
def test_a_text_that_cannot_be_read_is_left_out_with_the_reason(model: Model) -> None:
    found = model.read_texts([*TEXTS, "zzz", ""])
    assert len(found.texts) == 3
    assert [text for text, _ in found.refused] == ["zzz", ""]
    assert "'z' is not a token of this model" in found.refused[0][1]
    with pytest.raises(ArgumentError, match="'z' is not a token"):
        model.read_texts(["zzz"])
    with pytest.raises(ArgumentError, match="There is no text"):
        model.read_texts([])
    with pytest.raises(ArgumentError, match="it needs a list of texts"):
        model.read_texts("a b")
    with pytest.raises(ArgumentError, match="more than 1,000 texts"):
        model.read_texts(["a"] * 1001)


def test_cross_attention_has_targets_but_no_scores(tmp_path: Path) -> None:
    make_model("t5").save_pretrained(tmp_path)
    save_tokenizer(tmp_path, "t5")
    model = open_model(tmp_path)
    found = model.read_texts(["the cat sat"], "cross")
    assert found.patterns == ()
    assert found.texts[0].key_tokens == model.run("the cat sat").tokens
    assert found.texts[0].keys.shape == (model.count_layers("cross"), model.n_heads + 1, 1)  # its first token


def test_tables_as_csv(model: Model) -> None:
    found = model.read_texts(TEXTS)
    lines = encode_targets(found, -1, plain=False).splitlines()
    assert lines[0] == "text,token,name,layer,target,weight"
    assert len(lines) == 1 + model.n_layers * sum(len(each.query_tokens) for each in found.texts)
    rows = encode_patterns(found.patterns, ("layer", "head", "previous")).splitlines()
    assert rows[0] == "layer,head,previous"
    assert float(rows[2].split(",")[2]) == pytest.approx(found.patterns[1].previous)


def test_texts_of_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("one\n\n two \n", encoding="utf-8")
    assert read_texts(tmp_path / "lines.txt") == ["one", "two"]
    (tmp_path / "more.md").write_text("\ufeffthree\nfour", encoding="utf-8")
    (tmp_path / "other.bin").write_bytes(b"\xff\xfe")
    assert read_texts(tmp_path) == ["one\n\n two", "three\nfour"]
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(FileError, match=r"has no text in \.txt or \.md files"):
        read_texts(empty)
    (empty / "bad.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match="is not UTF-8 text"):
        read_texts(empty)
    with pytest.raises(FileError, match="There is no file"):
        read_texts(tmp_path / "gone.txt")
