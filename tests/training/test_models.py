"""The kinds of models: construction, validation, parameter counts, and written text."""

import subprocess
import sys
from dataclasses import dataclass, replace

import pytest
import torch
from torch import Tensor

from attnlab.attention.registries.positions import POSITIONS
from attnlab.base.errors import TrainingError
from attnlab.training import models
from attnlab.training.batch import BEGIN, END, IGNORED, PAD, Batch
from attnlab.training.models import KINDS, Model, watch
from attnlab.training.models.base_model import Memory
from attnlab.training.specs import ModelSpec
from tests.patience import PATIENCE_S

V = 9
SMALL = ModelSpec(layers=2, heads=2, d_model=8, d_ff=12, dropout=0.1)
LAYERS = {
    "attention": ["attention 1", "attention 2"],
    "decoder": ["decoder 1", "decoder 2"],
    "encoder": ["encoder 1", "encoder 2"],
    "encoder-decoder": ["encoder 1", "encoder 2", "decoder 1", "decoder 2", "cross 1", "cross 2"],
    "recurrent": [],
    "bahdanau": ["alignment"],
    "luong": ["alignment"],
}


@dataclass(frozen=True)
class Letters:
    """The part of a task's data that models need."""

    vocabulary: tuple[str, ...] = ("·", "⟨", "⟩", *"abcdef")
    features: int = 0
    longest: int = 10
    longest_source: int = 0
    causal: bool = True


def data(kind: str) -> Letters:
    return Letters(longest_source=7 * KINDS[kind].source, causal=kind != "encoder")


def built(spec: ModelSpec, seed: int = 0) -> Model:
    torch.manual_seed(seed)
    return models.build(spec, data(spec.kind))  # type: ignore[arg-type]


def batch(kind: str, *lengths: int) -> Batch:
    g = torch.Generator().manual_seed(4)
    inputs = torch.randint(3, V, (len(lengths), max(lengths)), generator=g)
    for row, length in zip(inputs, lengths, strict=True):
        row[length:] = PAD
    source = torch.randint(3, V, (len(lengths), 6), generator=g)
    source[0, 4:] = PAD
    targets = inputs.roll(-1, 1).masked_fill(inputs == PAD, IGNORED)
    return Batch(inputs, targets, source if KINDS[kind].source else None)


@pytest.mark.parametrize("positions", [name for name, each in POSITIONS.items() if each.is_trained])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model_learns_with_every_position_scheme(kind: str, positions: str) -> None:
    spec = replace(SMALL, kind=kind, positions=positions)
    assert models.check(spec, data(kind)) == ""  # type: ignore[arg-type]
    model, b = built(spec), batch(kind, 8, 5)
    with watch(model) as traces:
        out = model(b)
    assert out.shape == (2, 8, V)
    assert list(model.layers) == LAYERS[kind]
    assert set(traces) == set(LAYERS[kind])
    models.compute_loss(out, b.targets).backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
    numbers = sum(p.numel() for p in model.parameters())
    assert models.count_parameters(spec, data(kind)) == (numbers, numbers)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_first_weights_depend_on_the_seed(kind: str) -> None:
    spec = replace(SMALL, kind=kind)
    first, same, other = (built(spec, seed).state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(first[name], same[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)


@pytest.mark.parametrize("kind", KINDS)
def test_padding_changes_no_other_position(kind: str) -> None:
    model = built(replace(SMALL, kind=kind, positions="learned")).eval()
    b = batch(kind, 8, 5)
    assert b.inputs[1, 5:].eq(PAD).all()
    with torch.no_grad():
        together = model(b)
        source = None if b.source is None else b.source[1:]
        alone = model(Batch(b.inputs[1:, :5], b.targets[1:, :5], source))
    torch.testing.assert_close(together[1:, :5], alone, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "encoder"])
def test_causal_models_do_not_see_later_positions(kind: str) -> None:
    model, b = built(replace(SMALL, kind=kind)).eval(), batch(kind, 8, 8)
    changed = b.inputs.clone()
    changed[:, 5] = torch.where(changed[:, 5] == 3, 4, 3)
    with torch.no_grad():
        before, after = model(b), model(replace_inputs(b, changed))
    assert torch.equal(before[:, :5], after[:, :5])
    assert not torch.allclose(before[:, 5:], after[:, 5:])


def replace_inputs(b: Batch, inputs: Tensor) -> Batch:
    return Batch(inputs, b.targets, b.source)


def test_an_encoder_sees_later_positions() -> None:
    model, b = built(replace(SMALL, kind="encoder")).eval(), batch("encoder", 8, 8)
    changed = b.inputs.clone()
    changed[:, 7] = torch.where(changed[:, 7] == 3, 4, 3)
    with torch.no_grad():
        assert not torch.allclose(model(b)[:, 0], model(replace_inputs(b, changed))[:, 0])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "encoder"])
def test_writing_continues_from_the_likeliest_token(kind: str) -> None:
    model, b = built(replace(SMALL, kind=kind, positions="rope"), 2).eval(), batch(kind, 4, 4)
    written = model.write(b, 5)
    tokens = b.inputs if b.source is None else torch.full((2, 1), BEGIN)
    done = torch.zeros(2, dtype=torch.bool)
    with torch.no_grad():
        for i in range(5):
            logits = model(Batch(tokens, tokens, b.source))[:, -1]
            best = logits[:, 1:].argmax(-1) + 1
            assert torch.equal(written[:, i], torch.where(done, PAD, best))
            done |= best == END
            tokens = torch.cat([tokens, written[:, i : i + 1]], 1)


def test_writing_stops_when_all_rows_have_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    model, b = built(SMALL).eval(), batch("decoder", 4, 4)
    reads, decode = list[int](), model.decode

    def counted(inputs: Tensor, memory: Memory | None) -> Tensor:
        reads.append(inputs.shape[1])
        return decode(inputs, memory)

    monkeypatch.setattr(model, "decode", counted)
    assert model.write(b, 20).tolist() == [[END, *[PAD] * 19]] * 2
    assert len(reads) == 1


def test_writing_continues_beyond_the_longest_input() -> None:
    model = built(replace(SMALL, positions="learned")).eval()
    with torch.no_grad():
        model.embedding.table[END] = -10.0  # the end is never likely
    assert model.write(batch("decoder", 9), 30).shape == (1, 30)
    with pytest.raises(TrainingError, match="The input has 11 tokens; this model has positions for 10"):
        model(batch("decoder", 11))


def test_sampling_follows_seed_temperature_and_top_k() -> None:
    model, b = built(SMALL).eval(), batch("decoder", *[4] * 300)
    b = Batch(b.inputs[:1].expand(300, -1), b.targets[:1].expand(300, -1))

    def drawn(seed: int, temperature: float, top_k: int = 0) -> Tensor:
        g = torch.Generator().manual_seed(seed)
        return model.write(b, 1, generator=g, temperature=temperature, top_k=top_k)[:, 0]

    assert torch.equal(drawn(1, 1.0), drawn(1, 1.0))
    assert not torch.equal(drawn(1, 1.0), drawn(2, 1.0))
    assert len(drawn(1, 1.0, top_k=2).unique()) == 2
    assert len(drawn(1, 100.0).unique()) == V - 1  # all but PAD
    assert drawn(1, 1e-4).eq(model.write(b, 1)[:, 0]).all()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "encoder"])
@pytest.mark.parametrize("seed", range(3))
def test_predicted_answers_equal_writing_one_token_at_a_time(kind: str, seed: int) -> None:
    model = built(replace(SMALL, kind=kind), seed).eval()
    b = batch(kind, 9, 9)
    targets = b.targets.clone()
    targets[:, :3] = IGNORED
    targets[:, 6] = IGNORED
    answers = model.predict(Batch(b.inputs, targets, b.source))
    row = b.inputs[:, :1]
    with torch.no_grad():
        for i in range(9):
            best = model(Batch(row, row, b.source))[:, -1, 1:].argmax(-1) + 1
            assert torch.equal(answers[:, i], best)
            follows = torch.where(targets[:, i] != IGNORED, best, b.inputs[:, (i + 1) % 9])
            row = torch.cat([row, follows[:, None]], 1)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "encoder"])
def test_a_guess_saves_passes_and_never_changes_what_is_written(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, b = built(replace(SMALL, kind=kind)).eval(), batch(kind, 9)
    targets = b.targets.clone()
    targets[:, :2] = IGNORED
    b = Batch(b.inputs, targets, b.source)
    asked, g = targets != IGNORED, torch.Generator().manual_seed(1)
    with torch.no_grad():
        memory, passes = model.remember(b), list[Tensor]()
        outputs = model.decode(b.inputs, memory)
        right = model.answer_itself(b)
        decode = model.decode

        def count(inputs: Tensor, memory: Memory | None) -> Tensor:
            passes.append(inputs)
            return decode(inputs, memory)

        monkeypatch.setattr(model, "decode", count)
        for i in range(20):
            guess = torch.randint(1, V, right.answers.shape, generator=g)
            guess[:, :i] = right.answers[:, :i]
            own = model.answer_itself(b, outputs, memory, guess)
            assert torch.equal(own.inputs, right.inputs)
            assert torch.equal(own.answers[asked], right.answers[asked])
            assert torch.equal(own.logits, right.logits)
        passes.clear()
        model.answer_itself(b, outputs, memory, right.answers)
    assert len(passes) == 1


def test_an_encoder_answers_in_place() -> None:
    model, b = built(replace(SMALL, kind="encoder")).eval(), batch("encoder", 6, 6)
    with torch.no_grad():
        best = model(b)[..., 1:].argmax(-1) + 1
    assert torch.equal(model.predict(b), best)
    assert torch.equal(model.write(b, 4), best[:, :4])


def test_nothing_is_recorded_unless_watched() -> None:
    model, b = built(SMALL), batch("decoder", 5)
    with watch(model) as traces:
        model(b)
    first = traces["decoder 1"]
    model(b)
    assert traces["decoder 1"] is first
    assert first["weights"].shape == (1, 2, 5, 5)
    assert first["scores"].requires_grad


def test_the_loss_counts_only_targets() -> None:
    logits = torch.tensor([[[0.0, 0.0], [0.0, 5.0], [9.0, 0.0]]])
    assert models.compute_loss(logits, torch.tensor([[0, IGNORED, IGNORED]])).item() == pytest.approx(0.6931, abs=1e-4)
    assert models.compute_loss(logits, torch.full((1, 3), IGNORED)).item() == 0
    assert models.compute_loss(torch.zeros(1, 2, 2), torch.tensor([[[1.0, 1.0], [3.0, 1.0]]])).item() == 3


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (ModelSpec("gru"), "kind is 'gru'; it needs one of attention, decoder, "),
        (ModelSpec(heads=3), "heads is 3; it needs to divide d_model = 64: 1, 2, 4, 8, 16, 32, 64."),
        (ModelSpec(heads=0), "heads is 0; it needs a whole number from 1 to 64."),
        (ModelSpec(layers=13), "layers is 13; it needs a whole number from 1 to 12."),
        (ModelSpec(d_ff=-1), "d_ff is -1; it needs a whole number from 0 to 4096."),
        (ModelSpec(d_model=True), "d_model is True; it needs a whole number from 1 to 1024."),
        (ModelSpec(dropout=1.0), "dropout is 1.0; it needs a number from 0 to below 1."),
        (ModelSpec(dropout=float("nan")), "dropout is nan; it needs a number from 0 to below 1."),
        (ModelSpec(norm="batch"), "norm is 'batch'; it needs one of before, after, none."),
        (ModelSpec(positions="gps"), "positions is 'gps'; it needs one of none, sinusoidal, learned, rope, alibi, t5."),
        (ModelSpec(heads=4, d_model=12, positions="rope"), "positions 'rope' rotates columns in pairs, but d_k is 3;"),
        (ModelSpec("luong"), "kind is 'luong', which reads a source, but this task has none;"),
        (ModelSpec(layers=12, d_model=1024, d_ff=4096), "The model has 151,"),
    ],
)
def test_an_invalid_model_is_refused_in_a_sentence(spec: ModelSpec, sentence: str) -> None:
    assert models.check(spec, Letters()).startswith(sentence)  # type: ignore[arg-type]


def test_a_model_unsuited_to_the_task_is_refused_in_a_sentence() -> None:
    def said(spec: ModelSpec, of: Letters) -> str:
        return models.check(spec, of)  # type: ignore[arg-type]

    numbers = Letters((), features=6)
    assert said(ModelSpec(), numbers).startswith("kind is 'decoder', which reads tokens, but this task consists of")
    assert said(ModelSpec("attention"), numbers).startswith("d_model is 64; it needs 6, the columns")
    beside = Letters(longest_source=5)
    assert said(ModelSpec(), beside).startswith("kind is 'decoder', which reads no source, but this task has one;")
    assert said(ModelSpec("bahdanau", d_model=9), beside).startswith("d_model is 9; it needs an even number")
    assert said(ModelSpec("luong", heads=7, norm="?", positions="?"), beside) == ""  # fields that it does not use


@pytest.mark.slow
def test_counting_parameters_draws_no_random_numbers() -> None:
    code = (
        "import sys, torch; from attnlab.training import models, specs, tasks\n"
        "before = torch.get_rng_state()\n"
        "for kind in models.KINDS:\n"
        "    spec = tasks.make_spec('reverse', kind)\n"
        "    models.count_parameters(spec.model, tasks.make_data(spec))\n"
        "assert torch.equal(before, torch.get_rng_state())\n"
        "assert 'sympy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE_S)
