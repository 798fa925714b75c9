"""The user's own pairs and lines: what is read, what is held out, and one clear sentence for each kind of bad file."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from attnlab.base.errors import TrainingError
from attnlab.training.batch import END, IGNORED, PAD
from attnlab.training.first_weights import draw_first_weights
from attnlab.training.look import Viewer
from attnlab.training.specs import RunSpec
from attnlab.training.tasks import TASKS, check, compute_digest, find_own_text, make_data, make_spec
from attnlab.training.tasks.own_data import MOST_LINES, UNKNOWN, join, split

WORDS = ("cat", "dog", "tree", "book", "hand", "king", "ship", "song", "star", "door", "bird", "road")
PLURALS = "".join(f"{word}\t{word}s\n" for word in WORDS)
LINES = "".join(f"line {number} of the text, which is number {number}.\n" for number in range(30))


def spec_of(task: str, path: Path, kind: str | None = None, **options: int | str) -> RunSpec:
    spec = make_spec(task, kind)
    return replace(spec, options={**spec.options, "data": str(path), **options})


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str | bytes], Path]:
    """Write a file of pairs, and return its path."""

    def write(content: str | bytes) -> Path:
        path = tmp_path / "mine.tsv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def pairs_of(spec: RunSpec, n: int) -> set[tuple[str, str]]:
    """Return ``n`` random training pairs of a model that reads the source separately."""
    made = make_data(spec)
    batch = made.draw_batch(torch.Generator().manual_seed(1), n)
    assert batch.source is not None

    def text(row: torch.Tensor) -> str:
        return "".join(made.decode(row[(row != PAD) & (row != IGNORED) & (row != END)]))

    return {(text(source), text(target)) for source, target in zip(batch.source, batch.targets, strict=True)}


def test_pairs_are_those_of_the_file_and_a_part_of_the_sources_is_held_out(
    write: Callable[[str | bytes], Path],
) -> None:
    spec = spec_of("pairs", write(PLURALS), level="character", held_out=25)
    assert check(spec) == ""
    every = {tuple(line.split("\t")) for line in PLURALS.splitlines()}
    learned = pairs_of(spec, 400)
    made = make_data(spec)
    assert made.held_out.source is not None
    away = {"".join(made.decode(row[row != PAD])) for row in made.held_out.source}
    assert learned | {pair for pair in every if pair[0] in away} == every
    assert len(away) == 3  # a quarter of twelve
    assert not away & {source for source, _ in learned}
    assert made.probe_text in away
    assert find_own_text(spec).endswith("mine.tsv")
    assert len(compute_digest(spec)) == 64


@pytest.mark.parametrize("kind", TASKS["pairs"].kinds)
def test_a_source_that_the_file_lacks_is_answered_without_a_right_answer(
    write: Callable[[str | bytes], Path], kind: str
) -> None:
    spec = spec_of("pairs", write(PLURALS), kind, level="character")
    spec = replace(spec, model=replace(spec.model, d_model=8, heads=1, layers=1, d_ff=8))
    viewer, weights = Viewer(spec), draw_first_weights(spec)
    known = viewer.look(0, weights, "cat")
    assert "".join(known.expected) == "cats⟩"
    unknown = viewer.look(0, weights, "rat")
    assert unknown.expected == ()
    assert unknown.answer.places
    assert all(not place.wanted for place in unknown.answer.places)


def test_words_and_marks_are_tokens_and_are_joined_again() -> None:
    assert split("Don’t  stop, now!", "word") == ("Don’t", "stop", ",", "now", "!")
    assert split(" ab ⟨c", "character") == ("a", "b", " ", "c")
    for level in ("word", "character"):
        tokens = split("one two, three", level)
        assert split(join(tokens, level), level) == tokens


@pytest.mark.parametrize(
    "words",
    [
        ("नमस्ते", "दुनिया", "!"),
        ("שָׁלוֹם", "עוֹלָם"),
        ("می\u200cخواهم", "کتاب"),
        ("👩\u200d👩\u200d👧", "👍🏽", "❤\ufe0f", "🇩🇪", "🎉"),
    ],
)
def test_vowel_signs_and_parts_of_an_emoji_stay_with_their_character(words: tuple[str, ...]) -> None:
    assert split(" ".join(words), "word") == words
    assert split("🎉🎉🇩🇪🇫🇷", "word") == ("🎉", "🎉", "🇩🇪", "🇫🇷")


def test_equal_sources_are_held_out_with_all_their_targets(write: Callable[[str | bytes], Path]) -> None:
    both = "".join(f"{line}\n{line.split(chr(9))[0]}\tother\n\n" for line in PLURALS.splitlines())
    spec = spec_of("pairs", write(both), level="character", held_out=50)
    made = make_data(spec)
    assert len(made.held_out.inputs) == 12
    assert made.held_out.source is not None
    away = {"".join(made.decode(row[row != PAD])) for row in made.held_out.source}
    assert not away & {source for source, _ in pairs_of(spec, 400)}


TAB_LESS, EMPTY = PLURALS + "lonely\n", PLURALS.replace("\tdogs", "\t")
BAD: dict[str, tuple[str | bytes, str]] = {
    "one column": (TAB_LESS, "Line 13 of mine.tsv has one column; each line needs a source, a tab and a target."),
    "commas": (PLURALS.replace("\t", ","), "Line 1 of mine.tsv has one column"),
    "three columns": (PLURALS + "a\tb\tc\n", "Line 13 of mine.tsv has 3 columns; each line needs"),
    "an empty target": (EMPTY, "Line 2 of mine.tsv has an empty target; each line needs"),
    "an empty source": (PLURALS + "\tx\n", "Line 13 of mine.tsv has an empty source"),
    "many lines": ("a\tb\n" * 100_000, "mine.tsv has 100,000 lines; the maximum is 50,000. Keep a part of it."),
    "a million lines": (
        "a\tb\n" * 10**6,
        "mine.tsv is larger than the 2 MiB that a text to learn from may have; choose another file",
    ),
    "mixed encodings": (
        PLURALS.encode() + "caf\u00e9\tcaf\u00e9s\n".encode("latin-1"),
        "not UTF-8 at byte 131, in line 13",
    ),
    "UTF-16": (PLURALS.encode("utf-16"), "is not UTF-8 at byte 0, in line 1"),
    "a binary file": (b"\x00\x01" * 90, "is binary"),
    "nothing": ("", "is empty"),
    "few pairs": (
        "a\tb\n" * 50,
        "mine.tsv has 1 different source; at least 10 are needed, because 10\N{NO-BREAK SPACE}% of them are held out.",
    ),
    "a long source": (
        PLURALS + "x" * 70 + "\ty\n",
        "Line 13 of mine.tsv has a source of 70 characters; the max",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_of_pairs_is_refused_in_one_sentence(name: str, write: Callable[[str | bytes], Path]) -> None:
    content, said = BAD[name]
    spec = spec_of("pairs", write(content), level="character")
    problem = check(spec)
    assert said in problem
    assert problem.endswith(".")
    assert "\n" not in problem
    with pytest.raises(TrainingError):
        make_data(spec)


def test_a_missing_file_and_too_many_characters_are_refused(tmp_path: Path) -> None:
    assert "There is no file" in check(spec_of("pairs", tmp_path / "none.tsv"))
    many = tmp_path / "many.txt"
    many.write_text("".join(f"{chr(0x4E00 + number)} and x{number}\n" for number in range(1200)))
    said = "many.txt has 1,215 different characters; the maximum is 1,000. Use fewer lines."
    assert check(spec_of("lines", many, level="character")) == said
    assert check(spec_of("lines", many)) == ""
    assert MOST_LINES == 50_000


def test_a_vocabulary_of_words_has_the_most_frequent_ones_and_one_for_all_others(tmp_path: Path) -> None:
    """Eight words are frequent; of the 40 others there is room for those that come first in the alphabet."""
    path = tmp_path / "mine.txt"
    names = [f"rare{number}" for number in range(40)]
    path.write_text("".join(f"the cat sat on {name}.\n" for name in names) + "a dog ran\n" * 2)
    whole, small = make_data(spec_of("lines", path)), make_data(spec_of("lines", path, words=32))
    assert len(whole.vocabulary) == 3 + 9 + 40 - 1
    assert len(small.vocabulary) == 32
    words = set(small.vocabulary[3:])
    assert {"the", "cat", "sat", "on", ".", "a", "dog", "ran", UNKNOWN} <= words
    kept = sorted(words & set(names))
    assert len(kept) == 32 - 3 - 9
    assert kept == sorted(names)[: len(kept)]  # as frequent as the others, so the first ones of the alphabet
    lost = sorted(set(names) - words)[0]
    read = small.make_probe(f"the {lost} sat").inputs[0]
    assert small.decode(read) == ("the", UNKNOWN, "sat")
    assert torch.equal(read, small.make_probe(f"the {UNKNOWN} sat").inputs[0])
    assert small.make_probe(small.probe_text).inputs.numel() > 0
    assert whole.unknown_share == 0
    lines = [split(line, "word") for line in path.read_text().splitlines()]
    words_of_text = [word for line in lines for word in line]
    assert small.unknown_share == pytest.approx(sum(word not in words for word in words_of_text) / len(words_of_text))
    with pytest.raises(TrainingError, match="'zebra' does not occur"):
        whole.make_probe("the zebra sat")


def test_pairs_of_a_small_vocabulary_of_words_share_the_unknown_word(write: Callable[[str | bytes], Path]) -> None:
    pairs = "".join(f"the a{number}\tle z{number}\n" for number in range(60))
    spec = spec_of("pairs", write(pairs), words=40)
    made = make_data(spec)
    assert len(made.vocabulary) == 40
    assert {"the", "le", UNKNOWN} <= set(made.vocabulary)
    assert sum(token[0] in "az" for token in made.vocabulary) == 40 - 3 - 3


def test_lines_are_examples_and_whole_lines_are_held_out(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text(LINES)
    spec = spec_of("lines", path)
    made = make_data(spec)
    held = {" ".join(made.decode(row[row != PAD])) for row in made.held_out.inputs}
    assert len(held) == 3
    drawn = made.draw_batch(torch.Generator().manual_seed(0), 500)
    learned = {" ".join(made.decode(row[row != PAD])) for row in drawn.inputs}
    assert len(learned) == 27
    assert not held & learned
    row = drawn.targets[0]
    assert int(row[row != IGNORED][-1]) == END
    read = drawn.inputs[0]
    assert torch.equal(read[read != PAD][1:], row[row != IGNORED][:-1])  # each token's target is the next one
    assert 0 < made.baselines["bigram"] < made.baselines["unigram"]


def test_a_long_line_is_cut_and_every_token_is_asked_once(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("".join(chr(97 + number) * 3 + "0123456789" * 3 + "\n" for number in range(10)))
    spec = spec_of("lines", path, level="character", longest=8)
    made = make_data(spec)
    assert made.longest == 8
    asked = made.held_out.targets[made.held_out.targets != IGNORED]
    text = "".join(made.decode(asked))
    letter = text[0]
    assert text == letter * 2 + "0123456789" * 3 + "⟩"  # one line of 33 characters, without its first


@pytest.mark.parametrize(
    ("task", "text", "said"),
    [
        (
            "pairs",
            "how was your zebra",
            "'zebra' does not occur in the included pairs; an input can use only its words.",
        ),
        ("pairs", "", "The input has 0 words; the model reads 1 to 4 at once."),
        ("lines", "qwertz", "'qwertz' does not occur in the included sonnets"),
    ],
)
def test_a_probe_that_cannot_be_read_is_explained(task: str, text: str, said: str) -> None:
    with pytest.raises(TrainingError) as caught:
        make_data(make_spec(task)).make_probe(text)
    assert said in str(caught.value)
