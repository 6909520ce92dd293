"""Why a tuple has its score.

From the network: for each pair of nodes, how often they occur together, their common neighbours and
the paths v – b – a – u between them; and the known hyperedges whose nodes are nearest, by the mean
cosine over the positions.

From the model: what each part *adds* to the logit, that is, the logit minus the logit without the
part, where a node is replaced by the average node of its type, and the evidence of a pair by that
of two nodes with nothing in common. (The parts of a non-linear similarity do not sum to the logit.)

For scale: the shares of known hyperedges and of random negatives that score lower.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from dhne.adjacency import AdjacencyMatrix, adjacency
from dhne.network.edges import EdgeType, NodeArray
from dhne.network.hypernetwork import HyperNetwork
from dhne.sampling import KnownEdges, evaluation_negatives

from .ranking import top_k
from .scorer import TupleScorer

_SAMPLE = 1000  # hyperedges, and as many negatives, to compare a score with
_NEIGHBOURS = 512  # of either end of a path, the most frequent ones
_DETAILED = 45  # pairs with shared neighbours and paths: all pairs of up to ten nodes

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Part:
    """One node of the tuple: its degree, and what it adds to the logit."""

    column: str
    name: Any
    degree: float
    adds: float


@dataclass(frozen=True)
class Pair:
    """Two nodes of the tuple.

    Attributes
    ----------
    columns, names : tuple of two
    together : float
        The weight of the hyperedges that contain both.
    shared : list of (node type, name)
        Common neighbours, the most frequent first.
    paths : list of (name, name)
        Paths from one to the other: b, then a.
    adds : float or None
        What the evidence of the pair adds to the logit; None if the similarity uses none.
    """

    columns: tuple[str, str]
    names: tuple[Any, Any]
    together: float
    shared: list[tuple[str, Any]]
    paths: list[tuple[Any, Any]]
    adds: float | None = None


@dataclass(frozen=True)
class Near:
    """A known hyperedge, the mean cosine of its nodes with the tuple's, and its score."""

    names: tuple[Any, ...]
    cosine: float
    score: float


@dataclass(frozen=True)
class Explanation:
    """Why a tuple has its score; see :mod:`dhne.answers.explanation`.

    Attributes
    ----------
    edge_type : tuple of str
    names : tuple
    score, logit : float
    known : bool
        Whether it is a hyperedge of the network.
    above_known, above_random : float
        The share of known hyperedges, and of random negatives, with a lower score.
    parts : list of Part
    pairs : list of Pair
    nearest : list of Near
    probability : float or None
    products_add : float or None
        What the products of own vectors add to the logit; None if the model has none.
    """

    edge_type: EdgeType
    names: tuple[Any, ...]
    score: float
    logit: float
    known: bool
    above_known: float
    above_random: float
    parts: list[Part] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)
    nearest: list[Near] = field(default_factory=list)
    probability: float | None = None
    products_add: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data."""
        return asdict(self) | {"edge_type": list(self.edge_type)}

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.names))
        known = "known" if self.known else "not known"
        above = (
            f"{self.above_known:.0%} of known hyperedges, {self.above_random:.0%} of random tuples"
        )
        lines = [f"({shown}): similarity {self.score:.4f}, {known}", f"  above {above}"]
        if self.probability is not None:
            lines.append(f"  probability {self.probability:.3f}")
        if self.products_add is not None:
            lines.append(f"  products of the nodes' own vectors add {self.products_add:+.2f}")
        lines += [
            f"  {p.column} {p.name}: in {p.degree:g} hyperedges, adds {p.adds:+.2f}"
            for p in self.parts
        ]
        for pair in self.pairs:
            adds = "" if pair.adds is None else f", adds {pair.adds:+.2f}"
            lines.append(f"  {pair.names[0]} and {pair.names[1]}: together {pair.together:g}{adds}")
            if pair.shared:
                both = ", ".join(f"{t} {name}" for t, name in pair.shared)
                lines.append(f"    both with {both}")
            lines += [f"    {pair.names[0]} – {b} – {a} – {pair.names[1]}" for b, a in pair.paths]
        if self.nearest:
            lines.append("  nearest known hyperedges:")
        lines += [
            f"    ({', '.join(map(str, n.names))}): cosine {n.cosine:.3f}, similarity {n.score:.4f}"
            for n in self.nearest
        ]
        return "\n".join(lines)


class Explainer:
    """Explains the scores of one model.

    Parameters
    ----------
    network : HyperNetwork
    scorer : TupleScorer
    embeddings : mapping of node type to float32[n, d]
    """

    def __init__(
        self,
        network: HyperNetwork,
        scorer: TupleScorer,
        embeddings: Mapping[str, npt.NDArray[np.float32]],
    ) -> None:
        self._network, self._scorer, self._embeddings = network, scorer, embeddings
        self._compared: dict[EdgeType, tuple[Floats, Floats]] = {}

    @cached_property
    def _counts(self) -> dict[str, AdjacencyMatrix]:
        return adjacency(self._network)

    @cached_property
    def _known(self) -> KnownEdges:
        return KnownEdges(self._network)

    def explain(self, nodes: NodeArray, types: EdgeType, *, most: int = 5) -> Explanation:
        """Return why a complete tuple ``int64[N]`` has its score."""
        row = types.canonical(nodes[None])
        logit = float(self._scorer.logits(row, types)[0])
        score = float(self._scorer.score(row, types)[0])
        of_known, of_random = self._compare(types)
        is_seen = types in self._network.edge_types
        return Explanation(
            types,
            self._names(row[0], types),
            score,
            logit,
            bool(self._known.contains(row, types)[0]) if is_seen else False,
            _below(of_known, score),
            _below(of_random, score),
            self._parts(row[0], types),
            self._pairs(row[0], types, most),
            self._nearest(row[0], types, most) if is_seen else [],
            products_add=self._scorer.product_effect(row[0], types),
        )

    def _names(self, nodes: NodeArray, types: EdgeType) -> tuple[Any, ...]:
        return tuple(
            self._network.vocabulary(t).name(int(v)) for t, v in zip(types, nodes, strict=True)
        )

    def _compare(self, types: EdgeType) -> tuple[Floats, Floats]:
        """Return the scores of a sample of known hyperedges, and of as many negatives."""
        if types not in self._network.edge_types:
            return np.empty(0), np.empty(0)
        if types not in self._compared:
            edges = self._network.edge_set(types)
            rng = np.random.default_rng(0)
            some = edges.take(np.sort(rng.choice(len(edges), min(len(edges), _SAMPLE), False)))
            drawn = evaluation_negatives(some, self._known, per_positive=1, allow_fewer=True)
            self._compared[types] = (
                np.sort(self._scorer.score(some.nodes, types)),
                np.sort(self._scorer.score(drawn.nodes[drawn.valid], types)),
            )
        return self._compared[types]

    # -- what each part adds ---------------------------------------------------------------------

    def _parts(self, nodes: NodeArray, types: EdgeType) -> list[Part]:
        adds = self._scorer.node_effects(nodes, types)
        return [
            Part(column, name, float(self._network.degrees(t)[v]), float(add))
            for column, name, t, v, add in zip(
                types.columns, self._names(nodes, types), types, nodes, adds, strict=True
            )
        ]

    def _pairs(self, nodes: NodeArray, types: EdgeType, most: int) -> list[Pair]:
        adds = self._scorer.pair_effects(nodes, types)
        names, found = self._names(nodes, types), []
        number = len(types) * (len(types) - 1) // 2
        by_effect = np.argsort(-np.abs(np.zeros(number) if adds is None else adds), kind="stable")
        detailed = set(by_effect[:_DETAILED].tolist())
        for k, (p, q) in enumerate(combinations(range(len(types)), 2)):
            (s, v), (t, u) = (types[p], int(nodes[p])), (types[q], int(nodes[q]))
            columns = (types.columns[p], types.columns[q])
            together = self._near(s, v, t).get(u, 0.0)
            shared = self._shared(s, v, t, u, most) if k in detailed else []
            paths = self._paths(s, v, t, u, most) if k in detailed else []
            effect = None if adds is None else float(adds[k])
            found.append(Pair(columns, (names[p], names[q]), together, shared, paths, effect))
        return found

    # -- in the network --------------------------------------------------------------------------

    def _near(self, node_type: str, node: int, other: str) -> dict[int, float]:
        """Return the neighbours of a node, of another type, with their counts."""
        a = self._counts[node_type]
        if other not in a.blocks:
            return {}
        row = a.matrix[[node]]
        first = a.blocks[other]
        inside = (row.indices >= first) & (row.indices < first + a.sizes[other])
        ids = (row.indices[inside] - first).tolist()
        return dict(zip(ids, a.counts(row)[inside].tolist(), strict=True))

    def _shared(self, s: str, v: int, t: str, u: int, most: int) -> list[tuple[str, Any]]:
        """Return common neighbours, ordered by the product of log(1 + count)."""
        found = []
        for kind in self._counts[s].blocks:
            of_v, of_u = self._near(s, v, kind), self._near(t, u, kind)
            found += [
                (-np.log1p(of_v[y]) * np.log1p(of_u[y]), kind, y)
                for y in of_v.keys() & of_u.keys()
                if (kind, y) not in ((s, v), (t, u))
            ]
        found.sort()
        return [(kind, self._network.vocabulary(kind).name(y)) for _, kind, y in found[:most]]

    def _paths(self, s: str, v: int, t: str, u: int, most: int) -> list[tuple[Any, Any]]:
        """Return (b, a) of paths v – b – a – u with b of u's type and a of v's."""
        of_v, of_u = self._near(s, v, t), self._near(t, u, s)
        of_v.pop(u, None)
        of_u.pop(v, None)
        found = []
        ends = sorted(of_v, key=lambda b: (-of_v[b], b))[:_NEIGHBOURS]
        for a in sorted(of_u, key=lambda a: (-of_u[a], a))[:_NEIGHBOURS]:
            middle = self._near(s, a, t)
            for b in ends:
                if b in middle:
                    weight = np.log1p(of_v[b]) * np.log1p(middle[b]) * np.log1p(of_u[a])
                    found.append((-weight, b, a))
        found.sort()
        name = self._network.vocabulary
        return [(name(t).name(b), name(s).name(a)) for _, b, a in found[:most]]

    def _nearest(self, nodes: NodeArray, types: EdgeType, most: int) -> list[Near]:
        """Return the known hyperedges whose nodes have the largest mean cosine with the tuple's."""
        edges = self._network.edge_set(types)
        total = np.zeros(len(edges))
        for group in types.groups:  # in a set each node is compared with its nearest member
            for p in group:
                cosine = _cosines(self._embeddings[types[p]], int(nodes[p]))
                total += cosine[edges.nodes[:, list(group)]].max(axis=1)
        total /= len(types)
        total[(edges.nodes == nodes).all(axis=1)] = -np.inf
        best = top_k(total, most)
        scores = self._scorer.score(edges.nodes[best], types)
        return [
            Near(self._names(edges.nodes[e], types), float(total[e]), float(score))
            for e, score in zip(best, scores, strict=True)
        ]


def _below(scores: Floats, score: float) -> float:
    """Return the share of (ascending) scores that are lower."""
    return float(np.searchsorted(scores, score) / len(scores)) if len(scores) else float("nan")


def _cosines(matrix: npt.NDArray[np.float32], node: int) -> Floats:
    norms = np.maximum(np.linalg.norm(matrix, axis=1), 1e-12)
    cosines: Floats = ((matrix @ matrix[node]) / (norms * norms[node])).astype(np.float64)
    return cosines
