"""Recurrent encoder–decoders: without attention, with Bahdanau's attention and with Luong's."""

import torch
from torch import Tensor, nn

from attnlab.attention.experiment import AttentionConfig
from attnlab.attention.registries.masks import Hidden
from attnlab.training.batch import PAD
from attnlab.training.models.attention import Attention, LayerTrace
from attnlab.training.models.base_model import Memory, Model, hide_keys
from attnlab.training.specs import ModelSpec
from attnlab.training.tasks.data import Data


class Recurrent(Model):
    """Gated recurrent units (Cho et al. 2014): a bidirectional encoder, whose last two states start the decoder.

    The decoder knows the source only as this one vector (Sutskever et al. 2014); the two classes below add attention.
    """

    def __init__(self, spec: ModelSpec, data: Data, columns: int = 0) -> None:
        super().__init__(data.longest, True)
        d, size = spec.d_model, len(data.vocabulary)
        self.source_embedding = nn.Embedding(size, d)
        self.embedding = nn.Embedding(size, d)
        between = spec.dropout if spec.layers > 1 else 0.0
        self.encoder = nn.GRU(d, d // 2, spec.layers, batch_first=True, bidirectional=True, dropout=between)
        self.bridge = nn.Linear(d, d)
        self.decoder = nn.GRU(d + columns, d, spec.layers, batch_first=True, dropout=between)
        self.dropout = nn.Dropout(spec.dropout)
        self.output = nn.Linear(d, size)

    def encode(self, source: Tensor) -> Memory:
        """Return the states of a source [B, S] and the summary of the last states of both directions."""
        x = self.dropout(self.source_embedding(source))
        lengths = (source != PAD).sum(1).clamp_min(1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        made, last = self.encoder(packed)
        states, _ = nn.utils.rnn.pad_packed_sequence(made, batch_first=True, total_length=source.shape[1])
        summary = torch.tanh(self.bridge(torch.cat([last[-2], last[-1]], -1)))
        return Memory(states, hide_keys(source, 1, False), summary)

    def decode(self, inputs: Tensor, memory: Memory | None) -> Tensor:
        """Return logits [B, T, V]."""
        assert memory is not None
        states, _ = self.decoder(self.dropout(self.embedding(inputs)), self._start_decoder(memory))
        logits: Tensor = self.output(self.dropout(states))
        return logits

    def _start_decoder(self, memory: Memory) -> Tensor:
        """Return the decoder's initial states [layers, B, d]."""
        assert memory.summary is not None
        return memory.summary.expand(self.decoder.num_layers, -1, -1).contiguous()


class Luong(Recurrent):
    """The decoder's states attend to the encoder's states with scores q W_a k; the output is tanh([context; state] W)
    (Luong et al. 2015, sections 3 and 3.1, without input feeding).
    """

    def __init__(self, spec: ModelSpec, data: Data) -> None:
        super().__init__(spec, data)
        self.attention = Attention(spec.d_model, AttentionConfig(score="general", scale="none"), plain=True)
        self.mixed = nn.Linear(2 * spec.d_model, spec.d_model, bias=False)
        self.layers = {"alignment": self.attention}

    def decode(self, inputs: Tensor, memory: Memory | None) -> Tensor:
        """Return logits [B, T, V]."""
        assert memory is not None
        states, _ = self.decoder(self.dropout(self.embedding(inputs)), self._start_decoder(memory))
        context = self.attention(states, memory.states, memory.hidden)
        mixed = torch.tanh(self.mixed(torch.cat([context, states], -1)))
        logits: Tensor = self.output(self.dropout(mixed))
        return logits


class Bahdanau(Recurrent):
    """Before each step the decoder's last state attends to the encoder's states with scores tanh(q W_d + k W_e) v_a;
    the context enters the step together with the last token (Bahdanau et al. 2015, section 3.1).
    """

    def __init__(self, spec: ModelSpec, data: Data) -> None:
        super().__init__(spec, data, spec.d_model)
        config = AttentionConfig(score="additive", scale="none")
        self.attention = Attention(spec.d_model, config, plain=True, hidden_units=spec.d_model)
        self.mixed = nn.Linear(2 * spec.d_model, spec.d_model)
        self.layers = {"alignment": self.attention}

    def decode(self, inputs: Tensor, memory: Memory | None) -> Tensor:
        """Return logits [B, T, V]."""
        assert memory is not None
        embedded = self.dropout(self.embedding(inputs))
        state, traces, states = self._start_decoder(memory), list[LayerTrace](), list[Tensor]()
        for step in range(inputs.shape[1]):
            query = state[-1][:, None]  # [B, 1, d]
            traces.append(_ask(self.attention, query, memory.states, memory.hidden, traces))
            context = traces[-1]["output"]
            made, state = self.decoder(torch.cat([embedded[:, step : step + 1], context], -1), state)
            states.append(torch.cat([made, context], -1))
        if self.attention.report is not None:
            traces[-1].earlier = tuple(traces[:-1])
            self.attention.report(traces[-1])
        mixed = torch.tanh(self.mixed(torch.cat(states, 1)))
        logits: Tensor = self.output(self.dropout(mixed))
        return logits


def _ask(
    layer: Attention, query: Tensor, memory: Tensor, hidden: Hidden | None, before: list[LayerTrace]
) -> LayerTrace:
    """Return the trace of one query [B, 1, d], with the keys and values of the earlier traces."""
    return before[-1].next(query) if before else LayerTrace(layer, query, memory, hidden)
