"""Every parser of untrusted text takes linear time, so that no text freezes the window."""

import re
from contextlib import suppress
from dataclasses import replace

import pytest

from attnlab.attention.edits import token_edits
from attnlab.attention.examples.presets import preset
from attnlab.attention.stages.arithmetic import Span
from attnlab.base.block_text import parse_block
from attnlab.base.errors import AttnlabError
from attnlab.base.number_text import parse_number, quote
from attnlab.compute.engine import compute
from attnlab.files import atomic
from attnlab.files.export import matrix_text
from attnlab.files.export.stage_tables import table
from attnlab.files.export.terminal_table import as_text
from attnlab.files.sessions import session_json
from attnlab.files.weights import text_in, weight_names
from attnlab.lessons import (
    cell_references,
    expressions,
    grading,
    placeholders,
    sections,
    solution_text,
    state,
    table_edit,
)
from attnlab.lessons.exercise import parse_students
from attnlab.lessons.lesson import Edit, Lesson, Step
from attnlab.lessons.parse import parse
from attnlab.lessons.write import write
from attnlab.training.tasks import TASKS, calendar_spellings, make_data, make_spec
from tests.hostile_texts import THOROUGH, Parser, out_of_proportion
from tests.quick import slow_but

E = preset("journey")
TABLE = table(compute(E), "weights", "all")
"""Small, so that the text dominates the time."""


def latex_of_line(text: str) -> str:
    return solution_text.write_latex_line((Span(text), Span(text, style="sub")))


def spoken(*lines: str) -> Parser:
    return lambda text: parse("\n".join(lines).replace("%", text), "lesson")


def edited(text: str) -> None:
    for key in (text, f"W_q{text}", f"W_q[{text}", f"W_q[{text}]"):
        with suppress(AttnlabError):
            state.apply_edit(E, Edit(key, 1))
    for value in (text, [text], [[text]]):
        with suppress(AttnlabError):
            state.apply_edit(E, Edit("W_q", value))


def probed(task: str) -> Parser:
    return lambda text: make_data(make_spec(task)).make_probe(text)


def shown(text: str) -> object:
    return as_text(table(compute(token_edits.rename_token(E, 0, text)), "weights", "all"), 80)


def written(form: str) -> Parser:
    def write_table(text: str) -> str:
        tokens = (text, *E.tokens[1:])
        named = replace(TABLE, row_labels=tokens, column_labels=tokens, query_tokens=tokens, key_tokens=tokens)
        return matrix_text.FORMATS[form](named)

    return write_table


PARSERS: dict[str, Parser] = {
    "a pasted block": parse_block,
    "a pasted list": lambda text: parse_block(f"[[1, 2], {text}"),
    "a table of text": text_in.read_text,
    "a JSON of arrays": lambda text: text_in.read_text(f'{{"a": {text}'),
    "JSON": lambda text: session_json.parse(text.encode("utf-8", "surrogatepass")),
    "a number": parse_number,
    "a quoted text": quote,
    "a name in a sentence": atomic.format_name,
    "an answer": grading.read_number,
    "a file of answers": grading.read_answers,
    "a list of students": lambda text: parse_students(text.split("\n")),
    "blanks": cell_references.parse_blanks,
    "a blank": lambda text: cell_references.parse_blank(f"weights[{text}]"),
    "a stage and a blank": lambda text: cell_references.parse_blank(f"weights{text}]"),
    "pieces": lambda text: cell_references.split_at_commas(text),
    "a token in quotes": cell_references.unquote,
    "an edit": edited,
    "an index": lambda text: table_edit.edit_table(E, "W_q", text, 0),
    "placeholders": lambda text: placeholders.fill("{{d_k}}" + text, lambda: SCOPE),
    "placeholders in Markdown": lambda text: placeholders.fill("{{d_k}}" + text, lambda: SCOPE, markdown=True),
    "an expression": placeholders.read,
    "a lesson": spoken("%"),
    "a step": spoken("---", "title: A", "---", "## A", "%"),
    "front matter": spoken("---", "%", "---", "## A"),
    "a value of front matter": spoken("---", "title: %", "---", "## A"),
    "a list of front matter": spoken("---", "covers: [%", "---", "## A"),
    "a state": spoken("## A", "```state", "%", "```"),
    "edits": spoken("## A", "```state", "edits:", "  - %: 1", "```"),
    "a question": spoken("## A", "```question", "blank: %", "```"),
    "a quoted question": spoken("## A", "```question", "blank: '%'", "```"),
    "an open fence": spoken("## A", "```state%", "```"),
    "a lesson written": lambda text: write(Lesson(text, "a", (Step(text, text, text),), about=text)),
    "lines that are escaped": sections.escape,
    "a sentence": lambda text: token_edits.set_tokens(E, token_edits.tokenize(text)),
    "a sentence typed over another": lambda text: token_edits.retype(E, text),
    "a token shown in a terminal": shown,
    "Markdown of a name": solution_text.escape_markdown,
    "LaTeX of a name": solution_text.escape_latex,
    "LaTeX of a line": lambda text: latex_of_line(text[: len(text) // 4]),  # each letter is converted on its own
    "the meaning of a name": weight_names.meaning,
    "the order of names": lambda text: sorted([text, text + "1"], key=weight_names.in_order),
    "a spelled date": calendar_spellings.read,
    **{f"a probe of {task}": probed(task) for task in TASKS},
    **{f"a table as {form}": written(form) for form in matrix_text.FORMATS},
}
SCOPE = expressions.Scope(compute(E), compute(E), 0)


SLOW = {"LaTeX of a line", "a lesson written", "a token shown in a terminal"}
"""Their time is linear too, but all texts together take seconds."""
QUICK = {"a pasted block", "a table of text", "JSON", "a number", "a file of answers", "an expression", "a lesson"}


@pytest.mark.parametrize("name", slow_but(QUICK, PARSERS))
def test_parsers_take_linear_time(name: str) -> None:
    assert out_of_proportion(PARSERS[name], THOROUGH and name not in SLOW) == []


@pytest.mark.slow
def test_a_quadratic_parser_would_be_detected() -> None:
    assert out_of_proportion(lambda text: re.search("a+?b", text))


def test_layers_with_any_names_are_sorted() -> None:
    names = ["a.²", "a.10", "a.2", "a." + "9" * 5000]
    assert sorted(names, key=weight_names.in_order)[:2] == ["a.2", "a.10"]
