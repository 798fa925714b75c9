"""The lessons on trained heads tell the truth about the model that ships: its sessions, shares and predictions."""

import re
from dataclasses import fields, replace
from functools import cache

import pytest
import torch

import attnlab
from attnlab.base import assets
from attnlab.compute.engine import compute
from attnlab.lessons.library import find
from attnlab.lessons.slides import fill_text, make_slides
from attnlab.pretrained.layers import Norm
from tools.make_lesson_sessions import LETTERS, PREVIOUS, TEXT, make_sessions

SESSIONS = tuple(name.removeprefix("lessons/") for name in assets.names("lessons") if name.endswith(".attnlab"))
INDUCTION = ((1, 0), (1, 1))


@cache
def make_all() -> dict[str, attnlab.Experiment]:
    """Return what the script makes; it is the same for every test."""
    return make_sessions()


@pytest.fixture(scope="module")
def model() -> attnlab.Model:
    model = attnlab.read_model("induction")
    assert isinstance(model, attnlab.Model)
    return model


def read_step(lesson: str, step: int) -> str:
    """Return the text and the answer of a step, counted from 1, filled and without marks."""
    slide = make_slides(find(lesson))[step - 1]
    assert slide.experiment is not None
    trace, before = compute(slide.experiment), compute(slide.before or slide.experiment)
    return " ".join(fill_text(f"{slide.step.text}\n{slide.step.answer}", trace, before, slide).split())


def find_probability(model: attnlab.Model, letter: str, off: tuple[tuple[int, int], ...]) -> float:
    return dict(model.run(TEXT, heads_off=off).predictions(k=19))[letter]


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_is_what_the_script_makes(name: str) -> None:
    kept, made = attnlab.load(assets.path(f"lessons/{name}")), make_all()[name]
    assert (kept.tokens, repr(kept.config)) == (made.tokens, repr(made.config))
    torch.testing.assert_close(kept.embeddings, made.embeddings, rtol=1e-6, atol=1e-6)
    for field in fields(made.weights):
        if field.name != "extra":
            pair = getattr(kept.weights, field.name), getattr(made.weights, field.name)
            torch.testing.assert_close(*pair, rtol=1e-6, atol=1e-6)


def test_every_session_beside_the_lessons_is_made_and_shown() -> None:
    named = {step.file for name in ("trained-heads", "switch-a-head-off") for step in find(name).steps}
    assert set(SESSIONS) == set(make_all()) == named - {None}


def test_the_layers_are_those_of_the_model(model: attnlab.Model) -> None:
    run, without = model.run(TEXT), model.run(TEXT, heads_off=[PREVIOUS])
    for name, expected in (
        ("trained-layer-0", run.attention(0)),
        ("trained-layer-1", run.attention(1)),
        ("trained-read-out", run.attention(1)),
        ("trained-without-previous", without.attention(1)),
    ):
        torch.testing.assert_close(compute(make_all()[f"{name}.attnlab"])["weights"], expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("name", "off"), [("trained-read-out", ()), ("trained-without-previous", (PREVIOUS,))])
def test_the_read_out_gives_the_probabilities_of_the_model(
    model: attnlab.Model, name: str, off: tuple[tuple[int, int], ...]
) -> None:
    """The last row, added to what the earlier layers wrote for each letter, gives the model's probabilities."""
    run = model.run(TEXT, heads_off=off)
    norm, predict = model.architecture.stacks[0].norm, model.architecture.predict
    assert norm is not None
    assert predict is not None
    after, outputs = norm(), run.outputs(1)
    assert isinstance(after, Norm)
    whole, earlier = outputs.whole[-1], outputs.residual[-1]
    divided = (earlier - earlier.mean()) / (whole.var(correction=0) + after.eps).sqrt()
    numbers = [model.tokenizer.number(letter) for letter in LETTERS]
    wrote = predict((divided * after.gain + after.shift)[None])[0, numbers]
    found = (wrote + compute(make_all()[f"{name}.attnlab"])["output"][-1]).softmax(-1)
    expected = run.probabilities()[numbers]
    torch.testing.assert_close(found, expected / expected.sum(), rtol=0, atol=1e-5)


def test_the_read_out_adds_up_over_the_heads() -> None:
    e = make_all()["trained-read-out.attnlab"]
    without = [compute(replace(e, config=replace(e.config, ablated=heads)))["output"] for heads in ((0,), (1,))]
    assert e.weights.b_o is not None
    torch.testing.assert_close(sum(without) - e.weights.b_o, compute(e)["output"], rtol=0, atol=1e-5)


def test_the_shares_in_the_lesson_are_the_patterns_of_the_model(model: attnlab.Model) -> None:
    rows = {(row.layer, row.head): row for row in model.run(TEXT).patterns()}
    assert f"previous-token head: {rows[PREVIOUS].previous:.3f}." in read_step("trained-heads", 3)
    assert f"a mean of {rows[0, 0].itself:.2f}." in read_step("trained-heads", 5)
    told = read_step("trained-heads", 7)
    assert f"{rows[1, 0].induction:.2f} in head 0, and {rows[1, 1].induction:.2f} in head 1" in told
    largest = max(rows[0, head].induction for head in (0, 1))
    assert f"at most {largest:.2f}" in told


def test_the_previous_token_head_follows_positions_and_not_letters(model: attnlab.Model) -> None:
    for text in ("h h h h h h", "p a o b n c m d", "f e d c b a"):
        assert model.run(text).attention(0)[1].diagonal(-1).mean() > 0.9


def test_each_key_is_found_by_the_letter_before_it_only_with_the_previous_token_head() -> None:
    scaled, without = (
        compute(make_all()[f"trained-{name}.attnlab"])["scaled"][1] for name in ("layer-1", "without-previous")
    )
    tokens = TEXT.split()
    for column in range(1, len(tokens)):
        assert tokens[int(scaled[:, column].argmax())] == tokens[column - 1]
    assert sum(tokens[int(without[:, column].argmax())] == tokens[column - 1] for column in range(1, 6)) < 3


def test_the_predictions_in_the_lesson_are_those_of_the_model(model: attnlab.Model) -> None:
    whole = find_probability(model, "d", ())
    assert whole > 0.99
    assert "“d”, with more than 99 %" in read_step("switch-a-head-off", 1)
    for step, head in ((3, (1, 1)), (4, (1, 0))):
        assert f"with {find_probability(model, 'd', (head,)):.1%}".replace("%", " %") in read_step(
            "switch-a-head-off", step
        )
    assert f"instead of {whole:.1%}".replace("%", " %") in read_step("switch-a-head-off", 3)
    told = read_step("switch-a-head-off", 5)
    best = model.run(TEXT, heads_off=INDUCTION).predictions(k=3)
    assert [letter for letter, _ in best[:2]] == ["a", "f"]
    assert all(0.2 < probability < 0.3 for _, probability in best[:2])
    assert best[2][1] < 0.2
    assert "“a” and “f” get about a quarter each" in told
    assert f"“d” only {find_probability(model, 'd', INDUCTION):.0%}".replace("%", " %") in told
    (letter, probability), *_ = model.run(TEXT, heads_off=[PREVIOUS]).predictions()
    assert f"“{letter}”, with {probability:.1%}".replace("%", " %") in read_step("switch-a-head-off", 6)
    assert find_probability(model, "d", (PREVIOUS,)) < 0.001


def test_the_next_best_letter_is_the_one_that_the_lesson_names() -> None:
    last = compute(make_all()["trained-read-out.attnlab"])["output"][-1]
    assert [LETTERS[int(i)] for i in last.topk(2).indices] == ["d", "h"]
    told = read_step("switch-a-head-off", 2)
    assert re.search(r"Column 3, with .*“h”, with", told)
