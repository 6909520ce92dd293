"""Records on disk, one file per job, written atomically.

An interrupted plan continues where it stopped: existing records are not computed again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from dhne.errors import InputError
from dhne.evaluation import Record
from dhne.files.plain_json import read_json
from dhne.files.writing import replace_bytes

from .jobs import Job


class RecordStore:
    """The directory of the records.

    Parameters
    ----------
    directory : path
        Created with the first record.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = RecordStore(folder)
    ...     store.get(Job("link-prediction", "gps", "dhne")) is None
    True
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)

    def path(self, job: Job) -> Path:
        """Return the path of a job's record."""
        return self.directory / job.file_name

    def get(self, job: Job) -> Record | None:
        """Return a job's record, or None if there is no readable one."""
        try:
            return Record.from_dict(read_json(self.path(job)))
        except (InputError, KeyError, TypeError):
            return None  # whatever is wrong with it, the job can be run again

    def put(self, job: Job, record: Record) -> None:
        """Save a job's record atomically."""
        self.directory.mkdir(parents=True, exist_ok=True)
        replace_bytes(self.path(job), record.to_json().encode(), durable=True)

    def found(self, jobs: list[Job]) -> Iterator[tuple[Job, Record]]:
        """Yield each job that has a record, with the record."""
        for job in jobs:
            record = self.get(job)
            if record is not None:
                yield job, record
