"""Groups of workers: the processes that torchrun starts to train one model together.

Workers communicate almost only by all-reduce: each contributes a tensor, and all receive the sum,
bit for bit the same. CPU tensors go through gloo, GPU tensors through NCCL. Without torchrun there
is a group of one, whose operations do nothing. Only the first worker prints and writes runs.

If a worker exits, or does not respond in time, the others raise a `WorkerError`; with torchrun's
``--max-restarts`` all workers restart and resume from the last checkpoint.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import time
import uuid
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from .errors import DHNEError, ParameterError

if TYPE_CHECKING:
    import torch
    from torch.distributed import Store  # type: ignore[attr-defined]

TIMEOUT = "DHNE_WORKER_TIMEOUT"  # environment variable: seconds to wait for a worker
_WAIT_SECONDS, _POLL_SECONDS = 120.0, 0.02


class WorkerError(DHNEError):
    """Another worker exited or did not respond."""


class FailedElsewhereError(WorkerError):
    """Another worker failed and reports the cause itself."""


class Group:
    """The workers of a training, as seen by one of them; a group of one by default.

    Attributes
    ----------
    rank, size : int
        This worker's number, starting at 0, and the number of workers.
    talks : bool
        Whether sums use torch's process group; always true for several workers.
    summed_bytes : int
        Bytes this worker has contributed to sums so far.

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
        """Whether this is the first worker, which prints and writes for all."""
        return self.rank == 0

    def sum_(self, tensor: torch.Tensor) -> torch.Tensor:
        """Replace a tensor in place by its sum over all workers, and return it."""
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
        """Return all workers' tensors on the first worker, and an empty list on the others.

        Tensors are on the host; `shapes` lists the shapes of all of them.
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
        """Run code that may fail on some workers; all stop, and the first that failed raises.

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
        except RuntimeError as error:  # raised by every backend
            raise WorkerError(
                f"worker {self.rank + 1} of {self.size}: another worker exited or did not respond "
                f"within {timeout():.0f} s; check its error message, then continue with --resume "
                "(torchrun --max-restarts does this automatically)"
            ) from error


def under_torchrun() -> bool:
    """Whether torchrun, or a launcher that sets the same variables, started this process."""
    return all(name in os.environ for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR"))


def rank() -> int:
    """Return this worker's number, starting at 0."""
    return _number("RANK", 0) if under_torchrun() else 0


def was_restarted() -> bool:
    """Whether torchrun restarted this process after a worker failed."""
    return under_torchrun() and _number("TORCHELASTIC_RESTART_COUNT", 0) > 0


def local_device(count: int) -> int:
    """Return the index of this worker's GPU among the `count` of its machine."""
    return _number("LOCAL_RANK", 0) % max(count, 1) if under_torchrun() else 0


def local_size() -> int:
    """Return the number of workers on this machine."""
    return max(1, _number("LOCAL_WORLD_SIZE", 1)) if under_torchrun() else 1


def timeout() -> float:
    """Return how many seconds a worker waits for the others."""
    try:
        seconds = float(os.environ.get(TIMEOUT, _WAIT_SECONDS))
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        given = os.environ[TIMEOUT]
        raise ParameterError(f"{TIMEOUT} must be a positive number of seconds, got {given!r}")
    return seconds


def join(device: torch.device | str) -> Group | None:
    """Return this process's group under torchrun; None without torchrun.

    A process joins once; an existing process group is reused.
    """
    import torch
    import torch.distributed as dist
    from torch.distributed.rendezvous import rendezvous

    if not dist.is_available() or not (under_torchrun() or dist.is_initialized()):
        return None
    device = torch.device(device)
    if device.type == "cuda" and device.index is not None:
        torch.cuda.set_device(device)
    if not dist.is_initialized():
        if _number("WORLD_SIZE", 1) == 1:
            return Group()
        with Group(rank(), _number("WORLD_SIZE", 1))._answered():
            wait = timedelta(seconds=timeout())
            store, mine, size = next(rendezvous("env://", timeout=wait))
            attempt = meet(store, mine, size)
            store = dist.PrefixStore(attempt, store)  # type: ignore[attr-defined]
            dist.init_process_group(
                _backend(device), store=store, rank=mine, world_size=size, timeout=wait
            )
        atexit.register(_leave)
    return Group(dist.get_rank(), dist.get_world_size(), talks=True)


def meet(store: Store, rank: int, size: int) -> str:
    """Return a name for this attempt that all its workers know, once all have arrived.

    After a restart, torchrun's store still holds the addresses of the workers that are gone. So
    every process brings a name of its own, and the first publishes the names it finds until each
    worker has confirmed a list that contains its own.
    """
    me, end = uuid.uuid4().hex, time.monotonic() + timeout()
    store.set(f"name/{rank}", me)
    while time.monotonic() < end:
        if rank == 0:
            store.set("names", ",".join(store.get(f"name/{k}").decode() for k in range(size)))
        names = store.get("names").decode()
        if names.split(",")[rank : rank + 1] == [me]:
            attempt = hashlib.sha256(names.encode()).hexdigest()
            store.set(f"{attempt}/{rank}", "")
            if store.check([f"{attempt}/{k}" for k in range(size)]):
                return attempt
        time.sleep(_POLL_SECONDS)
    raise RuntimeError("not all workers arrived")


def records_sums() -> bool:
    """Whether GPU sums can be captured in a recorded step: NCCL's can, gloo's cannot."""
    import torch.distributed as dist

    return not dist.is_initialized() or "cuda:gloo" not in dist.get_backend_config()


def _backend(device: torch.device) -> str:
    """Return gloo for CPUs and for GPUs that several workers share, NCCL for other GPUs."""
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
            f"the variable {name} must be an integer, got {text!r}; start workers with torchrun"
        ) from None
