"""Tasks: targets are correct, held-out examples are never trained on, and probes are read or refused."""

import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from attnlab.base import assets
from attnlab.base.errors import TrainingError
from attnlab.training.batch import BEGIN, END, IGNORED, PAD, SPECIAL, Batch
from attnlab.training.models import KINDS
from attnlab.training.specs import RunSpec
from attnlab.training.tasks import TASKS, check, make_data, make_spec, texts
from attnlab.training.tasks import calendar_spellings as calendar
from attnlab.training.tasks.characters import predict_after
from attnlab.training.tasks.induction import find_followers
from attnlab.training.tasks.rows import arrange, is_held_out
from attnlab.training.tasks.sums import add_previous
from attnlab.training.tasks.task import WITH_SOURCE

PAIRS = [(task, kind) for task in TASKS for kind in TASKS[task].kinds]
OF_LETTERS = ("copy", "reverse", "sort")


def with_options(task: str, **options: int | float | str) -> RunSpec:
    spec = make_spec(task)
    return replace(spec, options={**spec.options, **options})


def drawn(spec: RunSpec, n: int, seed: int = 0) -> Batch:
    return make_data(spec).draw_batch(torch.Generator().manual_seed(seed), n)


def written(spec: RunSpec, row: Tensor) -> str:
    return "".join(make_data(spec).decode(row[(row != PAD) & (row != IGNORED)]))


def rows(batch: Batch) -> set[tuple[float, ...]]:
    parts = [part.flatten(1) for part in (batch.source, batch.inputs) if part is not None]
    return {tuple(row) for row in torch.cat(parts, 1).tolist()}


@pytest.mark.parametrize(("task", "kind"), PAIRS)
def test_default_settings_of_a_task_can_be_trained(task: str, kind: str) -> None:
    spec = make_spec(task, kind)
    assert (spec.task, spec.model.kind) == (task, kind)
    assert check(spec) == ""
    assert set(spec.options) == {option.name for option in TASKS[task].options}


@pytest.mark.parametrize("task", TASKS)
def test_a_task_has_a_description_and_known_kinds_of_models(task: str) -> None:
    entry = TASKS[task]
    assert entry.defaults == make_spec(task)
    assert set(entry.kinds) <= set(KINDS)
    for text in (entry.about, entry.look_for):
        assert text.endswith(".")
        assert len(text) < 260
    for variant in entry.variants:
        assert check(variant.spec) == ""


@pytest.mark.parametrize(("task", "kind"), PAIRS)
def test_batches_depend_on_the_generator_and_match_the_data(task: str, kind: str) -> None:
    spec = make_spec(task, kind)
    made = make_data(spec)
    state = torch.get_rng_state()
    one, same, other = (made.draw_batch(torch.Generator().manual_seed(seed), 5) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(one.inputs, same.inputs)
    assert torch.equal(one.targets, same.targets)
    assert not torch.equal(one.inputs, other.inputs) or one.inputs.shape != other.inputs.shape
    for batch in (one, made.held_out):
        assert batch.inputs.shape[:2] == batch.targets.shape[:2]
        assert batch.inputs.shape[1] <= made.longest
        assert (batch.source is None) == (kind not in WITH_SOURCE)
        assert batch.source is None or batch.source.shape[1] <= made.longest_source
        if made.vocabulary:
            assert made.vocabulary[:3] == SPECIAL
            assert int(batch.inputs.max()) < len(made.vocabulary)
            assert bool((batch.targets != IGNORED).any(1).all())  # every example asks something
            assert bool((batch.inputs[:, 0] != PAD).all())
    assert len(made.held_out_lengths) in (0, len(made.held_out.inputs))


@pytest.mark.parametrize("task", [task for task in TASKS if task not in ("characters", "masked")])
def test_held_out_examples_are_never_trained_on(task: str) -> None:
    spec = make_spec(task) if task != "sum" else TASKS["sum"].variants[0].spec
    away = rows(make_data(spec).held_out)
    for seed in range(8):
        assert not away & rows(drawn(spec, 500, seed))


@pytest.mark.parametrize("task", OF_LETTERS)
def test_every_row_is_either_held_out_or_trained_on(task: str) -> None:
    spec = replace(with_options(task, symbols=4, shortest=3, longest=3), model=replace(make_spec(task).model))
    learned = {written(spec, row[:3]) for row in drawn(spec, 4000).inputs}
    away = {written(spec, row[:3]) for row in make_data(spec).held_out.inputs}
    every = {a + b + c for a in "abcd" for b in "abcd" for c in "abcd"}
    assert learned | away == every
    assert not learned & away
    assert len(away) > 1


@given(st.lists(st.lists(st.integers(3, 12), min_size=1, max_size=9), min_size=1, max_size=6))
def test_holding_out_depends_only_on_the_row(lists: list[list[int]]) -> None:
    padded = torch.tensor([row + [PAD] * (9 - len(row)) for row in lists])
    together = is_held_out(padded)
    assert together.tolist() == [bool(is_held_out(row[None])) for row in padded]


def test_a_held_out_sentence_is_held_out_with_any_words_masked() -> None:
    spec = make_spec("masked")

    def sentences(batch: Batch) -> set[str]:
        return {written(spec, row) for row in torch.where(batch.targets == IGNORED, batch.inputs, batch.targets)}

    assert not sentences(make_data(spec).held_out) & sentences(drawn(spec, 5000))


def test_the_last_tenth_of_a_text_is_held_out(tmp_path: Path) -> None:
    text = "".join(chr(0x4E00 + i) for i in range(900))  # no character twice
    (tmp_path / "text.txt").write_text(text, encoding="utf-8")
    spec = with_options("characters", text=str(tmp_path / "text.txt"), context=8)
    made = make_data(spec)
    learned = drawn(spec, 5000)
    seen = set(written(spec, torch.cat([learned.inputs.flatten(), learned.targets.flatten()])))
    away = set(written(spec, torch.cat([made.held_out.inputs.flatten(), made.held_out.targets.flatten()])))
    assert seen == set(text[:810])
    assert away <= set(text[810:])
    assert len(away) > 80
    assert learned.targets[0].tolist() == [number + 1 for number in learned.inputs[0].tolist()]


@pytest.mark.parametrize(
    ("task", "answer"), [("copy", lambda row: row), ("reverse", lambda row: row[::-1]), ("sort", sorted)]
)
@pytest.mark.parametrize("kind", ["decoder", "encoder", "encoder-decoder"])
def test_targets_match_the_task(task: str, answer: object, kind: str) -> None:
    assert callable(answer)
    spec = make_spec(task, kind)
    batch = drawn(spec, 50)
    for i in range(50):
        inputs, asked = written(spec, batch.inputs[i]), written(spec, batch.targets[i])
        if kind == "decoder":
            source, begun = inputs.split("⟨")
        else:
            source = inputs if kind == "encoder" else written(spec, batch.source[i])  # type: ignore[index]
            begun = inputs.removeprefix("⟨") if kind != "encoder" else asked
        expected = "".join(answer(source))
        assert begun == expected
        assert asked == (expected if kind == "encoder" else expected + "⟩")
        assert 4 <= len(source) <= 8


def test_each_kind_of_model_has_its_layout_of_pairs() -> None:
    source, target = torch.tensor([[5, 6, 0], [5, 6, 7]]), torch.tensor([[8, 9], [9, 0]])
    decoder, both = arrange("decoder", source, target), arrange("bahdanau", source, target)
    assert decoder.inputs.tolist() == [[5, 6, BEGIN, 8, 9, PAD], [5, 6, 7, BEGIN, 9, PAD]]
    no = IGNORED
    assert decoder.targets.tolist() == [[no, no, 8, 9, END, no], [no, no, no, 9, END, no]]
    assert both.inputs.tolist() == [[BEGIN, 8, 9], [BEGIN, 9, PAD]]
    assert both.targets.tolist() == [[8, 9, END], [9, END, no]]
    assert both.source is source
    encoder = arrange("encoder", source, source)
    assert encoder.targets.tolist() == [[5, 6, no], [5, 6, 7]]


@given(st.lists(st.integers(3, 7), min_size=1, max_size=20))
def test_the_last_follower_of_each_letter_is_found(row: list[int]) -> None:
    expected = []
    for i, letter in enumerate(row):
        before = [j for j in range(i) if row[j] == letter]
        expected.append(row[before[-1] + 1] if before else PAD)
    assert find_followers(torch.tensor([row]))[0].tolist() == expected


def test_induction_targets_are_repeated_followers() -> None:
    batch = drawn(make_spec("induction"), 200)
    asked = batch.targets != IGNORED
    assert torch.equal(find_followers(batch.inputs)[asked], batch.targets[asked])
    assert 0.3 < float(asked.float().mean()) < 0.7
    assert torch.equal(batch.inputs[:, 1:][asked[:, :-1]], batch.targets[:, :-1][asked[:, :-1]])


def test_every_third_number_has_the_sum_of_the_two_before_as_target() -> None:
    x = torch.arange(20.0).reshape(1, 10, 2)
    targets = add_previous(x)
    for place in range(10):
        expected = x[0, place - 1] + x[0, place - 2] if place in (2, 5, 8) else x[0, place]
        assert torch.equal(targets[0, place], expected)
    assert add_previous(torch.randn(2, 3, 4)).shape == (2, 3, 4)


def test_the_course_version_of_sum_trains_on_all_rows_in_order() -> None:
    spec = make_spec("sum")
    batch = drawn(spec, spec.train.batch)
    assert batch.inputs.shape == (1000, 10, 512)
    assert torch.equal(batch.inputs, drawn(spec, 1000, seed=1).inputs)
    few = drawn(spec, 3)
    assert rows(few) <= rows(batch)


@given(st.dates(calendar.FIRST, calendar.LAST), st.sampled_from(calendar.SPELLINGS))
def test_a_date_in_any_spelling_is_read_back(day: object, spelling: str) -> None:
    text = calendar.spell(day, spelling)  # type: ignore[arg-type]
    found = calendar.read(text)
    assert found is not None
    assert found[0] == day
    assert text[slice(*found[1]["y"])].isdecimal()


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("the 3rd of March, 2019", "2019-03-03"),
        ("3/31/19", "2019-03-31"),
        ("31.3.99", "1999-03-31"),
        ("1 jan '50", "1950-01-01"),
        ("01-feb-49", "2049-02-01"),
        ("Saturday, the 29th of february 2020", "2020-02-29"),
    ],
)
def test_a_typed_date_has_an_iso_target(text: str, iso: str) -> None:
    spec = make_spec("dates")
    probe = make_data(spec).make_probe(text)
    assert written(spec, probe.targets[0]) == iso + "⟩"
    assert probe.source is not None
    assert written(spec, probe.source[0]) == text.lower()


def test_a_day_is_held_out_in_all_spellings_or_none() -> None:
    spec = make_spec("dates")
    lengths = make_data(spec).held_out_lengths
    assert max(lengths) > 2 * sorted(lengths)[len(lengths) // 3]
    learned = {written(spec, row) for row in drawn(spec, 20_000).targets}
    away = {written(spec, row) for row in make_data(spec).held_out.targets}
    assert not learned & away


@pytest.mark.parametrize(("task", "kind"), PAIRS)
def test_a_tasks_own_probe_is_valid(task: str, kind: str) -> None:
    made = make_data(make_spec(task, kind))
    batch = made.make_probe(made.probe_text)
    assert len(batch.inputs) == 1
    assert batch.inputs.shape[1] <= made.longest
    assert bool((batch.targets != IGNORED).any())
    if kind == "decoder" and task in OF_LETTERS:
        letters = made.decode(batch.inputs[0])
        assert " ".join(letters[: letters.index("⟨")]) == made.probe_text


@pytest.mark.parametrize(
    ("task", "level"), [("characters", "character"), ("characters", "piece"), ("lines", "character")]
)
def test_the_first_input_of_a_text_ends_where_a_word_ends(task: str, level: str) -> None:
    spec = make_spec(task)
    made = make_data(replace(spec, options={**spec.options, "level": level}))
    assert len(made.probe_text) > 8
    assert f"{made.probe_text} " in texts.read("")


@pytest.mark.parametrize(
    ("task", "text", "needs"),
    [
        ("reverse", "abz", "a to j"),
        ("reverse", "", "1 to 8"),
        ("reverse", "abcdefgha", "1 to 8"),
        ("reverse", "ab·", "a to j"),
        ("induction", "a?", "a to p"),
        ("induction", "a" * 33, "1 to 32"),
        ("dates", "yesterday", "3/31/19"),
        ("dates", "30 feb 2019", "3/31/19"),
        ("dates", "1 january 1800", "1950 to 2049"),
        ("dates", "", "3/31/19"),
        ("questions", "how was your", "how, where, when, why"),
        ("questions", "how was your unicorn", "dog, book"),
        ("masked", "the unicorn sees itself .", "unicorn"),
        ("masked", "", "1 to 12"),
        ("masked", "the " * 13, "1 to 12"),
        ("characters", "naïve", "'ï' does not occur"),
        ("characters", "x" * 65, "1 to 64"),
        ("characters", "", "1 to 64"),
        ("characters", "a⟨b", "does not occur"),
        ("sum", "200", "0 to 199"),
        ("sum", "first", "0 to 199"),
        ("sum", "²", "0 to 199"),
    ],
)
def test_an_invalid_probe_is_refused_with_valid_input(task: str, text: str, needs: str) -> None:
    with pytest.raises(TrainingError, match=re.escape(needs)) as caught:
        make_data(make_spec(task)).make_probe(text)
    assert str(caught.value).count(".") < 8


@pytest.mark.slow
def test_any_probe_gives_a_batch_or_one_sentence() -> None:
    every = [make_data(make_spec(task)) for task in TASKS]  # which takes long

    @given(st.text(max_size=40))
    def check(text: str) -> None:
        for data in every:
            with suppress(TrainingError):
                assert len(data.make_probe(text).inputs) == 1

    check()


def test_words_in_brackets_are_masked_targets() -> None:
    spec = make_spec("masked")
    made = make_data(spec)
    batch = made.make_probe("The girl [sees] ▢.")
    assert made.decode(batch.inputs[0]) == ("the", "girl", "▢", "▢", ".")
    assert made.decode(batch.targets[0]) == ("", "", "sees", "", "")


def test_the_shipped_text_is_all_sonnets_in_ascii() -> None:
    text = assets.read_text("texts/sonnets.txt")
    assert len(text.split("\n\n")) == 154
    assert text.isascii()
    baselines = make_data(make_spec("characters")).baselines
    assert 2.0 < baselines["bigram"] < baselines["unigram"] < 3.5
    words = make_data(make_spec("lines")).baselines  # most pairs of words are seen once
    assert words["bigram"] < words["unigram"] - 0.2


def test_counted_pairs_predict_probabilities_that_sum_to_1() -> None:
    pairs, alone = Counter({(0, 1): 3, (0, 2): 1, (1, 0): 2}), [0.5, 0.3, 0.2]
    for first in (0, 1, 2):  # nothing followed token 2
        assert sum(predict_after(pairs, [(first, second) for second in range(3)], alone)) == pytest.approx(1)
    assert predict_after(pairs, [(0, 1)], [0.3]) == pytest.approx([(3 + 2 * 0.3) / (4 + 2)])


@pytest.mark.parametrize(
    ("content", "needs"),
    [
        (b"", "is empty"),
        (b" \n\n ", "is empty"),
        (b"\x00\x01\x02" * 500, "is binary"),
        (b"caf\xe9 " * 500, "is not UTF-8 at byte 3"),
        (b"short", "has 5 characters, and a context of 64 needs 260"),
        (b"x" * (2 << 20) + b"y", "larger than the 2 MiB"),
        ("".join(chr(0x4E00 + i) for i in range(1200)).encode(), "different characters"),
    ],
)
def test_an_unsuitable_text_is_refused_with_the_reason(tmp_path: Path, content: bytes, needs: str) -> None:
    file = tmp_path / "mine.txt"
    file.write_bytes(content)
    spec = with_options("characters", text=str(file))
    assert needs in check(spec)
    assert file.name in check(spec)
    with pytest.raises(TrainingError, match=re.escape(needs)):
        make_data(spec)


def test_a_users_text_may_have_any_line_endings(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_bytes(("\ufeff" + "One line ⟨of·mine⟩.\r\n" * 40).encode())
    spec = with_options("characters", text=str(file), context=16)
    assert check(spec) == ""
    assert set(make_data(spec).vocabulary[3:]) == set("One line of mine.\n")
    assert "There is no file" in check(with_options("characters", text=str(tmp_path / "none.txt")))
    assert "cannot be read" in check(with_options("characters", text=str(tmp_path)))


@pytest.mark.parametrize(
    ("spec", "needs"),
    [
        (RunSpec(task="dance"), "There is no task 'dance'; there are copy"),
        (replace(make_spec("masked"), model=make_spec("copy").model), "it can use encoder, attention"),
        (with_options("copy", colour=1), "no option 'colour'"),
        (with_options("copy", symbols=2), "symbols is 2"),
        (with_options("copy", symbols="many"), "symbols is 'many'"),
        (with_options("copy", shortest=9, longest=5), "cannot be shorter"),
        (with_options("sum", columns=100), "d_model is 512 and the rows have 100"),
        (with_options("sum", sequences=10_000), "the maximum is 3,276 rows"),
        (with_options("characters", text=3), "path of a file"),
        (replace(make_spec("copy"), model=replace(make_spec("copy").model, heads=5)), "heads is 5"),
    ],
)
def test_invalid_settings_are_refused_in_one_sentence(spec: RunSpec, needs: str) -> None:
    assert needs in check(spec)
    assert check(spec).endswith(".")


@pytest.mark.parametrize(
    ("field", "value", "needs"),
    [
        ("rate", 0.0, "above 0"),
        ("rate", -1.0, "above 0"),
        ("rate", float("nan"), "above 0"),
        ("rate", float("inf"), "above 0"),
        ("batch", 0, "The batch is 0"),
        ("batch", 2.5, "whole number"),
        ("steps", 0, "The number of steps is 0"),
        ("steps", True, "whole number"),
        ("warmup", -1, "The warm-up"),
        ("evaluate_every", 0, "evaluations"),
        ("seed", -1, "The seed"),
        ("weight_decay", -0.1, "weight decay"),
        ("clip", float("inf"), "norm of the gradient"),
        ("stop_right", 1.5, "0 to 1"),
        ("stop_loss", -1.0, "loss to stop at"),
        ("optimizer", "lion", "there are sgd, adam, adamw"),
        ("schedule", "steep", "there are constant"),
        ("device", "abacus", "abacus"),
    ],
)
def test_invalid_training_settings_are_refused_in_one_sentence(field: str, value: object, needs: str) -> None:
    spec = make_spec("copy")
    wrong = replace(spec, train=replace(spec.train, **{field: value}))  # type: ignore[arg-type]
    assert needs in check(wrong)
    assert check(wrong).endswith(".")


def test_a_kind_unsuited_to_a_task_is_refused_by_name() -> None:
    with pytest.raises(TrainingError, match="no task 'dance'"):
        make_spec("dance")
    with pytest.raises(TrainingError, match="The task masked cannot use a model of kind 'recurrent'"):
        make_spec("masked", "recurrent")


def test_a_changed_text_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    spec = with_options("characters", text=str(file), context=16)
    for content in ("abcd" * 100, "wxyz" * 200):
        file.write_text(content, encoding="utf-8")
        assert set(make_data(spec).vocabulary[3:]) == set(content)


@pytest.mark.parametrize("task", TASKS)
def test_options_at_their_bounds_give_batches_or_one_sentence(task: str) -> None:
    for option in (each for each in TASKS[task].options if each.kind in ("whole", "number")):
        for value in (option.least, option.most):
            spec = with_options(task, **{option.name: value})
            if task == "sum" and option.name == "columns":
                spec = replace(spec, model=replace(spec.model, d_model=int(value)))
            problem = check(spec)
            if problem:
                assert problem.endswith(".")
            else:
                batch = drawn(spec, 3)
                assert bool((batch.targets != IGNORED).any())


def test_equal_runs_share_their_examples() -> None:
    spec = make_spec("reverse")
    assert make_data(spec) is make_data(replace(spec, options={}, train=replace(spec.train, seed=3)))
    assert make_data(spec) is not make_data(with_options("reverse", longest=7))


@pytest.mark.parametrize(("task", "kind"), PAIRS)
def test_a_batch_too_large_for_memory_is_refused_with_a_valid_size(task: str, kind: str) -> None:
    spec = make_spec(task, kind)
    size = {} if task == "sum" else {"layers": 12, "d_model": 128}
    huge = replace(spec, model=replace(spec.model, **size), train=replace(spec.train, batch=1 << 16))
    sentence = check(huge)
    found = re.fullmatch(
        r"A batch of 65,536 takes about [\d,]+ GiB for one step; a batch of ([\d,]+) would do\.", sentence
    )
    assert found, sentence
    fits = int(found[1].replace(",", ""))
    assert check(replace(huge, train=replace(huge.train, batch=fits))) == ""
    assert check(replace(huge, train=replace(huge.train, batch=fits + 1))).endswith(f"a batch of {fits:,} would do.")
