"""Benchmark of the workspace of models: from the choice of another head to its picture, compared with matplotlib."""

import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import TYPE_CHECKING, Any

from attnlab.bench.measure import Case, collect_garbage_like_the_program, make_case, run_in_turns
from attnlab.bench.notebook import require_matplotlib
from attnlab.bench.window import open_window, wait_until

if TYPE_CHECKING:
    from attnlab.ui.models.models_workspace import ModelsWorkspace

TARGET = "≤ 16 ms"


def measure_heads(name: str, source: str, texts: dict[int, str], rounds: int) -> Iterator[Case]:
    """Yield a case for each text, named by its number of tokens: another head of the layer, chosen in a window.

    Raises:
        AttnlabError: matplotlib is missing, or the model cannot be read.
    """
    require_matplotlib()
    from attnlab.ui.workspaces.models import MODELS

    with open_window() as driver, collect_garbage_like_the_program(driver.window):
        driver.window.show_workspace(MODELS.name)
        wait_until(lambda: driver.window.workspace(MODELS) is not None)
        models = driver.window.workspace(MODELS)
        assert models is not None
        _wait(models)
        for tokens, text in texts.items():
            models.open_model(source, text)
            _wait(models)
            driver.settle()
            heads, figure = HeadChooser(models, driver.settle), HeadFigure(models)
            ours, drawn = run_in_turns(rounds, heads.time_next, figure.time_next)
            yield make_case(
                "models", f"{name}, {tokens} tokens: another head, to its picture", ours, drawn, "ms", TARGET
            )


def _wait(models: "ModelsWorkspace") -> None:
    wait_until(lambda: models.session.overview is not None and not models.busy)


class HeadChooser:
    """Chooses one head of the layer after the other."""

    def __init__(self, models: "ModelsWorkspace", settle: Callable[[], None]) -> None:
        self._models, self._settle = models, settle

    def time_next(self) -> float:
        """Return the milliseconds from the choice of the next head until all cards are painted."""
        session = self._models.session
        assert session.layer is not None
        head = (session.view.head + 1) % len(session.layer.weights)
        begun = time.perf_counter()
        session.show(head=head)
        self._settle()
        return 1e3 * (time.perf_counter() - begun)


class HeadFigure:
    """Draws one head of the layer after the other into an existing figure of matplotlib, with the tokens as labels."""

    def __init__(self, models: "ModelsWorkspace") -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        layer = models.session.layer
        assert layer is not None
        self._maps, self._next = layer.weights, count()
        self._figure: Any = Figure((6, 6), 100)
        FigureCanvasAgg(self._figure)
        axis: Any = self._figure.subplots()
        self._image: Any = axis.imshow(self._maps[0], vmin=0, vmax=1)
        if len(layer.overview.keys) <= 32:
            axis.set_xticks(range(len(layer.overview.keys)), layer.overview.keys, rotation=90)
            axis.set_yticks(range(len(layer.overview.queries)), layer.overview.queries)

    def time_next(self) -> float:
        """Return the milliseconds to draw the next head."""
        maps = self._maps
        begun = time.perf_counter()
        self._image.set_data(maps[next(self._next) % len(maps)])
        self._figure.canvas.draw()
        return 1e3 * (time.perf_counter() - begun)
