"""Experiment trackers, which log a training while it runs; each is a callback.

============== =================================== =========================================
tracker        logs                                needs
============== =================================== =========================================
`JsonLines`    one line of JSON per epoch          nothing; runs store it as history.jsonl
`TensorBoard`  scalars for TensorBoard             tensorboard (extra ``tracking``)
`MLflow`       parameters, metrics and status      mlflow (extra ``tracking``)
============== =================================== =========================================

To write your own tracker, derive from `Callback` and override ``on_epoch_end``; the epoch's record
is ``progress.history[-1]``::

    model.fit(network, callbacks=[JsonLines("log.jsonl"), MLflow(params=model.get_params())])
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

from .errors import MissingExtraError
from .training.callbacks import Callback, JsonLines, Progress, TensorBoard

__all__ = ["Callback", "JsonLines", "MLflow", "Progress", "TensorBoard", "numbers_of"]


def numbers_of(record: Mapping[str, Any]) -> dict[str, float]:
    """Return the metrics of an epoch's record.

    Examples
    --------
    >>> numbers_of({"epoch": 3, "loss": 0.5, "note": "x"})
    {'loss': 0.5}
    """
    return {
        key: float(value)
        for key, value in record.items()
        if key != "epoch" and isinstance(value, int | float)
    }


class MLflow(Callback):
    """Logs a training as an MLflow run: parameters, metrics per epoch, and the final status.

    MLflow's global state is not touched, so concurrent trainings do not interfere.

    Parameters
    ----------
    experiment : str
        Created if it does not exist.
    tracking_uri : str, optional
        A server, a database (``sqlite:///mlflow.db``) or anything else MLflow accepts; defaults to
        MLflow's own setting.
    run_name : str, optional
    params : mapping, optional
        Hyper-parameters to log, such as ``model.get_params()``; those that are None are skipped.
    tags : mapping, optional

    Attributes
    ----------
    run_id : str or None
        Id of the MLflow run, once training has started.
    """

    def __init__(
        self,
        experiment: str = "dhne",
        *,
        tracking_uri: str | None = None,
        run_name: str | None = None,
        params: Mapping[str, Any] | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        self.experiment, self.tracking_uri, self.run_name = experiment, tracking_uri, run_name
        self.params, self.tags = dict(params or {}), dict(tags or {})
        self.run_id: str | None = None
        self._client: Any = None

    def on_train_begin(self, progress: Progress) -> None:
        """Create a run; log the parameters and, if resumed, the epochs already done."""
        try:
            from mlflow.entities import Param
            from mlflow.tracking import MlflowClient
        except ImportError:
            raise MissingExtraError("mlflow", extra="tracking") from None
        self._client = MlflowClient(tracking_uri=self.tracking_uri)
        found = self._client.get_experiment_by_name(self.experiment)
        experiment_id = (
            self._client.create_experiment(self.experiment)
            if found is None
            else found.experiment_id
        )
        run = self._client.create_run(experiment_id, run_name=self.run_name, tags=self.tags)
        self.run_id = run.info.run_id
        params = [Param(k, str(v)) for k, v in self.params.items() if v is not None]
        self._client.log_batch(self.run_id, params=params)
        for record in progress.history:
            self._log(record)

    def on_epoch_end(self, progress: Progress) -> None:
        """Log every number of the record."""
        self._log(progress.history[-1])

    def _log(self, record: Mapping[str, Any]) -> None:
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        metrics = [Metric(k, v, now, record["epoch"]) for k, v in numbers_of(record).items()]
        self._client.log_batch(self.run_id, metrics=metrics)

    def on_train_end(self, progress: Progress) -> None:
        """Set the run's final status: finished, failed, or killed by Ctrl-C."""
        if self._client is None or self.run_id is None:
            return
        error = sys.exception()
        killed = isinstance(error, KeyboardInterrupt)
        status = "KILLED" if killed else "FINISHED" if error is None else "FAILED"
        self._client.set_terminated(self.run_id, status)
