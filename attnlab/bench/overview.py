"""The overview of a real model's maps: 6 layers of 12 heads of 512 tokens, painted by a sheet and by a figure."""

import time
from itertools import cycle

import numpy as np

from attnlab.figures.map_data import MapData
from attnlab.figures.scales import find_scale
from attnlab.ui.widgets.maps.map_sheet import Lattice, MapSheet

LAYERS, HEADS, TOKENS = 6, 12, 512
SIZES = ((1100, 700), (1180, 760), (1060, 690))


class Overview:
    """Paints random maps that sum to 1 in each row, in sizes that change every time."""

    def __init__(self) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        random = np.random.default_rng(0).random((LAYERS * HEADS, TOKENS, TOKENS), dtype=np.float32) ** 8
        maps = random / random.sum(-1, keepdims=True)
        tokens = tuple(f"t{place}" for place in range(TOKENS))
        self._sizes = cycle(SIZES)
        self._sheet = MapSheet()
        self._sheet.resize(*SIZES[0])
        data = MapData(maps, "probability", find_scale(maps, "probability"), None, tokens, tokens)
        layers, heads = (
            tuple(f"{name} {n}" for n in range(count)) for name, count in (("layer", LAYERS), ("head", HEADS))
        )
        self._sheet.show_maps(data, Lattice(layers, heads))
        self._figure = Figure((SIZES[0][0] / 100, SIZES[0][1] / 100), 100, layout=None)
        FigureCanvasAgg(self._figure)
        for axis, numbers in zip(self._figure.subplots(LAYERS, HEADS).flat, maps, strict=True):
            axis.imshow(numbers, vmin=0, vmax=data.limit)
            axis.set_axis_off()

    def paint(self) -> None:
        """Paint the maps in the next size."""
        self._sheet.resize(*next(self._sizes))
        self._sheet.grab()

    def time_painting(self) -> float:
        """Return how many milliseconds painting takes."""
        start = time.perf_counter()
        self.paint()
        return (time.perf_counter() - start) * 1e3

    def time_figure(self) -> float:
        """Return how many milliseconds the figure takes to draw the same."""
        start = time.perf_counter()
        self._figure.canvas.draw()
        return (time.perf_counter() - start) * 1e3
