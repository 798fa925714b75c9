"""Written lessons are read back unchanged, and are readable."""

from dataclasses import replace
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from attnlab.attention.examples.presets import presets
from attnlab.attention.stages.table import BY_NAME
from attnlab.files.atomic import write_text
from attnlab.lessons.lenses import LENSES
from attnlab.lessons.lesson import DEPTHS, Blank, Edit, Lesson, Question, Step
from attnlab.lessons.parse import parse, read
from attnlab.lessons.write import write

letters = st.characters(exclude_categories=["Cs"], exclude_characters="\r\0")
awkward = st.sampled_from(
    ["no", "null", "1e-3", "-1e9", "12:30", "# not a comment", "- item", "a: b", "[x]", "{{T}}", "'", '"', "yes", "---"]
)
words = st.one_of(st.text(letters, max_size=30), awkward).map(lambda text: " ".join(text.split()))
titles = words.filter(bool)
marks = st.sampled_from(
    [
        "## Not a step",
        "##",
        "### A heading",
        "```state",
        "```",
        "````notes",
        "\\## Escaped",
        "\\\\```question",
        "---",
        "",
    ]
)
paragraphs = st.lists(st.one_of(st.text(letters.filter(lambda c: c != "\n"), max_size=40), marks), max_size=6).map(
    lambda lines: "\n".join(lines)
)


def trimmed(text: str) -> str:
    """Return a text without blank lines before and after it, as in a step."""
    lines = text.split("\n")
    full = [i for i, line in enumerate(lines) if line.strip()]
    return "\n".join(lines[full[0] : full[-1] + 1]) if full else ""


texts = paragraphs.map(trimmed)
files = st.text(letters.filter(lambda c: c.isprintable() and c not in "/\\:"), min_size=1, max_size=12).filter(
    lambda name: bool(name.strip(" ."))
)
paragraph = st.lists(words, max_size=3).map(lambda lines: "\n".join(lines).strip())
numbers = st.one_of(st.integers(-(10**6), 10**6), st.floats(allow_nan=False))
values = st.one_of(
    st.none(), st.booleans(), numbers, words, st.lists(numbers, max_size=4), st.lists(st.lists(numbers, max_size=3))
)
tokens = words.filter(lambda word: not set("\"'”") <= set(word))  # or no quotes would be left to put it in
indices = st.one_of(st.none(), st.integers(0, 99), tokens)
blanks = st.builds(Blank, st.sampled_from(tuple(BY_NAME)), indices, indices)
questions = st.builds(
    Question,
    st.lists(blanks, min_size=1, max_size=3).map(tuple),
    paragraph,
    st.floats(0, 1e6),
    paragraph,
)
places = st.one_of(st.integers(0, 99), words)
begun = st.one_of(
    st.just({}), st.sampled_from(presets()).map(lambda name: {"preset": name}), files.map(lambda name: {"file": name})
)
steps = st.builds(
    lambda begin, **rest: Step(**begin, **rest),
    begun,
    title=titles,
    text=texts,
    notes=texts,
    edits=st.lists(st.builds(Edit, titles, values), max_size=3).map(tuple),
    stage=st.one_of(st.none(), st.sampled_from(tuple(BY_NAME))),
    cell=st.one_of(st.none(), st.tuples(places, places)),
    head=st.one_of(st.none(), st.integers(0, 63), st.sampled_from(["all", "mean"])),
    depth=st.one_of(st.none(), st.sampled_from(DEPTHS)),
    lens=st.one_of(st.none(), st.sampled_from(sorted(LENSES)), st.just("positions/order")),
    question=st.one_of(st.none(), questions),
    answer=texts,
)
lessons = st.builds(
    Lesson,
    st.just("own"),
    titles,
    st.lists(steps, min_size=1, max_size=4).map(tuple),
    words,
    st.lists(words, max_size=3).map(tuple),
    st.lists(words, max_size=3).map(tuple),
    order=st.integers(0, 100),
)


@given(lessons)
@example(Lesson("own", "no", (Step("1", "## two\n```state\n\\## three\n```", "````\n```\n## x"),)))
def test_a_written_lesson_is_read_back_unchanged(lesson: Lesson) -> None:
    assert parse(write(lesson), "own") == lesson


@given(lessons)
def test_writing_a_read_lesson_is_stable(lesson: Lesson) -> None:
    once = write(lesson)
    assert write(parse(once, "own")) == once


def test_a_written_lesson_is_readable() -> None:
    step = Step(
        "What may a token see?",
        "The weight is {{weights[2, 1]}}.",
        "Ask first.",
        preset="causal-5x8",
        edits=(Edit("causal", True), Edit("W_q[0, 0]", 1.5), Edit("W_k", [[1, 0], [0, 1]])),
        stage="masked",
        cell=("starts", 1),
        head=0,
        depth="row",
        question=Question(
            (Blank("weights", 2, 1), Blank("weights", 0, None, 3)), "How much: “starts”?", 0.01, "Divide."
        ),
    )
    lesson = Lesson("own", "Causal masks", (step,), "Why: no look ahead.", ("B1", "B2"), ("Vaswani et al., 2017",))
    assert write(lesson) == (
        "---\n"
        "title: Causal masks\n"
        "about: 'Why: no look ahead.'\n"
        "covers: [B1, B2]\n"
        "sources:\n"
        "  - Vaswani et al., 2017\n"
        "---\n"
        "\n"
        "## What may a token see?\n"
        "\n"
        "```state\n"
        "preset: causal-5x8\n"
        "edits:\n"
        "  - causal: true\n"
        "  - W_q[0, 0]: 1.5\n"
        "  - W_k: [[1, 0], [0, 1]]\n"
        "stage: masked\n"
        "cell: [starts, 1]\n"
        "head: 0\n"
        "depth: row\n"
        "```\n"
        "\n"
        "The weight is {{weights[2, 1]}}.\n"
        "\n"
        "```notes\n"
        "Ask first.\n"
        "```\n"
        "\n"
        "```question\n"
        "ask: 'How much: “starts”?'\n"
        "blank:\n"
        "  - weights[2, 1]\n"
        "  - weights[3, 0, :]\n"
        "tolerance: 0.01\n"
        "hint: Divide.\n"
        "```\n"
    )


def test_invalid_parts_of_a_lesson_are_not_written() -> None:
    lesson = parse("---\ntitle: T\ncolour: red\n---\n## One\nText\n", "own")
    assert len(lesson.problems) == 1
    assert parse(write(lesson), "own") == replace(lesson, problems=())


def test_a_lesson_with_an_invalid_title_can_be_saved(tmp_path: Path) -> None:
    tokens = Edit("tokens", ["half \ud83d", "a"])
    step = Step(title="half \ud83d", text="half \ud83d a pair", preset="journey", edits=(tokens,))
    write_text(tmp_path / "a.md", write(Lesson("a", "half \ud83d", steps=(step,))))
    again = read(tmp_path / "a.md")
    assert (again.title, again.steps[0].title, again.steps[0].text) == ("half ?", "half ?", "half ? a pair")
    assert [edit.value for edit in again.steps[0].edits] == [["half ?", "a"]]
