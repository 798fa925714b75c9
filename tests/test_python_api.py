"""The Python interface: figures without a window, notebooks, weights in and out, and its page."""

import base64
import io
import json
import pickle
import pkgutil
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, pre_tokenizers

import attnlab
from attnlab.cli.main import main

pytest.importorskip("PySide6")

from PIL import Image
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

PAGE = Path(__file__).parent.parent / "docs" / "python.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
CAUSAL = "causal-5x8"


def run(code: str, folder: Path) -> str:
    """Run a script in a process without an application, with a display that does not exist."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={"DISPLAY": ":77", "PATH": ""},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def message_in_thread(call: object) -> str:
    said: list[str] = []

    def body() -> None:
        try:
            call()  # type: ignore[operator]
        except attnlab.AttnlabError as error:
            said.append(str(error))

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    return "".join(said)


def save_small_model(folder: Path) -> None:
    """Save a GPT-2 of one layer with the numbers that torch draws, and a tokenizer of four words."""
    d, words = 8, {"The": 0, "cat": 1, "sat": 2, "[UNK]": 3}
    config = {"model_type": "gpt2", "vocab_size": 4, "n_positions": 16, "n_embd": d, "n_layer": 1, "n_head": 2}
    shapes = {"wte.weight": (4, d), "wpe.weight": (16, d), "ln_f.weight": (d,), "ln_f.bias": (d,)}
    for name, into, out in (
        ("attn.c_attn", d, 3 * d),
        ("attn.c_proj", d, d),
        ("mlp.c_fc", d, 4 * d),
        ("mlp.c_proj", 4 * d, d),
    ):
        shapes |= {f"h.0.{name}.weight": (into, out), f"h.0.{name}.bias": (out,)}
    shapes |= {f"h.0.ln_{i}.{part}": (d,) for i in (1, 2) for part in ("weight", "bias")}
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    save_file({name: torch.randn(*shape) for name, shape in shapes.items()}, folder / "model.safetensors")
    cut: Any = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    cut.pre_tokenizer = pre_tokenizers.Whitespace()
    cut.save(str(folder / "tokenizer.json"))


@pytest.fixture
def closed_windows(qapp: QApplication) -> QTimer:
    """Close every window as soon as it appears."""
    timer = QTimer()
    timer.setInterval(0)
    timer.timeout.connect(lambda: [window.close() for window in qapp.topLevelWidgets() if window.isVisible()])
    return timer


@pytest.mark.slow
def test_every_block_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closed_windows: QTimer, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    save_small_model(tmp_path / "my-model")
    names: dict[str, object] = {}
    for block in BLOCKS:
        if "attnlab.view" in block:
            closed_windows.start()
        exec(compile(block, str(PAGE), "exec"), names)
        closed_windows.stop()
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 5
    assert "did you mean journey?" in said[1]
    assert (tmp_path / "weights.pdf").read_bytes().startswith(b"%PDF")


def test_the_page_has_an_example_of_every_public_name() -> None:
    code = "\n".join(BLOCKS)
    assert [name for name in attnlab.__all__ if not re.search(rf"attnlab\.{name}\b", code)] == []


@pytest.mark.parametrize("name", [name for name in attnlab.__all__ if name != "__version__"])
def test_every_public_name_has_a_docstring(name: str) -> None:
    text = getattr(attnlab, name).__doc__
    assert text
    assert text.strip()[0].isupper()


CAN_FAIL = sorted({*attnlab.__all__} - {"Trace", "__version__", "presets"})


@pytest.mark.parametrize("name", [name for name in CAN_FAIL if not name.endswith("Error")])
def test_the_errors_are_documented(name: str) -> None:
    assert "Raises:" in (getattr(attnlab, name).__doc__ or "")


@pytest.mark.usefixtures("qapp")
def test_a_figure_has_the_requested_size() -> None:
    data = attnlab.figure(attnlab.preset("journey"), head=np.int64(0), width_mm=25.4, dpi=200)
    assert data is not None
    assert Image.open(io.BytesIO(data)).width == 200


@pytest.mark.usefixtures("qapp")
def test_a_figure_of_a_trace_equals_that_of_its_experiment(tmp_path: Path) -> None:
    e = attnlab.preset(CAUSAL)
    path = tmp_path / "figure.dat"
    assert attnlab.figure(attnlab.compute(e), path, format="PNG") is None
    assert path.read_bytes() == attnlab.figure(e)


def test_an_existing_application_is_left_unchanged(qapp: QApplication) -> None:
    before = (qapp.applicationName(), qapp.font().toString(), qapp.styleSheet(), qapp.palette())
    attnlab.figure(attnlab.preset("journey"))
    assert QApplication.instance() is qapp
    assert (qapp.applicationName(), qapp.font().toString(), qapp.styleSheet(), qapp.palette()) == before


@pytest.mark.slow
def test_a_script_without_an_application_draws_twice_but_cannot_open_a_window(tmp_path: Path) -> None:
    said = run(
        "import sys, attnlab\n"
        "e = attnlab.preset('journey')\n"
        "print('PySide6' in sys.modules)\n"
        "a, app = attnlab.figure(e), sys.modules['PySide6.QtWidgets'].QApplication.instance()\n"
        "print(attnlab.figure(e) == a == attnlab.figure(e), app is type(app).instance(), app.platformName())\n"
        "try:\n    attnlab.view(e)\nexcept attnlab.AttnlabError as error:\n    print(error)\n",
        tmp_path,
    ).splitlines()
    assert said[:2] == ["False", "True True offscreen"]
    assert "without a screen" in said[2]


@pytest.mark.usefixtures("qapp")
def test_drawing_in_a_thread_is_refused_with_the_reason() -> None:
    e = attnlab.preset("journey")
    assert message_in_thread(lambda: attnlab.figure(e)) == ("Qt draws only in the main thread; call figure there.")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"stage": "masked"}, "no stage 'masked'"),
        ({"stage": 3}, "stage is 3"),
        ({"head": 8}, "no head 8"),
        ({"head": 0.5}, "head is 0.5"),
        ({"dpi": "300"}, "dpi is '300'"),
        ({"decimals": 1.5, "numbers": "on"}, "decimals is 1.5"),
        ({"width_mm": float("nan")}, "width cannot be nan mm"),
        ({"title": 3}, "title is 3"),
        ({"scale": "cube"}, "The scale of the colours cannot be 'cube', only auto, full, largest"),
        ({"scale": 2}, "scale is 2"),
        ({"format": "gif"}, "png, svg, pdf"),
        ({"path": "picture.jpg"}, "picture.jpg"),
        ({"path": 3}, "path is 3"),
        ({"path": "/no/such/folder/a.png"}, "no folder /no/such"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("qapp")
def test_an_impossible_figure_is_refused_in_one_sentence(more: dict[str, object], says: str) -> None:
    with pytest.raises(attnlab.AttnlabError, match=re.escape(says)):
        attnlab.figure(attnlab.preset("multi-head-8"), **more)  # type: ignore[arg-type]


MAPS = np.random.default_rng(4).dirichlet(np.ones(5), (2, 3, 4))
"""Two layers of three heads, four queries by five keys."""
LABELS = (list("abcd"), list("vwxyz"))


@pytest.mark.parametrize(
    "x",
    [MAPS, torch.tensor(MAPS), list(MAPS), tuple(torch.tensor(layer)[None] for layer in MAPS)],
    ids=lambda x: type(x).__name__,
)
@pytest.mark.usefixtures("qapp")
def test_a_figure_of_arrays_has_all_layers_heads_and_tokens(x: object) -> None:
    svg = attnlab.figure(x, format="svg", tokens=LABELS)
    assert svg is not None
    texts = [each.text for each in ElementTree.fromstring(svg).iter() if each.text]
    assert [texts.count(text) for text in ("Layer 0", "Layer 1", "head 2", "Mean of 2 layers")] == [1, 1, 2, 0]
    assert {*LABELS[0], *LABELS[1]} <= set(texts)


@pytest.mark.usefixtures("qapp")
def test_layers_and_heads_of_arrays_are_chosen() -> None:
    def draw(x: object = MAPS, **more: object) -> bytes:
        data = attnlab.figure(x, dpi=60, **more)  # type: ignore[arg-type]
        assert data is not None
        return data

    assert draw(layer=1, head=2, title="") == draw(MAPS[1, 2], title="")
    assert draw(layer=np.int64(1), title="") == draw(layer=[1], title="") != draw(layer=0, title="")
    assert draw(layer="mean", title="") == draw(MAPS.mean(0), title="")
    assert draw(layer=[0, 1]) == draw()
    assert draw(head="mean", layer=0, title="") == draw(MAPS[0].mean(0), title="")
    assert draw(MAPS[0, 0]) == draw(MAPS[0, 0], layer="mean")


@pytest.mark.usefixtures("qapp")
def test_layers_of_a_figure_share_one_scale() -> None:
    svg = attnlab.figure(np.stack([np.full((1, 2, 2), 3.0), np.full((1, 2, 2), -8.0)]), format="svg", numbers="off")
    assert svg is not None
    texts = [each.text for each in ElementTree.fromstring(svg).iter() if each.text]
    assert (texts.count("−8.00"), texts.count("3.00")) == (2, 0)


@pytest.mark.usefixtures("qapp")
def test_the_scale_of_colours_is_chosen_as_on_the_command_line(tmp_path: Path) -> None:
    e = attnlab.preset("multi-head-8")
    options = ["--scale", "sqrt", "--each-head", "--mute-sinks", "--format", "svg"]
    assert main(["export", "preset:multi-head-8", "-o", str(tmp_path / "a.svg"), *options]) == 0
    chosen = attnlab.figure(e, format="svg", scale="sqrt", each_head=True, mute_sinks=True)
    assert (tmp_path / "a.svg").read_bytes() == chosen
    each, muted = attnlab.figure(e, format="svg", each_head=True), attnlab.figure(e, format="svg", mute_sinks=True)
    assert len({chosen, each, muted}) == 3


@pytest.mark.usefixtures("qapp")
def test_layers_share_any_scale_unless_each_head_has_its_own() -> None:
    maps = np.stack([np.full((2, 2, 2), 0.3), np.full((2, 2, 2), 0.8)])
    for each_head, ends in ((False, 2), (True, 0)):
        svg = attnlab.figure(maps, format="svg", numbers="off", scale="largest", each_head=each_head)
        assert svg is not None
        texts = [each.text for each in ElementTree.fromstring(svg).iter() if each.text]
        assert (texts.count("0.3"), texts.count("0.8"), texts.count("own scales")) == (0, ends, 2 - ends)


@pytest.mark.usefixtures("qapp")
def test_a_file_of_arrays_is_drawn(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", maps=MAPS)
    assert attnlab.figure(tmp_path / "a.npz", dpi=60) == attnlab.figure(MAPS, dpi=60)


@pytest.mark.parametrize(
    ("x", "more", "says"),
    [
        ("journey", {}, "x is 'journey'; figure needs an Experiment, a Trace, or an array of real numbers"),
        (np.eye(3)[0], {}, "x has 1 axis, [3]; figure needs [T_q, T_k]"),
        (MAPS, {"layer": 2}, "There is no layer 2; x has layers 0 to 1, all and mean."),
        (MAPS, {"layer": "last"}, "There is no layer 'last'; x has layers 0 to 1"),
        (MAPS, {"layer": []}, "There is no layer []"),
        (MAPS, {"layer": [0, 0.5]}, "There is no layer 0.5"),
        (MAPS[0, 0], {"layer": 1}, "There is no layer 1; x has layer 0, all and mean."),
        (MAPS, {"head": 3}, "There is no head 3; x has heads 0 to 2, all and mean."),
        (MAPS[0, 0], {"head": -1}, "There is no head -1; x has head 0, all and mean."),
        (MAPS, {"tokens": ["a"]}, "it needs a pair (query_tokens, key_tokens)"),
        (MAPS, {"stage": "scores"}, "stage is for experiments only"),
        (MAPS, {"canvas": True}, "canvas is for experiments only"),
        (attnlab.preset("journey"), {"tokens": ["a"]}, "tokens is for arrays only; x is Experiment"),
        (attnlab.compute(attnlab.preset("journey")), {"layer": 0}, "layer is for arrays only; x is Trace"),
    ],
    ids=lambda x: None if not isinstance(x, str) else x,
)
@pytest.mark.usefixtures("qapp")
def test_arrays_that_cannot_be_drawn_are_refused_in_one_sentence(x: object, more: dict[str, object], says: str) -> None:
    with pytest.raises(attnlab.AttnlabError, match=re.escape(says)) as caught:
        attnlab.figure(x, **more)  # type: ignore[arg-type]
    assert str(caught.value).endswith(".")


def test_no_public_name_equals_a_module_name() -> None:
    """Importing the module would replace the name."""
    modules = {each.name for each in pkgutil.iter_modules(attnlab.__path__)}
    assert modules & set(attnlab._HOMES) == set()


@pytest.mark.usefixtures("qapp")
def test_notebooks_show_a_picture_and_one_line() -> None:
    e = attnlab.preset("multi-head-8")
    for shown, line in ((e, "<Experiment: 8 heads"), (attnlab.compute(e), "<Trace on cpu in float32: inputs, ")):
        data = shown._repr_png_()
        assert data is not None
        assert 600 < Image.open(io.BytesIO(data)).width < 900
        assert repr(shown).startswith(line)
        assert "\n" not in repr(shown)


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
@pytest.mark.usefixtures("qapp")
def test_a_figure_displays_in_a_notebook_and_saves_itself(kind: str, tmp_path: Path) -> None:
    e = attnlab.preset("journey")
    figure = attnlab.figure(e, format=kind)
    assert figure is not None
    shown = {"png": figure._repr_png_(), "svg": figure._repr_svg_(), "pdf": figure._repr_pdf_()}
    assert [name for name, data in shown.items() if data is not None] == [kind]
    data = shown[kind]
    assert (data.encode() if isinstance(data, str) else data) == bytes(figure)
    assert repr(figure) == f"<Figure: {kind}, {len(figure)} bytes>"
    figure.save(tmp_path / f"a.{kind}")
    assert (tmp_path / f"a.{kind}").read_bytes() == figure
    with pytest.raises(attnlab.FileError, match=rf"does not end in \.{kind}"):
        figure.save(tmp_path / "a.gif")
    again = pickle.loads(pickle.dumps(figure))
    assert (again, again.format) == (figure, kind)


@pytest.mark.usefixtures("qapp")
def test_notebooks_show_sizes_tokens_picture_and_stages() -> None:
    e = attnlab.preset("padding-batch")
    for shown in (e, attnlab.compute(e, dtype="float64")):
        page = shown._repr_html_()
        assert page is not None
        assert f"{e.T_q} × {e.T_k} tokens, d_model {e.d_model}" in page
        assert "sequence 0 of a batch of 3" in page
        assert " ".join(e.tokens) in page
        assert "inputs, queries, keys, values, scores, scaled, masked, weights, context, output" in page
        picture = base64.b64decode(re.findall(r'src="data:image/png;base64,([^"]+)"', page)[0])
        assert 600 < Image.open(io.BytesIO(picture)).width < 900
    assert "on cpu in float64" in (attnlab.compute(e, dtype="float64")._repr_html_() or "")


def test_a_notebook_without_qt_shows_the_weights_as_a_table(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['PySide6'] = None; import attnlab, torch\n"
        "print(attnlab.preset('journey')._repr_png_())\n"
        "e = attnlab.Experiment(('<b>', 'x'), torch.eye(2)); print(e._repr_html_())"
    )
    picture, page = run(code, tmp_path).split("\n", 1)
    assert picture == "None"
    assert "<img" not in page
    assert "&lt;b&gt;" in page
    assert "<b>'" not in page
    assert "<td>0.670</td><td>0.330</td>" in page


@pytest.mark.usefixtures("qapp")
def test_a_notebook_shows_text_if_drawing_is_slow_or_fails() -> None:
    long = attnlab.Experiment(map(str, range(4096)), torch.zeros(4096, 2))
    trace = attnlab.compute(long)
    assert (long._repr_png_(), trace._repr_png_()) == (None, None)
    pictures: list[bytes | None] = [b""]
    e = attnlab.preset("journey")
    thread = threading.Thread(target=lambda: pictures.append(e._repr_png_()))
    thread.start()
    thread.join()
    assert pictures == [b"", None]


def test_one_of_several_layers_is_chosen_by_index_or_name(tmp_path: Path) -> None:
    e, path = attnlab.preset("journey-linear"), tmp_path / "model.npz"
    size = e.d_model
    layers = {f"h.{i}.attn.{x}_proj.weight": np.full((size, size), i + 1.0) for i in range(2) for x in "qkv"}
    np.savez(path, **layers)
    with pytest.raises(attnlab.FileError, match=r"2 layers; choose one with layer: 0 \(h\.0\.attn\), 1"):
        attnlab.read_weights(path, e, n_heads=1)
    with pytest.raises(attnlab.FileError, match=r"no layer 'h\.7'"):
        attnlab.read_weights(path, e, layer="h.7", n_heads=1)
    for layer in (1, "h.1.attn"):
        weights = attnlab.read_weights(path, e, layer=layer, n_heads=1, settings="keep").weights
        assert weights.W_q is not None
        assert weights.W_q.unique().tolist() == [2.0]


def test_a_file_without_a_layer_is_refused_with_its_contents(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", bias=np.zeros(3))
    with pytest.raises(attnlab.FileError, match="no attention layer that can be recognised; its arrays are bias"):
        attnlab.read_weights(tmp_path / "a.npz", attnlab.preset("journey"))


def test_a_torch_module_computes_the_same() -> None:
    e = attnlab.preset("the-cat-sat")
    module = torch.nn.MultiheadAttention(e.d_model, 1, batch_first=True)
    there = attnlab.from_multihead(module, e)
    x, mask = there.embeddings.to(torch.float32), there.allowed()
    _, weights = module(x, x, x, attn_mask=None if mask is None else ~mask, average_attn_weights=False)
    torch.testing.assert_close(attnlab.compute(there)["weights"], weights.detach())
