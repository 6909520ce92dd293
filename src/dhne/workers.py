"""A group of workers: the processes that torchrun starts to train one model together.

Workers talk in sums alone: each contributes a tensor, and all get the total, with the same bits.
That is gloo's work on CPUs and NCCL's on GPUs; numbers on the host always go through gloo. Without
torchrun there is a group of one, which does nothing. Only the first worker speaks and writes runs.

A worker that ends, or does not answer in time, ends the others with a `WorkerError`; torchrun's
``--max-restarts`` then starts all of them again, and they go on from the last checkpoint.
"""

from __future__ import annotations

import atexit
import contextlib
import os
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from .errors import DHNEError, ParameterError

if TYPE_CHECKING:
    import torch

TIMEOUT = "DHNE_WORKER_TIMEOUT"  # the variable that says how many seconds to wait for a worker
_SECONDS, _CONNECT = 120.0, 40.0


class WorkerError(DHNEError):
    """Another worker ended or did not answer."""


class FailedElsewhereError(WorkerError):
    """Another worker failed, and says why."""


class Group:
    """The workers of a training, seen from one of them; alone by default.

    Attributes
    ----------
    rank, size : int
        Which worker this is, the first being 0, and how many there are.
    talks : bool
        Whether sums go through torch's process group; always if there are several workers.
    summed_bytes : int
        How many bytes this worker has contributed to sums so far.

    Examples
    --------
    >>> import torch
    >>> alone = Group()
    >>> alone.is_first, alone.sum_(torch.ones(2))
    (True, tensor([1., 1.]))
    """

    def __init__(self, rank: int = 0, size: int = 1, *, talks: bool = False) -> None:
        self.rank, self.size, self.talks = rank, size, talks or size > 1
        self.summed_bytes = 0

    @property
    def is_first(self) -> bool:
        """Whether this worker speaks and writes for all."""
        return self.rank == 0

    def sum_(self, tensor: torch.Tensor) -> torch.Tensor:
        """Replace a tensor by its sum over all workers, and return it."""
        if self.talks:
            import torch.distributed as dist

            self.summed_bytes += tensor.nbytes
            with self._answered():
                dist.all_reduce(tensor)
        return tensor

    def total(self, number: float) -> float:
        """Return the sum of a number over all workers."""
        import torch

        return float(self.sum_(torch.tensor(number, dtype=torch.float64, device="cpu")))

    def of_first(self, number: float) -> float:
        """Return the first worker's number."""
        return self.total(number if self.is_first else 0.0)

    def text_of_first(self, text: str) -> str:
        """Return the first worker's text."""
        import torch

        mine = text.encode() if self.is_first else b""
        letters = torch.zeros(int(self.total(len(mine))), dtype=torch.int32)
        letters[: len(mine)] = torch.tensor(list(mine), dtype=torch.int32)
        return bytes(self.sum_(letters).tolist()).decode()

    def to_first(
        self, tensor: torch.Tensor, shapes: Sequence[tuple[int, ...]]
    ) -> list[torch.Tensor]:
        """Return every worker's tensor, on the first worker; elsewhere nothing.

        Tensors are on the host; `shapes` are those of all workers.
        """
        if not self.is_first:
            import torch.distributed as dist

            with self._answered():
                dist.send(tensor.contiguous(), 0)
            return []
        found = [tensor]
        for rank in range(1, self.size):
            import torch.distributed as dist

            found.append(tensor.new_empty(shapes[rank]))
            with self._answered():
                dist.recv(found[-1], rank)
        return found

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Do what may fail on one worker alone: then all stop, and the first that failed says why.

        Raises
        ------
        FailedElsewhereError
            On the other workers.
        """
        error: BaseException | None = None
        try:
            yield
        except Exception as found:
            if self.size == 1:
                raise
            error = found
        if self.size == 1:
            return
        import torch

        failed = torch.zeros(self.size, dtype=torch.int32)
        failed[self.rank] = error is not None
        which = self.sum_(failed).nonzero()[:, 0].tolist()
        if error is not None and which[0] == self.rank:
            raise error
        if which:
            raise FailedElsewhereError(f"worker {which[0] + 1} of {self.size} failed")

    @contextlib.contextmanager
    def _answered(self) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:  # of any backend
            raise WorkerError(
                f"worker {self.rank + 1} of {self.size}: another worker ended, or did not answer "
                f"within {timeout():.0f} s; look for what it said, then go on with --resume "
                "(torchrun --max-restarts does so by itself)"
            ) from error


def under_torchrun() -> bool:
    """Whether torchrun, or something that sets the same variables, has started this process."""
    return all(name in os.environ for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR"))


def rank() -> int:
    """Return which worker this process is, the first being 0."""
    return _number("RANK", 0) if under_torchrun() else 0


def was_restarted() -> bool:
    """Whether torchrun has started this process again after a worker ended."""
    return under_torchrun() and _number("TORCHELASTIC_RESTART_COUNT", 0) > 0


def local_device(count: int) -> int:
    """Return the number of this worker's GPU, of `count` in its machine."""
    return _number("LOCAL_RANK", 0) % max(count, 1) if under_torchrun() else 0


def local_size() -> int:
    """Return how many workers there are on this machine."""
    return max(1, _number("LOCAL_WORLD_SIZE", 1)) if under_torchrun() else 1


def timeout() -> float:
    """Return how many seconds a worker waits for the others."""
    try:
        seconds = float(os.environ.get(TIMEOUT, _SECONDS))
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise ParameterError(f"{TIMEOUT} is a number of seconds, got {os.environ[TIMEOUT]!r}")
    return seconds


def join(device: torch.device | str) -> Group | None:
    """Return the group that torchrun has started this process for; None without torchrun.

    A process joins once; a process group that is there already is used.
    """
    import torch
    import torch.distributed as dist
    from torch.distributed.distributed_c10d import _set_pg_timeout

    if not dist.is_available() or not (under_torchrun() or dist.is_initialized()):
        return None
    device = torch.device(device)
    if device.type == "cuda":
        torch.cuda.set_device(device)
    if not dist.is_initialized():
        if _number("WORLD_SIZE", 1) == 1:
            return Group()
        with Group(rank(), _number("WORLD_SIZE", 1))._answered():
            # To connect, gloo waits five times as long as it is told.
            connect = timedelta(seconds=min(timeout(), _CONNECT))
            dist.init_process_group(_backend(device), timeout=connect)
            _set_pg_timeout(timedelta(seconds=timeout()))
        atexit.register(_leave)
    return Group(dist.get_rank(), dist.get_world_size(), talks=True)


def records_sums() -> bool:
    """Whether sums on a GPU can be part of a recorded step: NCCL's can, gloo's cannot."""
    import torch.distributed as dist

    return not dist.is_initialized() or "cuda:gloo" not in dist.get_backend_config()


def _backend(device: torch.device) -> str:
    """Return gloo for CPUs, NCCL for GPUs; gloo too where several workers share one of these."""
    import torch

    shared = local_size() > max(torch.cuda.device_count(), 1)
    return "gloo" if device.type != "cuda" or shared else "cpu:gloo,cuda:nccl"


def _leave() -> None:
    import torch.distributed as dist

    if dist.is_initialized():
        with contextlib.suppress(RuntimeError):
            dist.destroy_process_group()


def _number(name: str, default: int) -> int:
    text = os.environ.get(name, str(default))
    try:
        return int(text)
    except ValueError:
        raise ParameterError(
            f"the variable {name} is a whole number, got {text!r}; start workers with torchrun"
        ) from None
