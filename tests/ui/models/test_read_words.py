"""Words of the playground go back to the model as its tokenizer would write them."""

from pathlib import Path

import pytest

from attnlab.pretrained.model import open_model
from attnlab.ui.models.model_reader import ModelReader
from attnlab.ui.models.model_state import ModelState
from tests.pretrained.conftest import make_model, save_tokenizer

TEXT = "the cat sat on the mat"


@pytest.mark.parametrize(("name", "part"), [("gpt2", "decoder"), ("bert", "encoder"), ("t5", "encoder")])
def test_the_models_own_tokens_are_read_again_as_the_same(name: str, part: str, tmp_path: Path) -> None:
    make_model(name).save_pretrained(tmp_path)
    save_tokenizer(tmp_path, name)
    reader, state = ModelReader(), ModelState(str(tmp_path), TEXT)
    run = open_model(tmp_path).run(TEXT)
    tokens = run.experiment(0).tokens
    again, experiment = reader.read_words(state, part, 0, tokens)  # type: ignore[arg-type]
    assert open_model(tmp_path).run(again.text).tokens == run.tokens
    assert experiment.tokens == tokens
    other, _ = reader.read_words(state, part, 0, [*tokens[:2], "sat", *tokens[2:]])  # type: ignore[arg-type]
    assert "sat" in other.text.split()


def test_the_tokens_of_a_decoder_are_what_it_has_written(tmp_path: Path) -> None:
    make_model("t5").save_pretrained(tmp_path)
    save_tokenizer(tmp_path, "t5")
    reader, state = ModelReader(), ModelState(str(tmp_path), TEXT, target="the mat")
    tokens = open_model(tmp_path).run(TEXT, "the mat").experiment(0, "cross").tokens
    again, _ = reader.read_words(state, "cross", 0, tokens[:-1])
    assert again.text == TEXT
    assert again.target.strip() == "the"
