"""`NegativeSampler`: draws corruptions until each is a negative.

A draw is rejected and repeated if it is a known hyperedge, its own positive, or repeats a node in a
set. Rejections are rare in sparse networks. In dense ones the rounds are bounded: negatives that
are still missing are chosen from a list of all corruptions, and if there are none, a
`SaturatedNetworkError` is raised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dhne.errors import ParameterError, SaturatedNetworkError
from dhne.network.edges import EdgeSet, EdgeType, NodeArray
from dhne.network.hypernetwork import HyperNetwork

from .draws import Draws, NumpyDraws, draws_for
from .enumeration import choose
from .known import EdgeIndex, KnownEdges
from .schemes import BY_DEGREE, Scheme

_ROUNDS = 24  # of random draws before corruptions are listed
_DRAWS_AT_ONCE = 1 << 16  # on a CPU: few enough to stay in its cache
_CANDIDATES = 4  # draws per negative if the host must not wait for the device


@dataclass(frozen=True, eq=False)
class Negatives:
    """Negatives, k per positive, in the order of the positives.

    Attributes
    ----------
    nodes : int64[m * k, N]
        In the order of the positive's positions, even for unordered ones.
    valid : bool[m * k]
        False if no negative was found; the row is then the positive itself. All true unless
        `allow_fewer` is true or `wait` is false.
    positives : int64[m, N]
    per_positive : int
        k.
    """

    nodes: Any
    valid: Any
    positives: Any
    per_positive: int

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def replaced(self) -> Any:
        """``bool[m * k, N]``: the positions at which a negative differs from its positive."""
        m, length = self.positives.shape
        grouped = self.nodes.reshape(m, self.per_positive, length)
        return (grouped != self.positives[:, None, :]).reshape(-1, length)


class NegativeSampler:
    """Draws negatives for hyperedges: corruptions that are not known hyperedges.

    Parameters
    ----------
    network : HyperNetwork
        Provides node types, and degrees for the schemes that draw by them.
    known : KnownEdges, optional
        Hyperedges that are not negatives; by default the network's own.
    scheme : {"paper", "one", "all", "degree", "matched"}
        See :mod:`dhne.sampling.schemes`.
    per_positive : int
        Number of negatives per hyperedge.
    allow_fewer : bool
        Whether to mark missing negatives as invalid in a saturated network instead of raising
        `SaturatedNetworkError`.

    Examples
    --------
    >>> net = HyperNetwork.from_arrays({("user", "item"): [[0, 0], [0, 1], [1, 0]]})
    >>> negatives = NegativeSampler(net, per_positive=1).sample(net.edge_set(), 0)
    >>> negatives.nodes
    array([[1, 1],
           [1, 1],
           [1, 1]])
    >>> negatives.replaced
    array([[ True,  True],
           [ True, False],
           [False,  True]])
    """

    def __init__(
        self,
        network: HyperNetwork,
        known: KnownEdges | None = None,
        *,
        scheme: str = "paper",
        per_positive: int = 5,
        allow_fewer: bool = False,
    ) -> None:
        self.network = network
        self.known = KnownEdges(network) if known is None else known
        self.scheme = scheme
        self.per_positive = _at_least_one(per_positive)
        self.allow_fewer = allow_fewer
        self._schemes: dict[EdgeType, Scheme] = {}
        for types in self.known.edge_types:
            degrees = None
            if scheme in BY_DEGREE:
                degrees = [network.degrees(t, weighted=True) for t in types]
            self._schemes[types] = Scheme.make(scheme, self.known.index(types).sizes, degrees)
        self._moved: dict[tuple[EdgeType, str], Scheme] = {}

    def sample(
        self,
        edges: EdgeSet | npt.ArrayLike | Any,
        rng: Any,
        *,
        edge_type: Sequence[str] | None = None,
        per_positive: int | None = None,
        wait: bool = True,
    ) -> Negatives:
        """Draw negatives for hyperedges.

        Parameters
        ----------
        edges : EdgeSet, int64[m, N] or a torch tensor of it
            The positives. Negatives of a tensor are tensors on its device.
        rng : numpy.random.Generator, torch.Generator or int
            A torch generator (on the same device) or a seed if `edges` is a tensor.
        edge_type : tuple of str, optional
            The type of `edges` if it is an array and there are several.
        per_positive : int, optional
            Overrides the sampler's own.
        wait : bool
            If false, the host never waits for a GPU: each negative is the first valid one of four
            draws, and the very few without one are marked as invalid.

        Raises
        ------
        SaturatedNetworkError
            If all corruptions of a hyperedge are hyperedges too.
        """
        positives, types = _as_positives(edges, edge_type, self.known)
        index = self.known.index(types)
        k = self.per_positive if per_positive is None else _at_least_one(per_positive)
        draws = draws_for(positives, rng)
        scheme = self._scheme_on(index.types, draws)
        if draws.device == "numpy":
            _check_range(positives, index)
        if not wait and draws.device != "numpy":
            nodes, valid = _first_of_several(positives, k, index, scheme, draws)
            return Negatives(nodes, valid, positives, k)
        if len(index) >= index.num_possible() and len(positives):
            return self._none(positives, k, index, draws)
        own = index.keys_of(positives)
        nodes, pending = _draw_all(positives, own, k, index, scheme, draws)
        for _ in range(_ROUNDS):
            if not len(pending):
                break
            source = pending // k
            again = scheme.draw(positives[source], 1, draws)
            nodes[pending] = again
            pending = pending[index.refuses(again, own[source])]
        valid = draws.table(np.ones(len(nodes), dtype=bool))
        if len(pending):
            nodes[pending], valid[pending] = self._listed(positives[pending // k], index, draws)
        return Negatives(nodes, valid, positives, k)

    def _scheme_on(self, types: EdgeType, draws: Draws) -> Scheme:
        if (types, draws.device) not in self._moved:
            self._moved[types, draws.device] = self._schemes[types].on(draws)
        return self._moved[types, draws.device]

    def _none(self, positives: Any, k: int, index: EdgeIndex, draws: Draws) -> Negatives:
        if not self.allow_fewer:
            raise SaturatedNetworkError(
                f"every possible tuple of type {index.types!r} is a known hyperedge, so there are "
                "no negatives; pass allow_fewer=True to continue without them"
            )
        nodes = draws.repeat(positives.T, k).T
        return Negatives(nodes, draws.table(np.zeros(len(nodes), dtype=bool)), positives, k)

    def _listed(self, stuck: Any, index: EdgeIndex, draws: Draws) -> tuple[Any, Any]:
        """Choose the negatives that random draws did not find, on the host."""
        positives = stuck if isinstance(stuck, np.ndarray) else stuck.cpu().numpy()
        source = NumpyDraws(int(float(draws.uniform(1)[0]) * 2**53))
        chosen, found = choose(positives, index, self._schemes[index.types], source)
        if not found.all() and not self.allow_fewer:
            lost = positives[~found]
            raise SaturatedNetworkError(
                f"{len(np.unique(lost, axis=0))} hyperedge(s) of type {index.types!r}, such as "
                f"{tuple(lost[0].tolist())}, have no corruption that is not a known hyperedge "
                "too; try scheme='all', or pass allow_fewer=True to continue without them"
            )
        return draws.table(chosen), draws.table(found)


def evaluation_negatives(
    edges: EdgeSet,
    known: KnownEdges,
    *,
    per_positive: int = 5,
    seed: int = 0,
    scheme: str = "paper",
    allow_fewer: bool = False,
) -> Negatives:
    """Return the fixed negatives of an evaluation, which depend only on the data and the seed.

    Parameters
    ----------
    edges : EdgeSet
        The positives.
    known : KnownEdges
        All known hyperedges, of training and test; none of them becomes a negative.

    Examples
    --------
    >>> net = HyperNetwork.from_arrays({("user", "item"): [[0, 0], [0, 1], [1, 0]]})
    >>> train, test = net.split(1 / 3)
    >>> evaluation_negatives(test.edge_set(), KnownEdges(train, test), per_positive=2).nodes
    array([[1, 1],
           [1, 1]])
    """
    sampler = NegativeSampler(
        known.network, known, scheme=scheme, per_positive=per_positive, allow_fewer=allow_fewer
    )
    return sampler.sample(edges, np.random.default_rng(seed))


def _draw_all(
    positives: Any, own: Any, k: int, index: EdgeIndex, scheme: Scheme, draws: Draws
) -> tuple[Any, Any]:
    """Return a first draw for every negative and the rows of the rejected ones."""
    on_host = draws.device in ("numpy", "cpu")
    step = max(1, _DRAWS_AT_ONCE // k if on_host else len(positives))
    columns = draws.empty(positives.shape[1], len(positives) * k)
    pending = []
    for start in range(0, max(1, len(positives)), step):
        nodes = scheme.draw(positives[start : start + step], k, draws)
        refused = index.refuses(nodes, own[start : start + step])
        columns[:, start * k : start * k + len(nodes)] = nodes.T
        pending.append(draws.rows(refused) + start * k)
    return columns.T, draws.join(pending)


def _first_of_several(
    positives: Any, k: int, index: EdgeIndex, scheme: Scheme, draws: Draws
) -> tuple[Any, Any]:
    """Return the first of several draws that is a negative, without waiting for the device."""
    m = len(positives)
    drawn = scheme.draw(positives, k * _CANDIDATES, draws)
    free = ~index.refuses(drawn, index.keys_of(positives)).reshape(m * k, _CANDIDATES)
    valid = free.any(1)
    first = free.int().argmax(1)
    rows = draws.range(m * k) * _CANDIDATES + first
    return draws.where(valid[:, None], drawn[rows], draws.repeat(positives.T, k).T), valid


def _at_least_one(per_positive: int) -> int:
    if per_positive < 1:
        raise ParameterError(f"per_positive must be at least 1, got {per_positive}")
    return per_positive


def _as_positives(
    edges: Any, edge_type: Sequence[str] | None, known: KnownEdges
) -> tuple[Any, EdgeType]:
    if isinstance(edges, EdgeSet):
        return edges.nodes, edges.types
    types = known.index(edge_type).types
    if isinstance(edges, np.ndarray) or not hasattr(edges, "device"):
        edges = np.ascontiguousarray(edges, dtype=np.int64)
    if edges.ndim != 2 or edges.shape[1] != len(types):
        raise ParameterError(
            f"hyperedges of type {types!r} must be of shape [m, {len(types)}], "
            f"got {list(edges.shape)}"
        )
    return edges, types


def _check_range(positives: NodeArray, index: EdgeIndex) -> None:
    columns = positives.T if len(positives) else ()
    if any(c.min() < 0 or c.max() >= n for c, n in zip(columns, index.sizes, strict=False)):
        raise ParameterError(f"hyperedges of type {index.types!r} have ids that do not exist")
