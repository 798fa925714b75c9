"""Keeps the model, the text and the changes that were read last, so that only what differs is computed again."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnlab.base.errors import ArgumentError
from attnlab.ui.models.model_state import ModelState

if TYPE_CHECKING:
    from attnlab.pretrained.captured import Capture
    from attnlab.pretrained.model import Model
    from attnlab.pretrained.model_run import Run


class RunKeeper:
    """Runs models on texts; used by one thread only."""

    def __init__(self) -> None:
        self._model: tuple[str, Model] | None = None
        self._plain: tuple[tuple[object, ...], Run] | None = None
        self._run: tuple[tuple[object, ...], Run] | None = None
        self._capture: tuple[str, Capture] | None = None

    def run_to_end(self, state: ModelState) -> None:
        """Compute the last hidden states of a state."""
        find_last(self._make_run(state))

    def _can_read(self, state: ModelState) -> bool:
        """Return whether a model has tokens for a text."""
        try:
            self._run_model(state, False)
        except ArgumentError:
            return False
        return True

    def _find_capture(self, source: str) -> "Capture | None":
        """Return the capture in a file; None if the source is none."""
        from attnlab.pretrained.capture_file import is_capture, read_capture

        if self._capture is None or self._capture[0] != source:
            if (self._model is not None and self._model[0] == source) or not is_capture(Path(source)):
                return None
            self._model = self._plain = self._run = None
            self._capture = source, read_capture(Path(source))
        return self._capture[1]

    def _read_model(self, source: str) -> "Model":
        from attnlab.pretrained.model import open_model

        if self._model is None or self._model[0] != source:
            self._plain = self._run = self._capture = None
            self._model = source, open_model(source)
        return self._model[1]

    def _run_model(self, state: ModelState, changed: bool) -> "Run":
        model = self._read_model(state.source)
        target = state.target if "cross" in model.parts else None
        off: dict[str, Any] = {"heads_off": state.list_off(heads=True), "layers": state.list_unmasked()}
        return model.run(state.text, target, **(off if changed else {}))

    def _make_plain(self, state: ModelState) -> "Run":
        """Return the run without changes: every head on, every mask in place."""
        key = state.source, state.text, state.target
        self._read_model(state.source)
        if self._plain is None or self._plain[0] != key:
            self._plain = self._run = None
            self._plain = key, self._run_model(state, False)
        return self._plain[1]

    def _make_run(self, state: ModelState) -> "Run":
        """Return the run with what is off; layers before the first that differs are not computed again."""
        plain = self._make_plain(state)
        if not state.is_changed:
            return plain
        key = (state.source, state.text, state.target, state.off, state.edited)
        if self._run is None or self._run[0] != key:
            before = self._run[1] if self._run is not None else plain
            off = state.list_off(heads=True), state.list_off(heads=False), state.list_edited()
            self._run = key, before.change(*off)
        return self._run[1]


def find_last(run: "Run") -> Any:
    """Return the last hidden states of the text that the answer is made from."""
    part = run.model.parts[0 if not run.target_tokens else 1]
    return run.hidden(run.model.stack(part).n_layers, part)
