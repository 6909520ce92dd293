"""New hyperedges for a trained model: `transform`, `extend` and `partial_fit`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.sparse import csr_array

from dhne.adjacency import AdjacencyMatrix
from dhne.answers.newcomers import Newcomers, new_network
from dhne.answers.propagation import NewNodeVectors, Propagated
from dhne.embedder import Embedder
from dhne.hyperparameters import Settings
from dhne.io.vector_column import vector_column
from dhne.model.joint import DHNEModel
from dhne.model.products import Products
from dhne.model.row_encoding import RowEncoding
from dhne.network.growth import Sizes, sizes_of
from dhne.network.hypernetwork import HyperNetwork

from .callbacks import Callback
from .freezing import Learned, learn_new_nodes
from .loop import CheckpointStore
from .updating import REPLAY, Effort, Moments, Update

Vectors = dict[str, npt.NDArray[np.float32]]
_KEPT = 100  # updates listed in a run


class Growing(Embedder):
    """Adds `transform`, `extend` and `partial_fit` to a method that has a `DHNEModel`."""

    settings_: Settings
    history_: list[dict[str, Any]]
    model_: DHNEModel
    rows_: dict[str, RowEncoding]
    propagated_: dict[str, Propagated]
    products_: Products | None
    optimizer_: Moments | None = None
    trained_: Sizes | None = None  # for an extended model: the sizes at training
    updates_: list[dict[str, Any]] = []  # noqa: RUF012 - replaced, never changed
    random_state: int
    _update: Update | None = None

    def partial_fit(
        self,
        edges: Any,
        *,
        epochs: int | None = None,
        replay: float = REPLAY,
        freeze_known: bool = False,
        callbacks: Sequence[Callback] | None = None,
        checkpoints: CheckpointStore | None = None,
        checkpoint_seconds: float = 30.0,
    ) -> Self:
        """Continue training with new hyperedges, and return ``self``.

        Known nodes keep their ids; new nodes, node types and edge types are added. A sample of the
        earlier hyperedges is replayed with the new ones, so that nothing is forgotten.
        Without new hyperedges nothing changes.

        Parameters
        ----------
        edges : HyperNetwork, sequence of tuples of names, or a table as `dhne.read_table` takes it
        epochs : int, optional
            Passes over the new hyperedges; by default 0.4 times the training's epochs.
        replay : float
            Earlier hyperedges per new one in an epoch, redrawn in every epoch.
        freeze_known : bool
            Whether to keep `embeddings_` and `vectors_` of known nodes bit for bit. Only the
            embeddings of new nodes and the similarities of new edge types are then learned.
        callbacks : sequence of Callback, optional
        checkpoints : CheckpointStore, optional
            As for `fit`.
        checkpoint_seconds : float
        """
        self._check_fitted()
        effort = Effort(epochs, replay)
        effort.check()
        new = new_network(self.network_, edges)
        if not new.num_edges():
            return self
        before, done = dict(self.__dict__), len(self.history_)
        known = {t: self.network_.num_nodes(t) for t in self.network_.node_types}
        number = self.updates_[-1]["number"] + 1 if self.updates_ else 1
        self._update = self._begin_update(number, effort)
        try:
            if freeze_known:
                self._learn_new_nodes(new, self._update)
            else:
                self.fit(  # type: ignore[call-arg]
                    self.network_.merge(new, fold=False),
                    callbacks=callbacks,
                    checkpoints=checkpoints,
                    checkpoint_seconds=checkpoint_seconds,
                )
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)  # nothing has changed
            raise
        finally:
            self.__dict__.pop("_update", None)
        nodes = {t: self.network_.num_nodes(t) - known.get(t, 0) for t in self.network_.node_types}
        record = {
            "number": number,
            "hyperedges": new.num_edges(),
            "nodes": {t: n for t, n in nodes.items() if n},
            "epochs": effort.epochs_of(self.settings_)
            if freeze_known
            else len(self.history_) - done,
            "replay": 0.0 if freeze_known else replay,
            "freeze_known": freeze_known,
        }
        self.updates_ = [*self.updates_, record][-_KEPT:]
        return self

    def _begin_update(self, number: int, effort: Effort) -> Update:
        sizes = self.trained_ or sizes_of(self.network_)
        return Update(
            self.model_,
            self.rows_,
            self.settings_,
            self.history_,
            sizes["edges"],
            number,
            effort,
            self.optimizer_,
            self.products_,
        )

    def _learn_new_nodes(self, edges: HyperNetwork, update: Update) -> None:
        """Add new hyperedges without changing known nodes."""
        newcomers = Newcomers.of(self.network_, edges, new_types=True)
        trained = self.trained_ or sizes_of(self.network_)
        network = self.network_.merge(newcomers.network, fold=False)
        learned = learn_new_nodes(
            self.model_,
            self.rows_,
            self.embeddings_,
            newcomers,
            network,
            self.settings_,
            epochs=update.effort.epochs_of(self.settings_),
            seed=update.seed(self.random_state),
        )
        if self.propagated_:
            self.propagated_ = self._propagated_with(learned)
        self.model_, self.rows_ = learned.model, learned.encodings
        self.embeddings_ = _appended(self.embeddings_, learned.embeddings)
        self.network_, self.trained_ = network, trained
        self._forget()

    def _propagated_with(self, learned: Learned) -> dict[str, Propagated]:
        """Return the vectors of known and new nodes; for types without rows, the embeddings."""
        has_rows = {t: r for t, r in learned.rows.items() if r.shape[1]}
        vectors = {**learned.embeddings, **self._vectors_of(has_rows)}
        found = dict(self.propagated_)
        for t, x in vectors.items():
            mine = found.get(t, Propagated(x[:0], x[:0]))
            found[t] = mine._replace(vectors=np.concatenate([mine.vectors, x]))
        return found

    def transform(self, edges: Any, *, isolated: str = "raise") -> dict[str, pa.Table]:
        """Return vectors of nodes not seen in training, from their hyperedges.

        Each new node's adjacency row is scaled as in training, then propagated like the training's
        rows or, without propagation, encoded; the model does not change. Known nodes among `edges`
        are listed too, with their vectors from `vectors_`.

        Parameters
        ----------
        edges : HyperNetwork, sequence of tuples of names, or a table as `dhne.read_table` takes it
            May mix new and known nodes; what two new nodes share is ignored, as neither was in
            training.
        isolated : {"raise", "keep"}
            For a new node that shares no hyperedge with a known one: raise an error, or keep the
            vector of an empty row.

        Returns
        -------
        dict of node type to table
            With the columns ``name``, ``vector`` and ``known``.
        """
        newcomers, rows = self._newcomers(edges, isolated)
        new = self._vectors_of(rows) if self.propagated_ else self._embeddings_of(newcomers, rows)
        tables, vectors_ = {}, self.vectors_
        for t, ids in newcomers.nodes.items():
            known = ids < self.network_.num_nodes(t)
            vectors = np.empty((len(ids), vectors_[t].shape[1]), np.float32)
            vectors[known] = vectors_[t][ids[known]]
            vectors[~known] = new[t]
            columns = {
                "name": newcomers.network.vocabulary(t).take(ids),
                "vector": vector_column(vectors),
                "known": pa.array(known),
            }
            tables[t] = pa.table(columns)
        return tables

    def extend(self, edges: Any, *, isolated: str = "raise") -> Self:
        """Return a fitted model that also has the new nodes of `edges`; nothing is trained.

        Its `score`, `rank` and `similar` accept both new and known names.
        """
        newcomers, rows = self._newcomers(edges, isolated)
        other = type(self)(**self.get_params(deep=False))
        other.__dict__.update({k: v for k, v in self.__dict__.items() if k.endswith("_")})
        other._forget()
        other.network_ = self.network_.merge(newcomers.network, fold=False)
        other.trained_ = self.trained_ or sizes_of(self.network_)
        other.embeddings_ = _appended(self.embeddings_, self._embeddings_of(newcomers, rows))
        other.propagated_ = dict(self.propagated_)
        for t, z in (self._vectors_of(rows) if self.propagated_ else {}).items():
            mine = self.propagated_[t]
            other.propagated_[t] = mine._replace(vectors=np.concatenate([mine.vectors, z]))
        return other

    def _newcomers(self, edges: Any, isolated: str) -> tuple[Newcomers, dict[str, csr_array]]:
        self._check_fitted()
        newcomers = Newcomers.of(self.network_, edges)
        return newcomers, newcomers.rows(self._matrices, isolated=isolated)

    @property
    def _matrices(self) -> dict[str, AdjacencyMatrix]:
        """The adjacency at training."""
        return {t: r.adjacency for t, r in self.rows_.items()}

    def _embeddings_of(
        self, newcomers: Newcomers, rows: Mapping[str, csr_array]
    ) -> dict[str, npt.NDArray[np.float32]]:
        return newcomers.embed(self.model_, self.rows_, rows)

    @cached_property
    def _new_vectors(self) -> NewNodeVectors:
        return NewNodeVectors(self._matrices, self.propagated_)

    def _vectors_of(self, rows: Mapping[str, csr_array]) -> dict[str, npt.NDArray[np.float32]]:
        return {t: self._new_vectors.of(t, r) for t, r in rows.items()}


def _appended(known: Vectors, new: Vectors) -> Vectors:
    """Return the vectors of known nodes followed by those of new ones."""
    return known | {t: np.concatenate([known[t], x]) if t in known else x for t, x in new.items()}
