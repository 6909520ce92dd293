"""Where a training's numbers go while it runs; each tracker is a callback.

============== =================================== =========================================
tracker        keeps                               needs
============== =================================== =========================================
`JsonLines`    a line of JSON an epoch             nothing; runs keep it as history.jsonl
`TensorBoard`  scalars for TensorBoard             tensorboard (extra ``tracking``)
`MLflow`       metrics, parameters and the end     mlflow (extra ``tracking``)
============== =================================== =========================================

A tracker of your own is a `Callback` with ``on_epoch_end``, whose record of the epoch is
``progress.history[-1]``::

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
    """Return the measurements of an epoch's record.

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
    """Logs a training as a run of MLflow: parameters, metrics by epoch, and how it ended.

    No global state of MLflow is touched, so trainings side by side do not disturb each other.

    Parameters
    ----------
    experiment : str
        Made if it is not there.
    tracking_uri : str, optional
        A server, a database (``sqlite:///mlflow.db``) or whatever else MLflow takes; by default
        what MLflow is set up with.
    run_name : str, optional
    params : mapping, optional
        Hyper-parameters to log, for instance ``model.get_params()``; those that are None are not.
    tags : mapping, optional

    Attributes
    ----------
    run_id : str or None
        Of the run that was made, once training has begun.
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
        """Begin a run; log the parameters, and the epochs that a resumed training has behind it."""
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
        """Say how the run ended: finished, failed, or killed by Ctrl-C."""
        if self._client is None or self.run_id is None:
            return
        error = sys.exception()
        killed = isinstance(error, KeyboardInterrupt)
        status = "KILLED" if killed else "FINISHED" if error is None else "FAILED"
        self._client.set_terminated(self.run_id, status)
