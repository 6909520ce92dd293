"""The paper's tables and figures: small declarations, expanded into jobs and run.

>>> from dhne.experiments import Selection, chosen
>>> [e.name for e in chosen(["table-link-prediction"])]
['table-link-prediction']
>>> len(chosen(["table-link-prediction"])[0].jobs(Selection(datasets=["gps"], seeds=[0])))
9
"""

from .declarations import EXPERIMENTS, Experiment, Selection, chosen
from .jobs import Job
from .record_store import RecordStore
from .runner import PlanOutcome, Step, run_plan, unique

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "Job",
    "PlanOutcome",
    "RecordStore",
    "Selection",
    "Step",
    "chosen",
    "run_plan",
    "unique",
]
