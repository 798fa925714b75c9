"""A new registry entry needs no other file: throw-away ones work in all parts of the program."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox

import attnlab
from attnlab.attention import edits
from attnlab.attention.experiment import AttentionConfig, Experiment
from attnlab.attention.registries import registry
from attnlab.attention.registries.entries import Option, Table
from attnlab.attention.registries.masks import MASKS, Mask
from attnlab.attention.registries.normalizers import NORMALIZERS, TEMPERATURE, Normalizer
from attnlab.attention.registries.norms import NORMS, Norm
from attnlab.attention.registries.positions import POSITIONS, Position
from attnlab.attention.registries.scores import SCORES, Score
from attnlab.attention.stages.arithmetic import line, number, short
from attnlab.attention.stages.explain import Cell, explain
from attnlab.cli.main import main
from attnlab.files.export.script import script
from attnlab.ui.widgets.fields.number_edit import NumberEdit
from attnlab.ui.widgets.fields.pill import Pill
from attnlab.ui.widgets.fields.segments import Segments
from attnlab.ui.widgets.fields.switch import Switch
from tests.ui.conftest import _long_lived_is_frozen, open_window, sit_down  # noqa: F401  # fixtures
from tests.ui.explained import read_explained
from tests.ui.popups import close, popup_of

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key = Qt.Key


def _stretched(queries: torch.Tensor, keys: torch.Tensor, p: Any) -> torch.Tensor:
    return p["stretch"] * ((queries * p["w_tried"]) @ keys.mT)


SCORE = Score(
    name="tried-score",
    title="tried score",
    about="A dot product with a weight for each column.",
    tables=(Table("w_tried", "The weight of each column", ("d_k",), "ones"),),
    options=(Option("stretch", "Stretch", "What scores are multiplied by", "number", 2.0, 0.0, above=True),),
    formula=r"\sigma\, q\, \mathrm{diag}(w)\, k",
    apply=_stretched,
    explain=lambda query, key, p, limit: (
        line(f"tried: {short(p['stretch'])} · sum of {len(query)} products weighed"),
        line(f"= {number(float(p['stretch'] * (query * p['w_tried'] * key).sum()))} by hand"),
    ),
    code="{stretch} * ((Q * w_tried) @ K.mT)",
)
NORMALIZER = Normalizer(
    name="tried-normalizer",
    title="tried weights",
    about="Powers of exponentials divided by their sum.",
    options=(TEMPERATURE, Option("power", "Power", "What exponentials are raised to", "number", 2.0)),
    formula=r"e^{p x_j} \div \sum_j e^{p x_j}",
    apply=lambda logits, p: torch.softmax(p["power"] * logits, -1),
    explain=lambda logits, j, p, limit: (
        line(f"tried: key {j} of {len(logits)}, its logit {number(logits[j])} times {short(p['power'])}"),
    ),
    code="weights = torch.softmax({power} * {x}, dim=-1)",
)
POSITION = Position(
    name="tried-positions",
    title="tried bias",
    about="Distance times a number is taken away.",
    options=(Option("per_step", "Per step", "What each step of distance takes away", "number", 0.25, 0.0),),
    formula=r"-\, c\, |i - j|",
    bias=lambda h, t_q, t_k, p: -p["per_step"] * (torch.arange(t_q)[:, None] - torch.arange(t_k)).abs()[None],
    explain_bias=lambda head, h, query, key, p: (
        line(f"tried: {abs(query - key)} steps of {short(p['per_step'])} away"),
    ),
    setup=("apart = (torch.arange(Q.shape[1])[:, None] - torch.arange(K.shape[1])).abs()",),
    code="(-{per_step} * apart).to(Q)",
)
NORM = Norm(
    name="tried-norm",
    title="tried norm",
    about="Divided by the sum of the absolute values.",
    formula=r"{x} \div |{x}|_1",
    apply=lambda x, p: p["tried_length"] * x / x.abs().sum(-1, keepdim=True),
    explain=lambda x, column, p: (
        line(f"tried: {short(p['tried_length'])} · {number(x[column])} ÷ {number(float(np.abs(x).sum()))}"),
    ),
    code="{tried_length} * x / x.abs().sum(-1, keepdim=True)",
    options=(Option("tried_length", "Tried length", "What they sum to", "number", 1.0, least=0, above=True),),
)
MASK = Mask(
    name="tried-mask",
    title="Tried mask",
    about="Every so many keys one is hidden from all but itself",
    options=(Option("tried-mask", "Tried", "Which keys are hidden: every so many", "whole", 3, 2, 9),),
    hides=lambda i, j, n: (j % n == n - 1) & (i != j),
    why=lambda e, query, key, n: f"tried: “{e.key_tokens[key]}” is one of every {n}",
    code="((j % {n} != {n} - 1) | (i == j))",
    formula=r"\mathrm{{tried}}\ {n}",
)


@pytest.fixture(autouse=True)
def tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add one entry to each registry, for this test only."""
    for entries, entry in (
        (SCORES, SCORE),
        (NORMALIZERS, NORMALIZER),
        (POSITIONS, POSITION),
        (NORMS, NORM),
        (MASKS, MASK),
    ):
        monkeypatch.setitem(entries, entry.name, entry)  # type: ignore[arg-type, misc]


def all_tried() -> Experiment:
    """Return the journey with every throw-away entry in use."""
    return edits.configure(
        attnlab.preset("journey"),
        score="tried-score",
        normalizer="tried-normalizer",
        positions="tried-positions",
        qk_norm="tried-norm",
        masks={"tried-mask": 3},
        temperature=0.5,
        per_step=0.75,
        stretch=1.5,
        power=3.0,
    )


def by_hand() -> dict[str, torch.Tensor]:
    """Return the stages of :func:`all_tried`, computed without the registries, in float64."""
    e = attnlab.preset("journey")
    w = e.weights
    assert w.W_q is not None
    assert w.W_k is not None
    x = e.embeddings.double()
    q, k = x @ w.W_q.double(), x @ w.W_k.double()
    q, k = q / q.abs().sum(-1, keepdim=True), k / k.abs().sum(-1, keepdim=True)
    apart = (torch.arange(6)[:, None] - torch.arange(6)).abs()
    hidden = torch.tensor([[j in (2, 5) and i != j for j in range(6)] for i in range(6)])
    scores = 1.5 * q @ k.T
    biased = scores / 2**0.5 - 0.75 * apart
    masked = biased.masked_fill(hidden, -torch.inf)
    return {
        "normed_queries": q,
        "normed_keys": k,
        "scores": scores,
        "biased": biased,
        "masked": masked,
        "weights": torch.softmax(6 * masked, -1),
    }


def test_an_added_entry_computes_its_formula() -> None:
    trace = attnlab.compute(all_tried(), dtype="float64")
    for name, expected in by_hand().items():
        np.testing.assert_allclose(trace.array(name)[0], expected.numpy(), rtol=1e-12, atol=1e-12, err_msg=name)


def test_an_added_entry_is_validated() -> None:
    assert registry.default("per_step") == 0.25
    with pytest.raises(attnlab.ExperimentError, match="stretch is 0; it needs a number above 0"):
        edits.configure(attnlab.preset("journey"), score="tried-score", stretch=0)
    e = attnlab.preset("journey")
    with pytest.raises(attnlab.ExperimentError, match="tried-score needs w_tried"):
        Experiment(e.tokens, e.embeddings, e.weights, AttentionConfig(score="tried-score"))
    with pytest.raises(attnlab.ExperimentError, match="tried-mask is 1; it needs a whole number from 2 to 9"):
        AttentionConfig(masks={"tried-mask": 1})


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        ("normed_queries", "tried: "),
        ("scores", "tried: 1.50 · sum of 2 products weighed"),
        ("biased", "tried: 2 steps of 0.75 away"),
        ("masked", "tried: “journey” is one of every 3"),
        ("weights", "tried: “journey” is one of every 3"),
    ],
)
def test_an_added_entry_is_explained(stage: str, words: str) -> None:
    e = all_tried()
    trace = attnlab.compute(e)
    row, column = (1, 1) if stage == "normed_queries" else (0, 2)
    tokens = tuple("journey" if i == 2 else token for i, token in enumerate(e.tokens))
    trace = attnlab.compute(attnlab.Experiment(tokens, e.embeddings, e.weights, e.config))
    lines = ["".join(span.text for span in each) for each in explain(trace, Cell(stage, row, column, 0), None).lines]
    assert any(each.startswith(words) for each in lines), lines


def test_an_added_entry_is_saved_and_loaded_bit_for_bit(tmp_path: Path) -> None:
    e = edits.set_block(all_tried(), "w_tried", 0, 1, [[-0.123456789]])
    attnlab.save(e, tmp_path / "tried.attnlab")
    again = attnlab.load(tmp_path / "tried.attnlab")
    assert dict(again.config.options) == {"temperature": 0.5, "per_step": 0.75, "stretch": 1.5, "power": 3.0}
    assert dict(again.config.masks) == {"tried-mask": 3}
    torch.testing.assert_close(again.weights.extra["w_tried"], e.weights.extra["w_tried"], rtol=0, atol=0)
    one, other = attnlab.compute(e), attnlab.compute(again)
    assert one.all_stages == other.all_stages
    for name in one.all_stages:
        np.testing.assert_array_equal(one.array(name), other.array(name), name)


def test_show_prints_an_added_entry(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tried.attnlab"
    attnlab.save(all_tried(), path)
    assert main(["show", str(path), "--json", "--dtype", "float64"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    shown = {stage["stage"]: stage["values"] for stage in json.loads(out)}
    for name, expected in by_hand().items():
        values = np.array(shown[name], dtype=np.float64).reshape(expected.shape)
        finite = np.isfinite(expected.numpy())
        np.testing.assert_allclose(values[finite], expected.numpy()[finite], rtol=1e-12, err_msg=name)
    assert main(["show", str(path), "--stage", "weights"]) == 0
    assert f"{by_hand()['weights'][0, 0]:.4f}"[:5] in capsys.readouterr().out


def test_generated_code_computes_an_added_entry(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    code = script(all_tried(), "tried", "float64")
    assert "1.5 * ((Q_normed * w_tried) @ K_normed.mT)" in code
    assert "torch.softmax(3.0 * logits, dim=-1)" in code
    assert "-0.75 * apart" in code
    exec(compile(code, "script.py", "exec"), names)
    torch.set_printoptions(profile="default")
    assert "weights [1, 6, 6]" in capsys.readouterr().out
    for name, expected in by_hand().items():
        torch.testing.assert_close(names["stages"][name][0], expected, rtol=1e-12, atol=1e-12, msg=name)


# In the window


def type_setting(person: "Person", pill: str, title: str, text: str) -> None:
    edit = person.find(NumberEdit, title, popup_of(person, pill))
    person.click(edit)
    edit.selectAll()
    QTest.keyClicks(edit, text)
    person.key(Key.Key_Return, widget=edit)


def choose_norm(person: "Person", title: str) -> None:
    popup = popup_of(person, "Heads")
    folded = [box for box in popup.findChildren(QComboBox) if box.isVisible() and box.accessibleName() == "QK norm"]
    if not folded:
        segments = person.find(Segments, "QK norm", popup)
        person.click(next(button for button in segments.buttons() if button.text() == title))
    else:
        for _ in range(folded[0].findText(title) - folded[0].currentIndex()):
            person.key(Key.Key_Down, widget=folded[0])


@pytest.mark.slow
def test_an_added_entry_is_in_the_switches_cards_and_explain_panel(
    sit_down: Callable[..., "Person"],  # noqa: F811
) -> None:
    at = sit_down()
    at.choose("Score", "tried score")
    at.choose("Weights", "tried weights")
    at.choose("Positions", "tried bias")
    type_setting(at, "Positions", "Per step", "0.75")
    close(at, "Positions")
    type_setting(at, "Weights", "Temperature", "0.5")
    assert at.find(NumberEdit, "Power", popup_of(at, "Weights")).lineEdit().text() == "2"
    type_setting(at, "Weights", "Power", "3")
    close(at, "Weights")
    type_setting(at, "Score", "Stretch", "1.5")
    close(at, "Score")
    choose_norm(at, "tried norm")
    close(at, "Heads")
    at.click(at.find(Switch, "Tried mask", popup_of(at, "Mask")))
    close(at, "Mask")
    at.settle()
    assert at.find(Pill, "Score").value_text() == "tried score"
    assert at.find(Pill, "Weights").value_text() == "tried weights"
    assert at.find(Pill, "Positions").value_text() == "tried bias"
    assert at.find(Pill, "Mask").value_text() == "tried mask 3"
    assert dict(at.experiment.config.masks) == {"tried-mask": 3}
    trace = attnlab.compute(all_tried())
    for name, expected in by_hand().items():
        np.testing.assert_array_equal(at.painted(name), trace.array(name), name)
        np.testing.assert_allclose(at.painted(name)[0], expected.numpy(), rtol=2e-5, atol=1e-6, err_msg=name)
    assert at.card("scores").stage.formula(at.experiment) == SCORE.formula
    assert at.card("weights").stage.formula(at.experiment).startswith(NORMALIZER.formula)
    at.click_cell("scores", 1, 3)
    said = arithmetic(at)
    assert "tried: 1.50 · sum of 2 products weighed" in said
    assert number(float(at.painted("scores")[0, 1, 3])) in said
    at.click_cell("weights", 0, 2)
    assert "tried: “" in arithmetic(at)
    at.click_cell("weights", 0, 3)
    assert "tried: key 3 of 6" in arithmetic(at)
    at.open_table("w_tried")
    at.type_number(0, 0, "4")
    at.settle()
    np.testing.assert_array_equal(
        at.painted("scores"),
        attnlab.compute(edits.set_block(all_tried(), "w_tried", 0, 0, [[4.0]])).array("scores"),
    )


def arithmetic(at: "Person") -> str:
    return read_explained(at)
