"""The lengths of the canvas that its plan and its cards share, in pixels at zoom 1 and 100 % type."""

MARGIN, GAP, ROW_GAP = 14.0, 14.0, 16.0
PADDING, HEADER, FOLD, STRIP = 11.0, 37.0, 28.0, 16.0
"""Lengths at zoom 1: the space around the maps, the header, a folded card, and the line of figures."""
NUMBER_PX, LEAST_PX, LARGEST_PX = 12, 11, 18
"""The size of numbers at zoom 1, and the least and the largest one at 100 % type."""
ALONE_PX = 30
"""The largest size of numbers on a card that fills the canvas."""
MARK = 14.0
"""The width of the mark before a title, at zoom 1."""
LEAST_ROW, LARGEST_ROW, WIDEST_CELL = 20.0, 44.0, 96.0
"""The least and the largest height of cells with numbers, and their largest width, at zoom 1."""
AIR = 6.0
"""The room beside a number in its cell, in pixels."""
PICTURE_WIDTH, PICTURE_HEIGHT, PICTURE_GROWTH = 150.0, 84.0, 900.0
"""The least size of maps without numbers, and how much more of each they take where there is room."""
LEAST_STRIPE, MOST_STRIPES = 4.0, 96
"""The least width of a cell without a number, and for how many columns a card has room for it, at zoom 1."""
PICTURES = (2.4, 2.0, 1.6, 1.3, 1.0)
"""How much larger than their least size maps of tokens without numbers may be."""
PICTURE_WORTH = 8.0
"""How many pixels of type a map is worth that is as wide as the narrowest card."""
NARROWEST = 0.4
"""How much a card with few columns of many rows grows in width, compared with one of as many columns as rows."""
MOST_ROWS = 32
"""The plan reserves no room for numbers in maps with more rows."""
LABELLED_ROW = 12.0
"""The height of a row without numbers that has room for its label, at zoom 1."""
SEVERAL, SEVERAL_HIGH = 1.6, 1.3
"""How much wider and higher a card with the maps of several heads is at least."""
TILE, TILE_LABELS, TILES_SHARE = 96.0, 56.0, 0.72
"""The least width of the map of a head and the height of its title and labels at zoom 1, and the share of the heads
card that is not the mean's."""
WIDE_CARD = 1700.0
"""In a wider card the maps of heads are larger, so that they do not stand too far apart."""
ROOMY_TILE = 1.6
"""How much larger than their least size the maps of few heads are on a canvas that scrolls anyway."""
MAP_GAP, TITLE, TIGHT_ROW = 1, 16.0, 18.0
"""The gap between maps with numbers on a card, in cells, and the height of a map's title and the least one of its cells
at zoom 1."""
TALL_COST = 3.0
"""How many pixels of type each line of maps on a card beyond the second costs: it leaves the cards beside it empty."""
