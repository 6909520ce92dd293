"""Named tensors as safetensors files: numbers and shapes, and no code."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dhne.errors import RunError
from dhne.files.reading import one_line

if TYPE_CHECKING:
    import torch


def write_tensors(path: Path, tensors: Mapping[str, torch.Tensor]) -> None:
    """Write tensors from any device; equal tensors give equal bytes."""
    from safetensors.torch import save_file

    plain, seen = {}, set()
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        place = tensor.untyped_storage().data_ptr()
        if place in seen:  # the format does not allow shared storage
            tensor = tensor.clone()
        seen.add(place)
        plain[name] = tensor
    path.touch()
    mode = path.stat().st_mode  # as the umask has it; the library would make it private
    save_file(plain, str(path))
    path.chmod(mode)


def read_tensors(path: Path) -> dict[str, torch.Tensor]:
    """Return copies of the tensors of a file."""
    return {name: tensor.clone() for name, tensor in map_tensors(path).items()}


def map_tensors(path: Path) -> dict[str, torch.Tensor]:
    """Return the tensors of a file, mapped into memory and read on first use.

    They stay valid if the file is replaced or removed.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return dict(sorted(load_file(str(path)).items()))
    except FileNotFoundError:
        raise RunError(f"{path}: missing; the run is damaged") from None
    except (OSError, SafetensorError, ValueError, RuntimeError) as error:
        raise RunError(f"{path}: cannot be read: {one_line(error)}") from None
