"""``attnlab model`` lists a model, prints and writes its attention, patterns and predictions."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import attnlab
from attnlab.cli.main import main
from attnlab.files.sessions.session_file import load_scene
from tests.pretrained.conftest import WORDS, make_model, save_tokenizer

TEXT = "the cat sat on the mat"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("models") / "small-gpt"
    make_model("gpt2").save_pretrained(made)
    save_tokenizer(made, "gpt2")
    return made


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("models") / "small-t5"
    make_model("t5").save_pretrained(made)
    save_tokenizer(made, "t5")
    return made


def answer(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    capsys.readouterr()
    assert main(["model", *map(str, words)]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return said.out


def refusal(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    capsys.readouterr()
    assert main(["model", *map(str, words)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err.strip()


def test_without_a_text_it_says_what_the_model_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = answer(capsys, folder).splitlines()
    assert lines[0] == "small-gpt, GPT-2 decoder"
    assert [line.split() for line in lines[1:4]] == [
        ["layers", "3", "in", "the", "decoder"],
        ["heads", "4", "in", "each", "layer,", "counted", "from", "0"],
        ["d_model", "24"],
    ]
    assert lines[-1].split(maxsplit=1) == ["predicts", "the next token"]
    found = json.loads(answer(capsys, folder, "--json"))
    assert found["model"] == "small-gpt"
    assert (found["n_layers"], found["n_heads"], found["predicts"]) == (3, 4, "next")


def test_with_a_text_it_lists_the_tokens(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, folder, TEXT).splitlines()[-1].split(maxsplit=1)[1] == f"6: {TEXT}"


def test_a_layer_as_json_is_the_attention(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(answer(capsys, folder, TEXT, "--layer", 1, "--json"))
    assert list(found) == ["model", "family", "layer", "tokens", "shape", "values"]
    assert (found["family"], found["layer"], found["shape"]) == ("gpt2", 1, [4, 6, 6])
    run = attnlab.read_model(folder).run(TEXT)
    assert np.array_equal(np.float32(found["values"]), run.attention(1).numpy())
    one = json.loads(answer(capsys, folder, TEXT, "--layer", 1, "--head", 2, "--json"))
    assert np.array_equal(np.float32(one["values"]), run.attention(1)[2].numpy())
    mean = json.loads(answer(capsys, folder, TEXT, "--layer", 1, "--head", "mean", "--json"))
    assert np.allclose(mean["values"], run.attention(1).mean(0).numpy(), atol=1e-6)


def test_a_head_is_a_table_with_the_tokens(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = answer(capsys, folder, TEXT, "--layer", 0, "--head", 3).splitlines()
    assert lines[0] == "layer 0  [6 × 6]  the attention weights of layer 0 of small-gpt"
    assert lines[1].split() == TEXT.split()
    weights = attnlab.read_model(folder).run(TEXT).attention(0)[3]
    assert lines[3].split() == ["cat", f"{weights[1, 0]:.4f}", f"{weights[1, 1]:.4f}", *"····"]


@pytest.mark.parametrize("ending", ["csv", "npy", "png", "svg"])
def test_a_layer_is_written_as_a_table_or_a_figure(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, ending: str
) -> None:
    out = tmp_path / f"layer.{ending}"
    assert answer(capsys, folder, TEXT, "--layer", 2, "--head", 1, "-o", out, "--dpi", 100) == ""
    weights = attnlab.read_model(folder).run(TEXT).attention(2)[1].numpy()
    if ending == "npy":
        assert np.array_equal(np.load(out), weights)
    elif ending == "csv":
        rows = list(csv.reader(out.read_text().splitlines()))
        assert rows[0] == ["query", *TEXT.split()]
        assert np.allclose(np.float64([row[1:] for row in rows[1:]]), weights)
    elif ending == "png":
        with Image.open(out) as picture:
            assert min(picture.size) > 200
    else:
        assert "Layer 2" in out.read_text()


def test_a_layer_is_written_as_a_session_of_its_whole_block(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "layer.attnlab"
    run = attnlab.read_model(folder).run(TEXT)
    assert answer(capsys, folder, TEXT, "--layer", 1, "--block", "-o", path) == ""
    block = attnlab.load(path)
    assert block.config.block != "none"
    trace = attnlab.compute(block)
    assert torch.allclose(trace["weights"], run.attention(1), atol=1e-5)
    assert torch.allclose(trace[trace.stages[-1]], run.leaving(1), atol=1e-4)
    assert main(["show", str(path), "--stage", trace.stages[-1]]) == 0
    assert "small-gpt · layer 1" in json.dumps(load_scene(path)[1], ensure_ascii=False)
    off = tmp_path / "off.attnlab"
    answer(capsys, folder, TEXT, "--layer", 1, "--off", "1.2", "-o", off)
    alone = attnlab.load(off)
    assert alone.config.block == "none"
    assert alone.config.ablated == (2,)


def test_a_whole_block_of_cross_attention_is_a_session(
    pair: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path, target = tmp_path / "cross.attnlab", "the cat"
    answer(capsys, pair, TEXT, "--target", target, "--part", "cross", "--layer", 0, "--block", "-o", path)
    trace = attnlab.compute(attnlab.load(path))
    run = attnlab.read_model(pair).run(TEXT, target)
    assert torch.allclose(trace[trace.stages[-1]], run.leaving(0, "cross"), atol=1e-4)


def test_all_heads_of_all_layers_are_one_figure(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    answer(capsys, folder, TEXT, "-o", tmp_path / "all.svg", "--mute-sinks", "--scale", "sqrt", "--dark")
    text = (tmp_path / "all.svg").read_text()
    assert all(f"Layer {layer}" in text for layer in range(3))


def test_a_figure_has_the_options_that_export_has(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "layer.svg"
    size = "--width", 85, "--height", 120, "--columns", 1, "--font-size", 9
    look = "--numbers", "off", "--no-labels", "--no-colour-bar", "--colour-map", "greys", "--each-head", "--transparent"
    answer(capsys, folder, TEXT, "--layer", 1, "-o", path, "--title", "Second layer", *size, *look)
    svg = path.read_text()
    assert re.search(r'width="85(\.0*)?mm" height="120(\.0*)?mm"', svg)
    assert re.findall(r">([^<>]+)</text>", svg) == ["Second layer", "head 0", "head 1", "head 2", "head 3"]
    lists = {}
    for command in ("export", "model"):
        assert main([command, "--help"]) == 0
        group = re.search(r"^figures.*?(?=^\w)", capsys.readouterr().out, re.MULTILINE | re.DOTALL)
        lists[command] = set(re.findall(r"^  (--[a-z-]+)", group[0] if group else "", re.MULTILINE))
    assert lists["export"] - lists["model"] == {"--stages", "--canvas", "--beside", "--names"}
    assert len(lists["model"]) > 10
    assert "--transparent and --dark both set the background" in refusal(
        capsys, folder, TEXT, "-o", path, "--dark", "--transparent"
    )


def test_the_layers_of_a_long_text_share_a_scale_that_shows_structure(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ends = []
    for text in (TEXT, " ".join([TEXT] * 6)):
        answer(capsys, folder, text, "-o", tmp_path / "all.svg")
        bars = re.findall(r">(?:≥ )?(1|0\.\d+)</text>\s", (tmp_path / "all.svg").read_text())
        ends.append((bars.count("1"), bars.count(max(bars))))
    assert ends[0] == (3, 3)
    assert ends[1] == (0, 3)


def test_patterns_are_printed_and_written(folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    expected = attnlab.read_model(folder).run(TEXT).patterns()
    lines = answer(capsys, folder, TEXT, "--patterns").splitlines()
    assert len(lines) == 13
    assert lines[1].split()[:2] == ["0.0", f"{expected[0].entropy:.3f}"]
    found = json.loads(answer(capsys, folder, TEXT, "--patterns", "--json"))
    assert [row["previous"] for row in found] == [row.previous for row in expected]
    answer(capsys, folder, TEXT, "--patterns", "-o", tmp_path / "all.csv")
    rows = list(csv.DictReader((tmp_path / "all.csv").read_text().splitlines()))
    assert [float(row["entropy"]) for row in rows] == pytest.approx([row.entropy for row in expected])


def test_predictions_with_heads_switched_off(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = attnlab.read_model(folder)
    expected = model.run(TEXT).predictions(k=3)
    lines = answer(capsys, folder, TEXT, "--predict", 3).splitlines()
    tokens = model.run(TEXT).tokens
    assert lines[0] == f"after position {len(tokens) - 1}, {tokens[-1]}"
    assert [line.split() for line in lines[1:]] == [[f"{p:.4f}", token] for token, p in expected]
    assert json.loads(answer(capsys, folder, TEXT, "--predict", "--json"))["position"] == len(tokens) - 1
    found = json.loads(answer(capsys, folder, TEXT, "--predict", "--off", "0.1,2.3", "--position", 2, "--json"))
    off = model.run(TEXT, heads_off=[(0, 1), (2, 3)]).predictions(2)
    assert found == {"position": 2, "predictions": [{"token": token, "probability": p} for token, p in off]}


def test_a_predicted_space_can_be_seen(capsys: pytest.CaptureFixture[str]) -> None:
    text = "The cat sat on the mat because it was comfortable"
    expected = attnlab.read_model("characters").run(text).predictions(k=1)
    assert expected[0][0] == " "
    assert answer(capsys, "characters", text, "--predict", 1).splitlines()[1:] == [f"{expected[0][1]:7.4f}  ␣"]


def test_the_parts_of_an_encoder_decoder(pair: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, pair).splitlines()[1].split(maxsplit=1)[1] == "3 in the encoder, 2 in the decoder"
    words = (pair, TEXT, "--target", "it was", "--layer", 1, "--part", "cross", "--json")
    found = json.loads(answer(capsys, *words))
    assert (found["part"], found["shape"]) == ("cross", [4, 3, 6])
    assert found["target_tokens"] == [WORDS[0], "it", "was"]
    title = answer(capsys, *words[:-1]).splitlines()[0]
    assert title.endswith(f"  the attention weights of cross-attention layer 1 of {pair.name}")
    off = json.loads(answer(capsys, *words, "--off", "0.2"))
    assert off["values"] != found["values"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--layer", "1"), "need a TEXT for the model to read."),
        (("--off", "1.1"), "need a TEXT for the model to read."),
        ((TEXT, "--layer", "x"), "'x' is not a layer; use 0, 1 …"),
        ((TEXT, "--layer", "9"), "layer is 9; it needs a whole number from 0 to 2."),
        ((TEXT, "--layer", "1", "--head", "4"), "There is no head 4; it needs a number from 0 to 3, all or mean."),
        ((TEXT, "--off", "1"), "'1' names no heads; write layer.head, such as 3.2,5.0"),
        ((TEXT, "--off", "1.9"), "heads_off names head 9; it needs a number from 0 to 3."),
        ((TEXT, "--predict", "0"), "'0' is not a number of tokens"),
        ((TEXT, "--predict", "--patterns"), "not allowed with argument"),
        ((TEXT, "--patterns", "--layer", "1"), "--patterns lists every head of every layer; leave --layer and --head"),
        ((TEXT, "--patterns", "--head", "0"), "--patterns lists every head of every layer; leave --layer and --head"),
        ((TEXT, "--predict", "--layer", "1"), "--predict runs the whole model; leave --layer and --head out."),
        ((TEXT, "--targets", "--layer", "1"), "--targets lists every layer; leave --layer out."),
        ((TEXT, "--head", "1"), "--head chooses a head of a layer; name the layer with --layer."),
        ((TEXT, "--layer", "1", "--position", "2"), "--position says where to predict; add --predict."),
        ((TEXT, "--predict", "-o", "x.csv"), "Predictions are printed; leave -o out."),
        ((TEXT, "--patterns", "-o", "x.png"), "Patterns are written as CSV; x.png needs to end in .csv."),
        ((TEXT, "--layer", "1", "--json", "-o", "x.csv"), "--json prints, and -o writes a file; give one of them."),
        ((TEXT, "--layer", "1", "-o", "x.doc"), "x.doc needs the extension of a figure or a table"),
        ((TEXT, "-o", "x.csv"), "A table contains one layer; name it with --layer."),
        ((TEXT, "-o", "nowhere/x.png"), "there is no folder nowhere"),
        ((TEXT, "--layer", "1", "--block"), "--block writes a layer as a session; add -o LAYER.attnlab."),
        ((TEXT, "--block", "-o", "x.attnlab"), "A session contains one layer; name it with --layer."),
        ((TEXT, "--layer", "1", "--head", "0", "-o", "x.attnlab"), "A session contains every head of a layer"),
        ((TEXT, "--layer", "9", "--block", "-o", "x.attnlab"), "layer is 9; it needs a whole number from 0 to 2."),
        ((TEXT, "--part", "cross", "--layer", "0"), "part is 'cross'; the parts of this model are decoder."),
    ],
)
def test_mistakes_are_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], told: str
) -> None:
    assert told in refusal(capsys, folder, *words)


def test_a_table_never_replaces_the_weights_of_the_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights = folder / "model.safetensors"
    before = weights.read_bytes()
    for source in (folder, weights):
        told = refusal(capsys, source, TEXT, "--layer", 0, "-o", weights)
        assert told.endswith("model.safetensors cannot be written: it is the source itself; choose another name.")
    assert weights.read_bytes() == before


def test_a_file_that_is_no_model_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "array.npy").write_bytes(b"")
    told = refusal(capsys, tmp_path / "array.npy")
    assert told.endswith("array.npy has no config.json beside it, so it is not a model; choose a model’s folder.")


def test_a_model_that_is_not_there_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert refusal(capsys, "lab/none-such").endswith("this fetches it: hf download lab/none-such")


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("captures") / "gpt.safetensors"
    attnlab.capture(make_model("gpt2"), input_ids=torch.tensor([[5, 6, 7, 5, 8]])).save(made)
    return made


def test_a_capture_is_shown_without_a_text(capture: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = attnlab.read_model(capture)
    assert isinstance(found, attnlab.Capture)
    said = answer(capsys, capture)
    assert said.startswith(f"{found.name}, a capture\n")
    assert "tokens     5: 0 1 2 3 4" in said
    shown = json.loads(answer(capsys, capture, "--layer", 1, "--json"))
    np.testing.assert_allclose(shown["values"], found.attention(1).numpy(), rtol=1e-6)
    rows = json.loads(answer(capsys, capture, "--patterns", "--json"))
    assert rows[0]["previous"] == pytest.approx(float(found.attention(0)[0].diagonal(-1).mean()))
    assert "induction" not in rows[0]
    row = answer(capsys, capture, "--patterns").splitlines()[1].split()
    assert row[9] == "–"  # head, then eight scores before induction
    assert "nan" not in row
    answer(capsys, capture, "-o", tmp_path / "maps.png")
    with Image.open(tmp_path / "maps.png") as drawn:
        assert drawn.width > 500


def test_no_session_is_made_of_a_capture(capture: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.attnlab"
    assert refusal(capsys, capture, "--layer", 0, "-o", path).endswith(
        "A capture has no weights, so none of its layers can be written as a session."
    )
    assert not path.exists()


@pytest.mark.parametrize("more", [("the cat",), ("--predict",), ("--off", "0.1"), ("--target", "a")])
def test_a_capture_runs_nothing(capture: Path, more: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", str(capture), *more]) == 2
    assert "A capture has the attention of one text" in capsys.readouterr().err


def test_several_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("c a d b f e c a d\na b a b\n", encoding="utf-8")
    said = answer(capsys, "induction", "--targets", "--texts", texts, "--head", 1)
    assert said.startswith("c a d b f e c a d\n   L0       L1\n")
    rows = json.loads(answer(capsys, "induction", "a b a b", "--targets", "--json"))
    weights = attnlab.read_model("induction").run("a b a b").attention(1).mean(0)  # type: ignore[union-attr]
    last = rows[-1]
    assert (last["token"], last["layer"]) == (3, 1)
    assert last["weight"] == pytest.approx(float(weights[3].max()))
    scores = json.loads(answer(capsys, "induction", "--patterns", "--texts", texts, "--json"))
    assert scores[1]["previous"] > 0.9
    assert "strongest" not in scores[1]
    answer(capsys, "induction", "--targets", "--texts", texts, "-o", tmp_path / "targets.csv")
    with (tmp_path / "targets.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 2 * (9 + 4)
    assert main(["model", "induction", "--texts", str(texts)]) == 2
    assert "--texts needs --patterns or --targets" in capsys.readouterr().err
    assert main(["model", "induction", "a b", "--patterns", "--texts", str(texts)]) == 2
    assert "leave TEXT" in capsys.readouterr().err
