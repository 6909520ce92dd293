"""Tensors by name as safetensors files: numbers and shapes, and nothing that could run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dhne.errors import RunError
from dhne.files.reading import one_line

if TYPE_CHECKING:
    import torch


def write_tensors(path: Path, tensors: Mapping[str, torch.Tensor]) -> None:
    """Write tensors from whatever device; equal tensors give equal bytes."""
    from safetensors.torch import save_file

    plain, seen = {}, set()
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        place = tensor.untyped_storage().data_ptr()
        if place in seen:  # the format has no way to say that two share their numbers
            tensor = tensor.clone()
        seen.add(place)
        plain[name] = tensor
    path.touch()
    mode = path.stat().st_mode  # what the umask makes of it; the library would keep others out
    save_file(plain, str(path))
    path.chmod(mode)


def read_tensors(path: Path) -> dict[str, torch.Tensor]:
    """Return the tensors of a file, in memory of their own."""
    return {name: tensor.clone() for name, tensor in map_tensors(path).items()}


def map_tensors(path: Path) -> dict[str, torch.Tensor]:
    """Return the tensors of a file, which are read when they are first used.

    They stay what they were if the file is replaced or removed.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return dict(sorted(load_file(str(path)).items()))
    except FileNotFoundError:
        raise RunError(f"{path}: it is missing; the run is damaged") from None
    except (OSError, SafetensorError, ValueError, RuntimeError) as error:
        raise RunError(f"{path}: it cannot be read: {one_line(error)}") from None
