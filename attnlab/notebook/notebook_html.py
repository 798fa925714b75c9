"""The HTML of an Experiment or a Trace in a notebook: sizes, weights as a picture or tables, stages."""

import base64
from html import escape

from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.table import STAGES
from attnlab.attention.stages.trace import Trace
from attnlab.base.counted import format_count
from attnlab.compute.engine import compute
from attnlab.notebook.notebook_display import FAULTS, draw_notebook_picture

_TOKENS = 32
"""How many tokens are listed above the picture."""
_CELLS = 1024
"""The most weights, of all heads together, that are shown as tables if no picture can be drawn."""


def write_notebook_page(x: Experiment | Trace) -> str | None:
    """Return a block of HTML: sizes, tokens, the weights of all heads, the settings and the stages.

    If no picture can be drawn, the weights of a small layer are shown as tables. None if everything fails.
    """
    try:
        e = x.experiment if isinstance(x, Trace) else x
        lines = [f"<b>{escape(_write_headline(x, e))}</b>", escape(_write_tokens(e))]
        data = draw_notebook_picture(x)
        if data is not None:
            source = base64.b64encode(data).decode("ascii")
            lines.append(f'<img style="max-width: 100%" alt="weights" src="data:image/png;base64,{source}">')
        elif e.n_heads * e.T_q * e.T_k <= _CELLS:
            lines += _write_tables(x if isinstance(x, Trace) else compute(x))
        lines.append(escape(_write_settings(e)))
        return "<div>" + "<br>".join(lines) + "</div>"
    except FAULTS:
        return None


def _write_headline(x: Experiment | Trace, e: Experiment) -> str:
    sizes = (
        f"{format_count(e.n_heads, 'head')}, {e.T_q} × {e.T_k} tokens, d_model {e.d_model}, d_k {e.d_k}, d_v {e.d_v}"
    )
    batch = f", sequence {e.item} of a batch of {e.n_items}" if e.others else ""
    place = f", on {x.device} in {str(x.dtype).removeprefix('torch.')}" if isinstance(x, Trace) else ""
    return f"{type(x).__name__}: {sizes}{batch}{place}"


def _write_tokens(e: Experiment) -> str:
    sides = [e.tokens] if e.memory_tokens is None else [e.tokens, e.memory_tokens]
    return " → ".join(" ".join(side[:_TOKENS]) + (" …" if len(side) > _TOKENS else "") for side in sides)


def _write_settings(e: Experiment) -> str:
    c = e.config
    masks = ["causal"] * c.causal + ["mask"] * (c.mask is not None) + [f"{name} {n}" for name, n in c.masks.items()]
    said = [f"score {c.score}", f"scale {c.scale}", c.normalizer, f"positions {c.positions}", *masks]
    said += [f"{name} {value}" for name, value in c.options.items()]
    return f"{', '.join(said)}. Stages: {', '.join(stage.name for stage in STAGES if stage.present(e))}"


def _write_tables(trace: Trace) -> list[str]:
    """Return the weights of each head as a table, labelled with the tokens."""
    e = trace.experiment
    top = "".join(f"<th>{escape(token)}</th>" for token in ("", *e.key_tokens))
    made = []
    for head, rows in enumerate(trace.array("weights")):
        body = "".join(
            f"<tr><th>{escape(token)}</th>{''.join(f'<td>{value:.3f}</td>' for value in row)}</tr>"
            for token, row in zip(e.tokens, rows, strict=True)
        )
        made.append(f"<table><caption>weights, head {head}</caption><tr>{top}</tr>{body}</table>")
    return made
