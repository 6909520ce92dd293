"""From hyperedges to what one step looks at: shuffled, with fresh negatives, each node once.

An epoch shuffles the hyperedges of every type and cuts each type into as many pieces as there are
batches, so that every batch holds each type in its proportion. All randomness of an epoch comes
from (seed, epoch), so that training can go on after any interruption as if there had been none.

With `leave_one_out`, while a hyperedge e is scored, and the negatives drawn from it, its own
entries are out of its nodes' adjacency rows: for each node v of e there is an extra row, v's row
minus those entries. A negative's node that was replaced has its whole row, as it had no part in e.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from .adjacency import AdjacencyMatrix
from .edges import EdgeSet, EdgeType
from .errors import SaturatedNetworkError
from .evidence import PairEvidence
from .kernels import ExtraRows, Kernels, RowSample, RowSelection, SparseMatrix
from .model import Batch, TupleBatch, TypeBatch
from .network import HyperNetwork
from .sampling import NegativeSampler

_CHUNK = 1 << 21  # tuples whose negatives are drawn, and evidence counted, in one go


@dataclass(frozen=True)
class Positives:
    """The hyperedges of one type on the training device, in the order of an epoch."""

    types: EdgeType
    ordered: bool
    nodes: Tensor  # int64[m, N]
    weights: Tensor  # float[m]
    counts: Tensor  # float[m, k], what evidence counts of each, without itself; or float[m, 0]

    def take(self, which: slice | Tensor) -> Positives:
        """Return some of them, or all in another order."""
        tensors = (t[which] for t in (self.nodes, self.weights, self.counts))
        return Positives(self.types, self.ordered, *tensors)


@dataclass(frozen=True)
class Drawn:
    """One edge type's tuples of a batch: B hyperedges, then k negatives of each."""

    edges: Positives
    negatives: Tensor  # int64[B * k, N]
    valid: Tensor  # bool[B * k]
    per_positive: int
    features: Tensor | None = None  # float[B * (k + 1), features], of the evidence

    def spread(self, of_edges: Tensor) -> Tensor:
        """Return for each negative what its hyperedge has."""
        k = self.per_positive
        return of_edges.repeat_interleave(k, dim=0, output_size=len(of_edges) * k)

    @cached_property
    def source(self) -> Tensor:
        """``int64[B * k, N]``: the hyperedge that each negative was drawn from."""
        return self.spread(self.edges.nodes)

    @cached_property
    def kept(self) -> Tensor:
        """``bool[B * k, N]``: where a negative still holds its hyperedge's node."""
        return self.negatives == self.source


class BatchMaker:
    """Makes the batches of each epoch.

    Parameters
    ----------
    network : HyperNetwork
        What is trained on.
    matrices : mapping of node type to AdjacencyMatrix
    kernels : Kernels
    batch_size : int
        Hyperedges a batch, negatives not counted.
    sampler : NegativeSampler
    alpha : float
        The weight of the second-order loss.
    leave_one_out, evidence : bool, PairEvidence or None
    row_sample : int
        How many non-zeros of a row a step's gradient runs over at most, 0 for all of them; see
        `RowSelection`.
    """

    def __init__(
        self,
        network: HyperNetwork,
        matrices: Mapping[str, AdjacencyMatrix],
        kernels: Kernels,
        *,
        batch_size: int,
        sampler: NegativeSampler,
        alpha: Mapping[str, float],
        device: torch.device,
        dtype: torch.dtype,
        leave_one_out: bool = False,
        evidence: PairEvidence | None = None,
        row_sample: int = 0,
    ) -> None:
        self.network, self.kernels, self.sampler = network, kernels, sampler
        self.alpha, self.device, self.dtype = alpha, device, dtype
        self.leave_one_out, self.evidence = leave_one_out, evidence
        # On a GPU a hub's row costs little, and the host would have to wait for the device.
        self.row_sample = row_sample if device.type == "cpu" else 0
        self._longest = {
            t: int(np.diff(a.matrix.indptr).max(initial=0)) for t, a in matrices.items()
        }
        self._edges = {e.types: self._on_device(e) for e in network.edge_sets if len(e)}
        most = max(1, -(-network.num_edges() // batch_size))
        self._sizes = {r: -(-len(e.nodes) // most) for r, e in self._edges.items()}
        # Sizes are rounded up, so that the last few batches may be left without a hyperedge.
        self.num_batches = max(-(-len(e.nodes) // self._sizes[r]) for r, e in self._edges.items())
        self.sparse = {
            t: SparseMatrix.of(a, device=device, dtype=dtype) for t, a in matrices.items()
        }
        self._columns = {t: a.blocks for t, a in matrices.items()}
        # What a column's counts are multiplied by, of all types one after the other.
        scales = [_inverse(a.column_max) for a in matrices.values()]
        first = np.cumsum([0, *(len(x) for x in scales)]).tolist()
        self._first_scale = dict(zip(matrices, first, strict=False))
        self._scales = torch.from_numpy(np.concatenate(scales)).to(device=device, dtype=dtype)
        self._beside: dict[EdgeType, tuple[Tensor, Tensor, Tensor]] = {}

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the hyperedges, to tell whether a training goes on with the same ones."""
        digest = hashlib.sha256()
        for e in self.network.edge_sets:
            digest.update(repr(e.types).encode() + e.nodes.tobytes() + e.weights.tobytes())
        return digest.hexdigest()

    def _on_device(self, edges: EdgeSet) -> Positives:
        nodes = torch.from_numpy(edges.nodes.copy()).to(self.device)
        weights = torch.from_numpy(edges.weights.copy()).to(device=self.device, dtype=self.dtype)
        counts = weights.new_empty(len(nodes), 0)
        if self.evidence is not None:
            counts = self.evidence.counts_of_edges(nodes, weights, edges.types)
        return Positives(edges.types, edges.ordered, nodes, weights, counts)

    def epoch(self, seed: int, epoch: int) -> Iterator[list[Tensor]]:
        """Yield the batches of one epoch as `assemble` takes them.

        The same seed and epoch give the same batches. All of an epoch have the same shape but the
        last of each edge type, so that a step can be recorded and played back.
        """
        rng = np.random.default_rng([seed, epoch])
        shuffled = {r: _shuffle(e, rng) for r, e in self._edges.items()}
        batches_at_once = max(1, _CHUNK * self.num_batches // (6 * self.network.num_edges()))
        for first in range(0, self.num_batches, batches_at_once):
            last = min(first + batches_at_once, self.num_batches)
            pieces = [self._draw(e, first, last, rng) for e in shuffled.values()]
            for parts in zip(*pieces, strict=True):
                inputs = [t for part in parts for t in part]
                if self.device.type == "cpu":
                    inputs.append(torch.tensor(rng.random(), dtype=torch.float64))
                yield inputs

    def _draw(
        self, edges: Positives, first: int, last: int, rng: np.random.Generator
    ) -> list[tuple[Tensor, ...]]:
        """Draw the negatives of several batches at once and hand them out batch by batch."""
        m, k = len(edges.nodes), self.sampler.per_positive
        size = self._sizes[edges.types]
        cuts = [min(size * b, m) for b in range(first, last + 1)]
        chunk = edges.take(slice(cuts[0], cuts[-1]))
        nodes = chunk.nodes
        if self.device.type == "cpu":
            found = self.sampler.sample(nodes.numpy(), rng, edge_type=edges.types)
            drawn, valid = torch.from_numpy(found.nodes), torch.from_numpy(found.valid)
            if len(valid) and not bool(valid.any()):
                raise SaturatedNetworkError(
                    f"every corruption of the hyperedges of type {edges.types!r} is a hyperedge "
                    "too, so there are no negatives to learn from; leave that edge type out, or "
                    "try negative_scheme='all'"
                )
        else:
            source = torch.Generator(self.device).manual_seed(int(rng.integers(2**62)))
            found = self.sampler.sample(nodes, source, edge_type=edges.types, wait=False)
            drawn, valid = found.nodes, found.valid
        features = self._features(Drawn(chunk, drawn, valid, k))
        result: list[tuple[Tensor, ...]] = []
        for low, high in pairwise(cut - cuts[0] for cut in cuts):
            mine, part = chunk.take(slice(low, high)), slice(low * k, high * k)
            both = torch.cat([features[low:high], features[len(nodes) :][part]])
            result.append((mine.nodes, mine.weights, drawn[part], valid[part], both))
        return result

    def _features(self, drawn: Drawn) -> Tensor:
        """Return the evidence of tuples, hyperedges first; without columns if there is none."""
        edges = drawn.edges
        if self.evidence is None:
            return edges.weights.new_empty(len(edges.nodes) * (1 + drawn.per_positive), 0)
        return self.evidence.features(
            torch.cat([edges.nodes, drawn.negatives]),
            edges.types,
            ordered=edges.ordered,
            source=torch.cat([edges.nodes, drawn.source]),
            left_out=torch.cat([edges.weights, drawn.spread(edges.weights)]),
            num_edges=len(edges.nodes),
            of_edges=edges.counts if edges.counts.shape[1] else None,
        )

    def assemble(self, inputs: list[Tensor]) -> Batch:
        """Number each type's distinct nodes and point the tuples at them.

        `inputs` are, for each edge type, its hyperedges and their weights, the negatives and which
        of them are valid, the evidence of all of them (without columns: not counted yet); on a CPU
        then one uniform number, where samples of long rows begin.
        """
        drawn = []
        for number, edges in enumerate(self._edges.values()):
            nodes, weights, negatives, valid, features = inputs[5 * number : 5 * number + 5]
            if len(nodes):
                mine = Positives(
                    edges.types, edges.ordered, nodes, weights, weights[:, None][:, :0]
                )
                k = self.sampler.per_positive
                drawn.append(Drawn(mine, negatives, valid, k, features))
        tuples = [torch.cat([d.edges.nodes, d.negatives]) for d in drawn]
        total = sum(len(t) for t in tuples)
        places: dict[str, list[tuple[int, int]]] = {}
        for g, d in enumerate(drawn):
            for position, t in enumerate(d.edges.types):
                places.setdefault(t, []).append((g, position))
        index = [torch.empty_like(t) for t in tuples]
        found = {}
        for t, where in places.items():
            columns = [tuples[g][:, p] for g, p in where]
            found[t] = self.kernels.distinct(columns, self.network.num_nodes(t))
            for (g, p), inverse in zip(where, found[t].inverse, strict=True):
                index[g][:, p] = inverse
        rows = {t: len(f.nodes) for t, f in found.items()}
        extra = self._leave_out(drawn, index, rows) if self.leave_one_out else {}
        types = {}
        for t, f in found.items():
            sample = self._sample(t, inputs)
            selection = RowSelection(self.sparse[t], f.nodes, extra.get(t), sample)
            visits = f.visits.to(self.dtype) * (self.alpha[t] / total)
            types[t] = TypeBatch(self.kernels.prepare(selection), visits)
        groups = [self._tuple_batch(d, i, t) for d, i, t in zip(drawn, index, tuples, strict=True)]
        return Batch(types, groups, total)

    def _sample(self, node_type: str, inputs: list[Tensor]) -> RowSample | None:
        """Return how long rows of a type are sampled, or None where no row is long."""
        if not 0 < self.row_sample < self._longest[node_type]:
            return None
        return RowSample(self.row_sample, float(inputs[-1]))

    def _tuple_batch(self, drawn: Drawn, index: Tensor, tuples: Tensor) -> TupleBatch:
        target = torch.zeros(len(tuples), dtype=self.dtype, device=self.device)
        target[: len(drawn.edges.nodes)] = 1
        weight = torch.cat(
            [torch.ones_like(target[: len(drawn.edges.nodes)]), drawn.valid.to(self.dtype)]
        )
        features = drawn.features
        if self.evidence is None:
            features = None
        elif features is None or not features.shape[1]:
            features = self._features(drawn)
        return TupleBatch(drawn.edges.types, index, target, weight, features)

    # -- leaving a hyperedge out -----------------------------------------------------------------

    def _leave_out(
        self, drawn: list[Drawn], index: list[Tensor], rows: dict[str, int]
    ) -> dict[str, ExtraRows]:
        """For each node of each hyperedge, its row less the hyperedge's entries.

        `index` then has hyperedges, and what negatives keep of them, point at those rows, which
        come below the `rows` of each type.
        """
        width = max(len(d.edges.types) for d in drawn) - 1
        parts: dict[str, list[tuple[Tensor, Tensor, Tensor]]] = {}
        for d, where in zip(drawn, index, strict=True):
            columns, values = self._entries(d.edges, width)
            m, types = len(d.edges.nodes), d.edges.types
            firsts = []
            for p, t in enumerate(types):
                firsts.append(rows[t] + sum(len(base) for _, _, base in parts.get(t, ())))
                part = columns[:, p], values[:, p], where[:m, p].clone()
                parts.setdefault(t, []).append(part)
            number = torch.arange(m, device=self.device)[:, None]
            own = torch.cat([number + first for first in firsts], dim=1)
            where[m:] = torch.where(d.kept, d.spread(own), where[m:])
            where[:m] = own
        return {
            t: ExtraRows(*(torch.cat(x) for x in zip(*p, strict=True))) for t, p in parts.items()
        }

    def _entries(self, edges: Positives, width: int) -> tuple[Tensor, Tensor]:
        """Return what hyperedges add to the row of each node, negative: ``[m, N, width]`` both."""
        types, nodes = edges.types, edges.nodes
        others, offsets, scales = self._others(types)
        columns = nodes[:, others] + offsets
        values = self._scales[columns + scales] * -edges.weights[:, None, None]
        if len(set(types)) < len(types):
            for p, mine in enumerate(_others(len(types))):
                for slot, q in enumerate(mine):
                    values[:, p, slot] *= _adds(nodes, types, p, q)
        missing = width - columns.shape[2]
        if missing:
            columns = torch.nn.functional.pad(columns, (0, missing))
            values = torch.nn.functional.pad(values, (0, missing))
        return columns, values

    def _others(self, types: EdgeType) -> tuple[Tensor, Tensor, Tensor]:
        """Return the positions beside each one, and where their columns and scales begin."""
        if types not in self._beside:
            others = _others(len(types))
            offsets = [
                [self._columns[t][types[q]] for q in mine]
                for t, mine in zip(types, others, strict=True)
            ]
            scales = [[self._first_scale[t]] for t in types]
            made = (torch.tensor(x, device=self.device) for x in (others, offsets, scales))
            self._beside[types] = tuple(made)  # type: ignore[assignment]
        return self._beside[types]


def _others(length: int) -> list[list[int]]:
    """Return for each position all the others.

    Examples
    --------
    >>> _others(3)
    [[1, 2], [0, 2], [0, 1]]
    """
    return [[q for q in range(length) if q != p] for p in range(length)]


def _adds(nodes: Tensor, types: EdgeType, p: int, q: int) -> Tensor | int:
    """Whether position q adds an entry to the row of position p's node.

    Not if it holds the same node, nor if that node stood at an earlier position already.
    """
    earlier = [r for r in range(q) if types[r] == types[q]]
    if types[p] == types[q] and p not in earlier:
        earlier.append(p)
    if not earlier:
        return 1
    return torch.stack([nodes[:, q] != nodes[:, r] for r in earlier]).all(dim=0)


def _shuffle(edges: Positives, rng: np.random.Generator) -> Positives:
    order = torch.from_numpy(rng.permutation(len(edges.nodes))).to(edges.nodes.device)
    return edges.take(order)


def _inverse(column_max: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    inverse = np.zeros_like(column_max)
    return np.divide(1.0, column_max, out=inverse, where=column_max > 0)
