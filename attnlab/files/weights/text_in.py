"""Reads arrays from text: CSV, TSV, JSON, and tables pasted from spreadsheets and Python."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attnlab.base.block_text import BlockError, parse_block
from attnlab.base.errors import FileError
from attnlab.base.number_text import FLOAT32_MAX
from attnlab.files.atomic import format_reason
from attnlab.files.bounded import open_file
from attnlab.files.weights.named_array import NamedArray, make_array, raise_unreadable, shorten_name

TEXT_LIMIT = 64 << 20
"""The maximum bytes of text; larger tables need an array format."""


def from_text(file: Path) -> dict[str, NamedArray]:
    """Return the arrays of a text file: one table, named after the file, or the named arrays of JSON."""
    with open_file(file) as opened:
        data = opened.read(TEXT_LIMIT + 1)
    if len(data) > TEXT_LIMIT:
        raise FileError(
            f"{shorten_name(file.name)} is larger than {TEXT_LIMIT >> 20} MiB, the maximum for text: use .npy."
        )
    return read_text(_decode(data), file.stem, shorten_name(file.name))


def read_text(text: str, name: str = "pasted", source: str = "") -> dict[str, NamedArray]:
    """Return the arrays of a text: a block of cells from a spreadsheet, a list from Python, NumPy or torch, or JSON.

    A block or list is one array with the name ``name``; a JSON object holds one array under each of its names.
    ``source`` names the text in errors, "" for the clipboard. Numbers become float64; decimal commas are accepted.

    Raises:
        FileError: it is none of these, or a cell is not a number; the sentence names the row and column.
    """
    if len(text) > TEXT_LIMIT:
        limit = f"the maximum for text is {TEXT_LIMIT >> 20} MiB"
        raise FileError(f"{source or 'The clipboard'} is too long: {limit}; use an .npy file.")
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return _from_object(text, source)
    try:
        block = _read_quickly(text)
        return {name: _make_array(name, parse_block(text, source) if block is None else block)}
    except BlockError as error:
        raise FileError(str(error)) from None


def _decode(data: bytes) -> str:
    """Return the text of bytes as spreadsheets write it: UTF-16 with its mark, UTF-8, otherwise Windows-1252."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _read_quickly(text: str) -> NDArray[np.float64] | None:
    """Return an array of plain numbers, read many times faster at once; None if cells must be examined one by one.

    Commas separate cells only if the first line has a point, as they may be decimal commas. Lists may be three deep.
    """
    block = _quick_lists(text) if text.lstrip().startswith("[") else _quick_table(text)
    return block if block is not None and block.size and bool((np.abs(block) <= FLOAT32_MAX).all()) else None


def _quick_lists(text: str) -> NDArray[np.float64] | None:
    try:
        found = np.array(json.loads(text))
    except (ValueError, RecursionError):
        return None
    if found.dtype.kind not in "if" or not 1 <= found.ndim <= 3:
        return None
    return np.atleast_2d(found.astype(np.float64))


def _quick_table(text: str) -> NDArray[np.float64] | None:
    first = text[:4096].split("\n", 1)[0]
    delimiter = "\t" if "\t" in first else "," if "," in first and "." in first and ";" not in first else None
    if delimiter is None or (delimiter == "\t" and "," in text) or "_" in text or "\n\n" in text.strip("\n"):
        return None
    try:
        return np.loadtxt(text.splitlines(), delimiter=delimiter, comments=None, ndmin=2, dtype=np.float64)
    except ValueError:
        return None


def _from_object(text: str, source: str) -> dict[str, NamedArray]:
    where = source or "The pasted text"
    try:
        found = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise FileError(f"{where} is not JSON: {shorten_name(format_reason(error))}.") from None
    arrays = {name: _from_lists(name, value, where) for name, value in found.items()}
    if not arrays:
        raise FileError(f"{where} contains no arrays; it needs weights.")
    return arrays


def _from_lists(name: str, value: Any, where: str) -> NamedArray:
    try:
        values = np.array(value)
    except ValueError:
        raise FileError(
            f"{shorten_name(name)} of {where} is ragged: its rows differ in length; every row needs the same."
        ) from None
    if values.dtype.kind not in "iufb":
        return make_array(name, values.shape, "text", raise_unreadable, "it contains something that is not a number")
    return _make_array(name, values)


def _make_array(name: str, values: NDArray[Any]) -> NamedArray:
    known = values.view(values.dtype.str)  # NumPy has two types of 64-bit integers; torch accepts one of them
    return make_array(name, known.shape, str(known.dtype), lambda: torch.from_numpy(known))
