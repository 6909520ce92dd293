"""Runs on disk: one trained model and everything needed to use, resume or audit it.

A run is a directory of plain files, none of which can contain code:

=========================  =====================================================================
``config.json``            the method, its hyper-parameters, the shape of the model, its updates
``model.safetensors``      the weights
``optimizer.safetensors``  the optimizer's moments, for updates; optional
``nodes/TYPE.parquet``     name, labels, degree and vector of each node of a type
``edges/N.parquet``        the hyperedges it was trained on, one file per edge type
``history.jsonl``          one record per epoch
``checkpoints/``           the state of an unfinished training
``manifest.json``          format version, status, and size and sha256 of every file above
=========================  =====================================================================

A save writes everything under a temporary name, flushes it to disk, and only then renames it. An
interruption at any point leaves either the old run or the new one, never a mixture. A training that
replaces a finished run leaves it untouched until the new one is complete.
"""

from __future__ import annotations

from .checkpoints import Checkpoints, DamagedCheckpointWarning
from .locking import lock_run
from .manifest import FORMAT, is_run, read_manifest
from .runs import (
    RunContents,
    abandon_run,
    begin_run,
    load_run,
    read_config,
    run_status,
    save_run,
    unfinished_run,
)
from .shard_checkpoints import ShardCheckpoints

__all__ = [
    "FORMAT",
    "Checkpoints",
    "DamagedCheckpointWarning",
    "RunContents",
    "ShardCheckpoints",
    "abandon_run",
    "begin_run",
    "is_run",
    "load_run",
    "lock_run",
    "read_config",
    "read_manifest",
    "run_status",
    "save_run",
    "unfinished_run",
]
