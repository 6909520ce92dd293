"""Arrays from an npz file of unknown origin: no pickles, and no more memory than the file deserves.

An npz is a zip of npy files. Before anything is unpacked, the zip's directory must declare a
bounded total; each array's header must declare exactly the bytes that follow it.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dhne.errors import InputError
from dhne.files.reading import StrPath, check_file, reading, unpacked_limit

Arrays = dict[str, npt.NDArray[Any]]
_KINDS = "biufUS"  # numbers and text; never objects, records or dates
_LONGEST_HEADER = 10_000


def read_arrays(path: StrPath) -> Arrays:
    """Return the arrays of an npz file by name.

    Raises
    ------
    InputError
        If it is not an npz file, holds pickled objects, or would unpack to far more than its size
        suggests.
    """
    found = check_file(path)
    with reading(path), zipfile.ZipFile(found) as archive:
        entries = archive.infolist()
        limit = unpacked_limit(found.stat().st_size)
        if sum(e.file_size for e in entries) > limit:
            raise InputError("it unpacks to far more than its size suggests", file=path)
        arrays: Arrays = {}
        for entry in entries:
            name = entry.filename.removesuffix(".npy")
            if name == entry.filename or name in arrays:
                raise InputError(f"{entry.filename!r} is not an array, or appears twice", file=path)
            with archive.open(entry) as stream:
                data = stream.read(entry.file_size + 1)
            arrays[name] = _parse(data, name, path)
        return arrays


def _parse(data: bytes, name: str, path: StrPath) -> npt.NDArray[Any]:
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read_header is None:
        raise InputError(f"array {name!r} has npy format {version}, which is unknown", file=path)
    shape, fortran, dtype = read_header(stream, max_header_size=_LONGEST_HEADER)
    if dtype.hasobject:
        raise InputError(
            f"array {name!r} holds pickled objects, which can run any code and are not opened; "
            "save it as numbers or text (the paper's own files open as datasets: dhne datasets)",
            file=path,
        )
    if dtype.kind not in _KINDS or dtype.itemsize == 0:
        raise InputError(f"array {name!r} holds {dtype}, numbers or text are needed", file=path)
    size = math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or len(data) - stream.tell() != size:
        raise InputError(f"array {name!r} is truncated, or longer than its header says", file=path)
    array = np.frombuffer(data, dtype, offset=stream.tell())
    return array.reshape(shape[::-1]).T if fortran else array.reshape(shape)


def write_arrays(path: StrPath, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write arrays as a compressed npz with fixed time stamps: equal data, equal bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)
