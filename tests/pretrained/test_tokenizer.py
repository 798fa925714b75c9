"""Texts are cut as the transformers library cuts them, from every kind of tokenizer's files."""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from tokenizers import ByteLevelBPETokenizer, Tokenizer, decoders, models, pre_tokenizers

from attnlab.pretrained.model import read_model
from attnlab.pretrained.tokenizer import readable
from tests.pretrained.conftest import Make, transformers

TEXTS = [
    "The cat sat on the mat.",
    "It's naïve, isn't it?",
    "catsat  matmat",
    "日本 cat 🙂",
    "the [MASK] sat",
    "cat<|endoftext|> <mask>sat </s>",
]
PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdehimnost", "##at", "##t", "the", "cat", "sat", ".", ",")


def folder_with(make: Make, tmp_path: Path, name: str) -> Path:
    """Return the folder of a model without its tokenizer."""
    theirs, folder = make(name)
    theirs.config.save_pretrained(tmp_path)
    (tmp_path / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
    return tmp_path


@pytest.mark.parametrize("lower", [True, False])
def test_berts_vocabulary_in_a_text_file(make: Make, tmp_path: Path, lower: bool) -> None:
    folder = folder_with(make, tmp_path, "bert")
    (folder / "vocab.txt").write_text("\n".join(PIECES))
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": lower}))
    vocabulary = {piece: i for i, piece in enumerate(PIECES)}
    theirs = transformers.BertTokenizer(vocab=vocabulary, do_lower_case=lower)
    ours = read_model(folder).tokenizer
    for text in TEXTS:
        ids, tokens = ours.encode(text)
        assert ids == theirs(text)["input_ids"]
        assert list(tokens) == theirs.convert_ids_to_tokens(ids)
    assert ours.mask == "[MASK]"


@pytest.mark.parametrize("family", ["gpt2", "roberta"])
def test_gpt_2s_vocabulary_and_merges(make: Make, tmp_path: Path, family: str) -> None:
    folder = folder_with(make, tmp_path, family)
    trained: Any = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"] if family == "roberta" else ["<|endoftext|>"]
    trained.train_from_iterator(TEXTS * 3, vocab_size=300, special_tokens=special, show_progress=False)
    trained.save_model(str(folder))
    kind = transformers.RobertaTokenizer if family == "roberta" else transformers.GPT2Tokenizer
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = kind.from_pretrained(folder)
    ours = read_model(folder).tokenizer
    for text in TEXTS:
        ids, tokens = ours.encode(text)
        assert ids == theirs(text)["input_ids"]
        assert list(tokens) == theirs.convert_ids_to_tokens(ids)
    assert ours.mask == ("<mask>" if family == "roberta" else None)
    assert ours.specials() == {*special} - {"<unk>"}  # which stands for a word


def test_padding_and_cutting_of_the_file_are_off(make: Make, tmp_path: Path) -> None:
    folder = folder_with(make, tmp_path, "bert")
    inner: Any = Tokenizer(models.WordLevel({"[PAD]": 0, "[UNK]": 1, "cat": 2}, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.enable_truncation(4)
    inner.enable_padding(length=4)
    inner.save(str(folder / "tokenizer.json"))
    tokenizer = read_model(folder).tokenizer
    assert tokenizer.encode("cat")[0] == [2]
    assert tokenizer.encode("cat " * 9)[0] == [2] * 9


def test_a_hidden_word_is_predicted_where_it_is(make: Make) -> None:
    run = read_model(make("bert")[1]).run("the [MASK] sat on the mat")
    assert run.tokens[2] == "[MASK]"
    assert run.find_position() == 2
    assert run.predictions() == run.predictions(2)
    assert run.predictions() != run.predictions(3)
    twice = run.model.run("the [MASK] sat on the [MASK]")  # the first of them, as in the window
    assert twice.predictions() == twice.predictions(2) != twice.predictions(6)
    assert [len(run.predictions(k=k)) for k in (1, 3, 99)] == [1, 3, 14]
    probabilities = [p for _, p in run.predictions(k=99)]
    assert probabilities == sorted(probabilities, reverse=True)
    assert sum(probabilities) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(("token", "shown"), [("Ġcat", " cat"), ("▁cat", " cat"), ("##at", "##at"), ("cat", "cat")])
def test_signs_for_spaces_are_read_as_spaces(token: str, shown: str) -> None:
    assert readable(token) == shown


def test_sentencepiece_in_a_tokenizer_file(make: Make, tmp_path: Path) -> None:
    folder = folder_with(make, tmp_path, "llama")
    inner: Any = Tokenizer(models.Unigram([("<unk>", 0.0), ("▁the", -1.0), ("▁cat", -1.0), ("▁", -2.0)], unk_id=0))
    inner.pre_tokenizer = pre_tokenizers.Metaspace()
    inner.decoder = decoders.Metaspace()
    inner.save(str(folder / "tokenizer.json"))
    run = read_model(folder).run("the cat")
    assert run.tokens == ("▁the", "▁cat")
    assert run.experiment(0).tokens == (" the", " cat")


def test_signs_that_end_lines_elsewhere_may_be_tokens_of_a_text_file(make: Make, tmp_path: Path) -> None:
    folder = folder_with(make, tmp_path, "bert")
    pieces = (*PIECES[:5], "\u2028", "\x85", "\x0c", "cat", "sat")
    (folder / "vocab.txt").write_bytes("\r\n".join(pieces).encode() + b"\r\n")
    assert read_model(folder).tokenizer.encode("cat sat", special=False)[0] == [8, 9]


@pytest.mark.parametrize("keeps", [True, False, None])
def test_accents_and_chinese_characters_follow_the_tokenizers_settings(
    make: Make, tmp_path: Path, keeps: bool | None
) -> None:
    folder = folder_with(make, tmp_path, "bert")
    pieces = (*PIECES[:5], "cat", "cät", "Cät", "中国", "中", "国")
    (folder / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    choices = {} if keeps is None else {"strip_accents": not keeps, "tokenize_chinese_chars": not keeps}
    (folder / "tokenizer_config.json").write_text(json.dumps(choices))
    theirs = transformers.BertTokenizer(vocab={piece: i for i, piece in enumerate(pieces)}, **choices)
    assert read_model(folder).tokenizer.encode("Cät 中国")[0] == theirs("Cät 中国")["input_ids"]


def test_a_predicted_token_is_written_as_text(make: Make, tmp_path: Path) -> None:
    folder = folder_with(make, tmp_path, "gpt2")
    signs = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner: Any = ByteLevelBPETokenizer({sign: i for i, sign in enumerate((*signs, "ĠÃ", "Ã©", "Ġt"))}, [])
    inner.save(str(folder / "tokenizer.json"))
    tokenizer = read_model(folder).tokenizer
    written = [tokenizer.append("a café", token) for token in ("Ċ", "Ġ", "Ġt", "Ã©", "b")]
    assert written == ["a café\n", "a café ", "a café t", "a caféé", "a caféb"]
    assert tokenizer.append("a", "Ã") == "a"  # the first byte of a letter


def test_pieces_of_words_are_written_onto_their_words(make: Make, tmp_path: Path) -> None:
    folder = folder_with(make, tmp_path, "bert")
    (folder / "vocab.txt").write_text("\n".join(PIECES))
    tokenizer = read_model(folder).tokenizer
    assert tokenizer.append("the cat", "##t") == "the catt"
    assert tokenizer.append("the cat", "sat") == "the cat sat"
