"""The paper's tables and figures: small declarations, expanded into plans of jobs and done.

>>> from dhne.experiments import Choice, chosen
>>> [e.name for e in chosen(["table-link-prediction"])]
['table-link-prediction']
>>> len(chosen(["table-link-prediction"])[0].jobs(Choice(datasets=["gps"], seeds=[0])))
9
"""

from .declarations import EXPERIMENTS, Choice, Experiment, chosen
from .jobs import Job
from .runner import Report, Step, run_plan, unique
from .store import RecordStore

__all__ = [
    "EXPERIMENTS",
    "Choice",
    "Experiment",
    "Job",
    "RecordStore",
    "Report",
    "Step",
    "chosen",
    "run_plan",
    "unique",
]
