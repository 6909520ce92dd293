"""The command line; its second worker is killed once: ``python -m tests.cli.killed_worker``.

As long as torchrun has restarted nothing, it ends after its 21st step as kill -9 does.
"""

from __future__ import annotations

import os
import signal
import sys

from dhne import workers
from dhne.cli import main
from dhne.training.divided import DividedTrainer

_go_on = DividedTrainer._after_batch


def _after_batch(trainer: DividedTrainer, number: int) -> None:
    _go_on(trainer, number)
    if workers.rank() == 1 and trainer.optimizer.steps == 21 and not workers.was_restarted():
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    DividedTrainer._after_batch = _after_batch  # type: ignore[method-assign]
    sys.exit(main())
