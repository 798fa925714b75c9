"""The generated script computes every stage by itself, to the last digits."""

import ast

import pytest
import torch

import attnlab
from attnlab.attention.edits import configure, resize
from attnlab.attention.edits.batches import select
from attnlab.attention.experiment import AttentionConfig, Experiment, Weights
from attnlab.files.export.script import script
from tests.files.kinds import BASES, KINDS, across, entries, made
from tests.files.ran import run, run_aloud
from tests.near import assert_near
from tests.nursery import run_python
from tests.quick import slow_but


def everything() -> Experiment:
    """Return an experiment with tables, positions, a sink, a cap, masks, dropout and an ablated head."""
    options = {"t5_buckets": 4, "t5_distance": 8, "sink": True, "soft_cap": 3.0, "temperature": 0.5, "dropout": 0.2}
    return configure(
        attnlab.preset("multi-head-8"),
        score="additive",
        normalizer="entmax15",
        positions="t5",
        qk_norm="rms",
        causal=True,
        masks={"window": 2},
        ablated=(1,),
        options=options | {"fill": "-1e9"},
    )


def odd_experiments() -> dict[str, Experiment]:
    g = torch.Generator().manual_seed(1)

    def draw(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
        return torch.randn(*shape, generator=g, dtype=torch.float64).to(dtype)

    tokens = ("a", "שלום", "\n")
    mask = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])
    weights = Weights(draw(4, 4), draw(4, 2), draw(4, 6), draw(12, 3), draw(4), draw(2), draw(6), draw(3))
    grouped = AttentionConfig(n_heads=4, n_kv_heads=2, causal=True, mask=mask, scale=1.7, positions="sinusoidal")
    cross = Weights(draw(4, 2), draw(3, 2), draw(3, 5))
    half = Weights(*(draw(4, 2, dtype=torch.bfloat16) for _ in range(3)))
    return {
        "grouped keys, both masks, all biases": Experiment(tokens, draw(3, 4), weights, grouped),
        "cross-attention with positions": Experiment(
            tokens, draw(3, 4), cross, AttentionConfig(positions="sinusoidal"), ("x", "y"), draw(2, 3)
        ),
        "a row that is masked everywhere": Experiment(tokens, draw(3, 4), config=AttentionConfig(mask=mask)),
        "divided by the sum": Experiment(
            tokens, draw(3, 4).abs(), config=AttentionConfig(normalizer="sum", scale="sqrt_d_model", causal=True)
        ),
        "bfloat16": Experiment(tokens, draw(3, 4, dtype=torch.float16), half),
        "everything at once": everything(),
        "a table of frequencies": Experiment(
            tokens,
            draw(3, 4, dtype=torch.float16),
            Weights(extra={"omega": draw(2, dtype=torch.float32)}),
            AttentionConfig(positions="rope_scaled", rope_factor=1.25),
        ),
        "one head in twelve": Experiment(tokens, draw(3, 12), config=AttentionConfig(n_heads=12, scale="none")),
    }


ELSEWHERE = {**across(("cross-attention",)), **across(("grouped-keys",)), **across(("additive",))}
"""Every kind that is compatible with a second sequence, with shared keys, or with another score."""
FEW = {f"preset {name}": attnlab.preset(name) for name in attnlab.presets()} | odd_experiments()
CASES = FEW | KINDS | ELSEWHERE


@pytest.mark.parametrize("case", slow_but(FEW | KINDS, CASES))
def test_the_script_reproduces_every_stage(case: str) -> None:
    trace, exact = attnlab.compute(CASES[case]), attnlab.compute(CASES[case], dtype="float64")
    names, printed = run(script(CASES[case], case))
    stages = names["stages"]
    assert tuple(stages) == trace.all_stages
    for name in trace.all_stages:
        assert_near(stages[name], trace, exact, name)
        assert f"{name} {list(trace[name].shape)}\n…\n" in printed


def test_the_script_prints_every_stage(capsys: pytest.CaptureFixture[str]) -> None:
    code = script(everything(), "x")
    stages = run_aloud([code], {})["stages"]
    printed = capsys.readouterr().out
    run_aloud(["torch.set_printoptions(precision=4, sci_mode=False)\n", SAY], {"torch": torch, "stages": stages})
    assert printed == capsys.readouterr().out


SAY = "for name, stage in stages.items(): print(f'{name} {list(stage.shape)}\\n{stage}')"


@pytest.mark.parametrize("case", FEW)
def test_the_script_is_as_exact_in_float64(case: str) -> None:
    trace = attnlab.compute(CASES[case], dtype="float64")
    stages = run(script(CASES[case], case, "float64"))[0]["stages"]
    for name in trace.all_stages:
        torch.testing.assert_close(stages[name], trace[name], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("case", [*(f"preset {name}" for name in attnlab.presets()), *KINDS])
def test_the_script_is_as_exact_as_the_trace_in_halves(case: str, dtype: str) -> None:
    trace, exact = attnlab.compute(CASES[case], dtype=dtype), attnlab.compute(CASES[case], dtype="float64")
    stages = run(script(CASES[case], case, dtype))[0]["stages"]
    for name in trace.all_stages:
        assert_near(stages[name], trace, exact, name)


BATCHES = [name for name in attnlab.presets() if attnlab.preset(name).others]


@pytest.mark.parametrize("item", range(2))
@pytest.mark.parametrize("name", BATCHES)
def test_the_script_computes_every_sequence_of_a_batch(name: str, item: int) -> None:
    e = select(attnlab.preset(name), item)
    names, printed = run(script(e, "x"))
    assert names["batch"][item] is names["stages"]
    assert len(names["batch"]) == e.n_items
    for place, stages in enumerate(names["batch"]):
        trace, exact = (attnlab.compute(select(e, place), dtype=dtype) for dtype in ("float32", "float64"))
        assert tuple(stages) == trace.all_stages
        for stage in trace.all_stages:
            assert_near(stages[stage], trace, exact, stage)
    assert all((f"sequence {place}: weights" in printed) == (place != item) for place in range(e.n_items))


def test_a_large_batch_with_tables_and_masks_is_embedded_compressed() -> None:
    mask = torch.ones(6, 6, dtype=torch.bool).tril(1)
    e = configure(attnlab.preset("padding-batch"), score="additive", positions="t5", mask=mask, normalizer="entmax15")
    e = resize(e, d_model=400, d_k=8, d_v=8)
    code = script(e, "x")
    assert "unpacked" in code.split("def sequence_1")[1]
    for place, stages in enumerate(run(code)[0]["batch"]):
        trace, exact = (attnlab.compute(select(e, place), dtype=dtype) for dtype in ("float32", "float64"))
        for stage in trace.all_stages:
            assert_near(stages[stage], trace, exact, stage)


def test_without_a_batch_the_script_does_not_mention_one() -> None:
    assert "batch" not in script(attnlab.preset("journey"), "x")


def test_most_entries_work_with_a_second_sequence_and_shared_keys() -> None:
    count = len(dict(entries()))
    for base in ("cross-attention", "grouped-keys"):
        assert len(across((base,))) > 0.8 * count
    with pytest.raises(LookupError):
        made({"score": "additive", "n_heads": 7}, BASES)


@pytest.mark.parametrize("case", FEW)
def test_input_numbers_are_embedded_exactly(case: str) -> None:
    e = CASES[case]
    names, _ = run(script(e, case, "float64").split("\nx = ")[0])
    assert torch.equal(names["embeddings"], e.embeddings.double())
    for name in ("W_q", "W_k", "W_v", "W_o", "b_q", "b_k", "b_v", "b_o"):
        given = getattr(e.weights, name)
        assert (given is None) == (name not in names)
        assert given is None or torch.equal(names[name], given.double())


@pytest.mark.parametrize("case", FEW)
def test_the_script_has_its_imports_at_the_top_and_is_ascii(case: str) -> None:
    code = script(CASES[case], "x")
    assert code.isascii()
    body = ast.parse(code).body[1:]  # after the docstring
    kinds = [isinstance(statement, ast.Import) for statement in body]
    assert kinds == sorted(kinds, reverse=True)


def test_the_script_needs_only_torch() -> None:
    imports = {
        alias.name
        for node in ast.walk(ast.parse(script(attnlab.preset("head-average"), "x")))
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert imports == {"torch", "base64", "zlib"}


@pytest.mark.slow
def test_titles_and_tokens_are_escaped_in_the_script() -> None:
    title = 'a""" + __import__("os").abort() + """\n\\'
    e = Experiment(("'''", '"""\nraise SystemExit(3)', "\\"), torch.eye(3))
    code = script(e, title)
    tree = ast.parse(code)
    assert code.isascii()
    docstring, *_ = tree.body
    assert isinstance(docstring, ast.Expr)
    assert isinstance(docstring.value, ast.Constant)
    answer = run_python("-c", code)
    assert answer.returncode == 0, answer.stderr
    assert "weights [1, 3, 3]" in answer.stdout
