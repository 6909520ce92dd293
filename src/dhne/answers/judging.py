"""Beyond the score of a tuple: its probability, and an explanation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dhne.errors import ParameterError
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.tuples import as_batch, is_single, resolve
from dhne.sampling import KnownEdges, evaluation_negatives

from .calibration import Calibration
from .explanation import Explainer, Explanation
from .scorer import TupleScorer


class Judging:
    """Adds `probability`, `calibrate` and `explain` to a method that has a `TupleScorer`."""

    network_: HyperNetwork
    embeddings_: dict[str, npt.NDArray[np.float32]]
    calibration_: Calibration

    @property
    def _scorer(self) -> TupleScorer:
        raise NotImplementedError

    def probability(
        self, tuples: Any, *, negatives: float | None = None, edge_type: Sequence[str] | None = None
    ) -> Any:
        """Return the probability that each tuple is a hyperedge; one number for one tuple.

        Calibrated on the hyperedges that `validation` held out, or by `calibrate`; otherwise it is
        the model's own, unverified. See :mod:`dhne.answers.calibration`.

        Parameters
        ----------
        tuples : as for `score`
        negatives : float, optional
            How many non-hyperedges there are per hyperedge among the tuples you ask about. By
            default as many as in the calibration.
        edge_type : tuple of str, optional
        """
        scores = self.score(tuples, edge_type)  # type: ignore[attr-defined]
        found = self.calibration_.of_scores(scores, negatives)
        return float(found) if isinstance(scores, float) else found

    def calibrate(self, held_out: HyperNetwork, *, negatives: int = 5) -> Self:
        """Calibrate probabilities on hyperedges that were not trained on, and return ``self``.

        Parameters
        ----------
        held_out : HyperNetwork
            With the node ids of the training network, as from `HyperNetwork.split`.
        negatives : int
            How many are drawn per hyperedge.
        """
        known = KnownEdges(self.network_, held_out)
        of_edges, of_negatives = [np.empty(0)], [np.empty(0)]
        for edges in held_out.edge_sets:
            drawn = evaluation_negatives(edges, known, per_positive=negatives, allow_fewer=True)
            of_edges.append(self._scorer.logits(edges.nodes, edges.types))
            of_negatives.append(self._scorer.logits(drawn.nodes[drawn.valid], edges.types))
        self.calibration_ = Calibration.fit(np.concatenate(of_edges), np.concatenate(of_negatives))
        return self

    def explain(
        self, query: Any, *, edge_type: Sequence[str] | None = None, most: int = 5
    ) -> Explanation:
        """Return why a tuple has its score: what its nodes share, and what each part adds.

        Parameters
        ----------
        query : a complete tuple, or a dict of names
        edge_type : tuple of str, optional
        most : int
            The maximum number of common neighbours, paths and similar hyperedges.
        """
        if not is_single(query):
            raise ParameterError("explain takes one tuple, such as ('ann', 'Heat', 'noir')")
        group = resolve(self.network_, as_batch(query), edge_type)[0]
        if group.nodes.min() < 0:
            raise ParameterError("explain needs a complete tuple; use rank for open positions")
        if "_explainer" not in self.__dict__:
            self._explainer = Explainer(self.network_, self._scorer, self.embeddings_)
        found = self._explainer.explain(group.nodes[0], group.types, most=most)
        probability = self.calibration_.probability(np.array(found.logit))
        return replace(found, probability=float(probability))
