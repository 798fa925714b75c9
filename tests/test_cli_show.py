"""``attnlab show`` and ``attnlab presets``: the numbers in the terminal and as JSON."""

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import attnlab
from attnlab.attention import edits
from attnlab.attention.edits.batches import items
from attnlab.attention.edits.stack_edits import select_layer
from attnlab.attention.experiment import AttentionConfig, Experiment
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.stages.remarks import find_oddities
from attnlab.cli.main import main
from attnlab.files.export.script import script


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main(["show", *arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


@pytest.mark.parametrize("preset", attnlab.presets())
def test_show_prints_the_numbers_of_every_stage(preset: str, capsys: pytest.CaptureFixture[str]) -> None:
    trace = attnlab.compute(attnlab.preset(preset))
    assert main(["show", f"preset:{preset}", "--json"]) == 0
    out, err = capsys.readouterr()
    assert bool(err) == bool(trace.warnings or trace.empty_rows)  # what is odd about it is announced
    stages = json.loads(out)
    assert [stage["stage"] for stage in stages] == list(trace.all_stages)
    for stage in stages:
        array = trace.array(stage["stage"])
        assert stage["shape"] == list(array.shape)
        values = np.array(stage["values"], dtype=np.float64).astype(np.float32)
        np.testing.assert_array_equal(values, np.where(np.isfinite(array), array, np.nan))
        assert tuple(stage["query_tokens"]) == trace.experiment.tokens
        assert tuple(stage["key_tokens"]) == trace.experiment.key_tokens


def test_one_stage_is_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    stage = shown(capsys, "preset:multi-head-8", "--stage", "weights")
    assert stage["shape"] == [8, 10, 10]


@pytest.mark.parametrize(
    ("head", "shape"), [("0", [10, 10]), ("7", [10, 10]), ("mean", [10, 10]), ("all", [8, 10, 10])]
)
def test_one_head_or_the_mean_has_no_head_axis(head: str, shape: list[int], capsys: pytest.CaptureFixture[str]) -> None:
    trace = attnlab.compute(attnlab.preset("multi-head-8"))
    stage = shown(capsys, "preset:multi-head-8", "--stage", "scores", "--head", head)
    expected = {"all": trace.array("scores"), "mean": trace.mean("scores")}.get(head)
    expected = trace.array("scores")[int(head)] if expected is None else expected
    assert stage["shape"] == shape
    np.testing.assert_array_equal(np.array(stage["values"], np.float32), expected)


def test_the_head_option_is_ignored_by_stages_without_heads(capsys: pytest.CaptureFixture[str]) -> None:
    one = shown(capsys, "preset:multi-head-8", "--stage", "output", "--head", "3")
    assert one == shown(capsys, "preset:multi-head-8", "--stage", "output", "--head", "mean")
    assert one["shape"] == [10, 64]


def test_a_masked_score_is_null_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    stage = shown(capsys, "preset:causal-5x8", "--stage", "masked", "--head", "mean")
    nulls = [[value is None for value in row] for row in stage["values"]]
    assert nulls == [[j > i for j in range(5)] for i in range(5)]


def test_float64_is_computed_in_float64_and_has_all_its_digits(capsys: pytest.CaptureFixture[str]) -> None:
    stage = shown(capsys, "preset:journey", "--stage", "weights", "--dtype", "float64")
    expected = attnlab.compute(attnlab.preset("journey"), dtype="float64").array("weights")
    np.testing.assert_array_equal(np.array(stage["values"]), expected)


def test_json_is_written_with_nine_digits(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "preset:journey", "--stage", "inputs", "--json"]) == 0
    assert '"values": [[0.430000007, 0.150000006, 0.889999986], ' in capsys.readouterr().out


def test_text_names_tokens_stages_and_masked_cells(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "preset:causal-5x8"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    for name in attnlab.compute(attnlab.preset("causal-5x8")).stages:
        assert f"{name}  [" in out
    assert "cat  0.4819  0.5181       ·       ·       ·" in out
    assert not {"nan", "inf", "-inf"} & set(out.lower().split())


def test_head_0_selects_the_first_head(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "preset:uneven-heads", "--stage", "weights", "--head", "0"]) == 0
    out = capsys.readouterr().out
    assert "[6 × 6]" in out
    assert "head 1" not in out


def test_a_narrow_terminal_shows_fewer_columns_and_their_number(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    assert main(["show", "preset:head-average", "--stage", "inputs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 50 for line in lines[1:-1])
    assert "more columns" in lines[-1]


def test_a_session_file_is_shown_like_a_preset(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    attnlab.save(attnlab.preset("journey"), tmp_path / "s.attnlab")
    assert shown(capsys, str(tmp_path / "s.attnlab")) == shown(capsys, "preset:journey")


def test_overflow_is_announced_on_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    e = Experiment(("a", "b"), [[1e30, 0.0], [0.0, 1.0]], config=AttentionConfig(scale="none"))
    attnlab.save(e, tmp_path / "s.attnlab")
    assert main(["show", str(tmp_path / "s.attnlab"), "--stage", "scores", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["values"][0][0][0] == "Infinity"
    assert "attnlab: scores: 1 of 4 values are ∞ or NaN in float32.\n" in err


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([0], "attnlab: Query 0 is masked everywhere: its weights and context are 0.\n"),
        ([0, 2], "attnlab: Queries 0, 2 are masked everywhere: their weights and context are 0.\n"),
    ],
)
def test_fully_masked_queries_are_announced(
    rows: list[int], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mask = torch.ones(3, 3, dtype=torch.bool)
    mask[rows] = False
    e = Experiment(("a", "b", "c"), torch.eye(3), config=AttentionConfig(mask=mask))
    attnlab.save(e, tmp_path / "s.attnlab")
    assert main(["show", str(tmp_path / "s.attnlab")]) == 0
    assert capsys.readouterr().err == sentence


def test_with_masking_after_softmax_weights_are_0_only_in_that_stage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mask = [[False, False], [True, True]]
    attnlab.save(Experiment(("a", "b"), torch.eye(2), config=AttentionConfig(mask=mask, fill="after")), tmp_path / "s")
    assert main(["show", str(tmp_path / "s"), "--stage", "weights", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["values"][0][0] != [0.0, 0.0]
    assert err == "attnlab: Query 0 is masked everywhere: its weights, once masked, and context are 0.\n"


def test_no_state_of_torch_is_changed(capsys: pytest.CaptureFixture[str]) -> None:
    before = (
        torch.get_num_threads(),
        torch.get_default_dtype(),
        torch.is_grad_enabled(),
        torch.get_rng_state().tolist(),
    )
    for command in ("show", "code"):
        assert main([command, "preset:head-average"]) == 0
    capsys.readouterr()
    after = (
        torch.get_num_threads(),
        torch.get_default_dtype(),
        torch.is_grad_enabled(),
        torch.get_rng_state().tolist(),
    )
    assert before == after


def test_presets_are_listed_with_one_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["presets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(attnlab.presets())
    assert all(len(line.split()) > 4 for line in lines)


def test_presets_are_listed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["presets", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in listed] == list(attnlab.presets())
    assert all(each["about"] and each["title"] for each in listed)
    assert {field for each in listed for field in each} == {"name", "title", "about", "group"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["preset:nope"], "'nope'.*journey"),
        (["nope.attnlab"], "There is no file nope.attnlab"),
        (["preset:journey", "--stage", "masked"], "no stage 'masked'.*inputs, queries"),
        (["preset:journey", "--stage", ""], "no stage ''"),
        (["preset:multi-head-8", "--head", "8"], "no head 8; there are heads 0 to 7, all and mean"),
        (["preset:multi-head-8", "--head", "-1"], "no head -1"),
        (["preset:multi-head-8", "--head", "first"], "'first' is not a head"),
        (["preset:journey", "--dtype", "float8"], "dtype 'float8' is unknown.*float64"),
        (["preset:journey", "--device", "tpu"], "device 'tpu'.*cpu"),
        (["preset:journey", "--device", "cuda:99"], "device 'cuda:99'.*cpu"),
        (["preset:journey", "--colour"], "--colour"),
        ([], "SOURCE"),
    ],
    ids=str,
)
def test_an_invalid_request_is_one_sentence_and_exit_code_2(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("attnlab: ")
    assert err.count("\n") == 1
    assert re.search(sentence, err), err


@pytest.mark.parametrize("name", ["layer.pt", "layer.npz", "layer.safetensors"])
def test_weights_are_refused_with_the_way_to_a_session(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with zipfile.ZipFile(tmp_path / name, "w") as archive:  # as files of torch and NumPy are
        archive.writestr("W_q.npy", b"")
    assert main(["show", str(tmp_path / name)]) == 2
    assert capsys.readouterr().err == (
        f"attnlab: {tmp_path / name} is not an attnlab session, which ends in .attnlab; if it holds weights, "
        "import them with attnlab FILE and save a session.\n"
    )


@pytest.mark.parametrize("item", [0, 1, 2])
def test_the_requested_sequence_of_a_batch_is_shown(item: int, capsys: pytest.CaptureFixture[str]) -> None:
    found = shown(capsys, "preset:padding-batch", "--stage", "inputs", "--item", str(item))
    sequence = items(attnlab.preset("padding-batch"))[item]
    assert tuple(found["query_tokens"]) == sequence.tokens
    np.testing.assert_allclose(found["values"], sequence.embeddings.numpy())


def test_a_convention_is_printed_under_its_stage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "preset:rope"]) == 0
    out, err = capsys.readouterr()
    lines, sentence = out.splitlines(), POSITIONS["rope"].convention
    titles = [lines[i - 1].split()[0] for i, line in enumerate(lines) if line == sentence]
    assert titles == ["rotated_queries", "rotated_keys"]
    assert err == ""


def test_an_odd_setting_is_announced_in_the_words_of_the_window(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    e = edits.configure(attnlab.preset("journey"), score="cosine")
    attnlab.save(e, tmp_path / "odd.attnlab")
    (sentence,) = find_oddities(e)
    assert main(["show", str(tmp_path / "odd.attnlab"), "--stage", "weights"]) == 0
    assert capsys.readouterr().err == f"attnlab: {sentence}\n"
    assert main(["code", str(tmp_path / "odd.attnlab")]) == 0
    code = " ".join(line.removeprefix("# ") for line in capsys.readouterr().out.splitlines())
    assert "dividing by sqrt(d_k) squeezes them into -0.71 to 0.71" in code


def stack(tmp_path: Path) -> tuple[Experiment, str]:
    """Return a stack whose second layer is present, and its file."""
    e = select_layer(attnlab.preset("induction"), 1)
    path = tmp_path / "stack.attnlab"
    attnlab.save(e, path)
    return e, str(path)


def test_a_layer_of_a_stack_is_shown_instead_of_the_saved_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    e, path = stack(tmp_path)
    saved = shown(capsys, path, "--stage", "weights")
    assert "layer" not in saved
    np.testing.assert_array_equal(np.array(saved["values"], np.float32), attnlab.compute(e).array("weights"))
    for layer in (0, 1):
        stages = shown(capsys, path, "--layer", str(layer))
        trace = attnlab.compute(select_layer(e, layer))
        assert [each["stage"] for each in stages] == list(trace.all_stages)
        assert {each["layer"] for each in stages} == {layer}
        for each in stages:
            wanted = trace.array(each["stage"])
            np.testing.assert_array_equal(
                np.array(each["values"], np.float64).astype(np.float32), np.where(np.isfinite(wanted), wanted, np.nan)
            )


def test_all_layers_of_a_stack_are_shown_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    e, path = stack(tmp_path)
    below, above = shown(capsys, path, "--layer", "all", "--stage", "weights", "--head", "0")
    assert (below["layer"], above["layer"]) == (0, 1)
    for each in (below, above):
        wanted = attnlab.compute(select_layer(e, each["layer"])).array("weights")[0]
        np.testing.assert_array_equal(np.array(each["values"], np.float32), wanted)
    assert main(["show", path, "--layer", "all", "--stage", "weights", "--head", "0"]) == 0
    out = capsys.readouterr().out
    assert re.findall(r"^layer (\d), weights ", out, re.M) == ["0", "1"]
    assert main(["show", path, "--layer", "all", "--stage", "output", "--format", "numpy"]) == 0
    made: dict[str, Any] = {"np": np}
    exec(capsys.readouterr().out, made)
    for layer in (0, 1):
        output = attnlab.compute(select_layer(e, layer)).array("output")
        np.testing.assert_array_equal(made[f"output_{layer}"].astype(np.float32), output)


@pytest.mark.parametrize(
    ("source", "layer", "sentence"),
    [
        ("preset:induction", "2", "There is no layer 2; there are layers 0 to 1."),
        ("preset:journey", "1", "There is no layer 1; there is only layer 0."),
        ("preset:journey", "-1", "Argument --layer: '-1' is not a layer; use 0, 1 … or all"),
        ("preset:journey", "top", "Argument --layer: 'top' is not a layer; use 0, 1 … or all"),
    ],
)
def test_a_layer_that_is_not_there_is_refused(
    source: str, layer: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", source, f"--layer={layer}"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"attnlab: {sentence}")
    assert err.count("\n") == 1


def test_one_layer_is_all_layers_of_a_layer_alone(capsys: pytest.CaptureFixture[str]) -> None:
    (only,) = shown(capsys, "preset:journey", "--layer", "all", "--stage", "weights")
    assert only["layer"] == 0
    assert only["values"] == shown(capsys, "preset:journey", "--stage", "weights")["values"]


def test_a_layer_of_a_stack_is_exported_and_written_as_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    e, path = stack(tmp_path)
    for layer in (0, 1):
        out = tmp_path / f"{layer}.npy"
        assert main(["export", path, "--layer", str(layer), "--stage", "scores", "-o", str(out)]) == 0
        np.testing.assert_array_equal(np.load(out), attnlab.compute(select_layer(e, layer)).array("scores"))
        capsys.readouterr()
        assert main(["code", path, "--layer", str(layer)]) == 0
        code = capsys.readouterr().out
        assert code == script(select_layer(e, layer), "stack", "float32")
