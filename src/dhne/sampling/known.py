"""Vectorised lookup of known hyperedges.

Each hyperedge is one 64-bit key (:func:`dhne.network.edges.edge_keys`); distinct keys are kept
sorted. Most tuples looked up are not hyperedges, so a table of bytes filters them before the binary
search: slot h(key) stores a mark of the known key that hashes there, and only tuples with the same
mark are searched for. On a GPU the table is not used.

Workers that train together divide the keys: each has those that hash to it and marks the tuples
that it knows; the sum of the marks is the answer for all. So all must look up the same tuples at
the same time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import factorial, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from dhne.errors import InputError, ParameterError
from dhne.network.edge_keys import edge_keys, mix, num_possible, repeats_node
from dhne.network.edge_type import find_edge_type
from dhne.network.edges import EdgeSet, EdgeType, NodeArray
from dhne.network.hypernetwork import HyperNetwork
from dhne.workers import Group

from .device_chunks import device_chunks

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio
_SLOTS_PER_EDGE = 8
_SEVERAL = 255  # the mark of a slot that several known keys share
_CHUNK_EDGES = 1 << 20  # hyperedges whose keys are computed at once


class EdgeIndex:
    """The known hyperedges of one edge type.

    Attributes
    ----------
    types : EdgeType
    sizes : int64[N]
        Number of possible nodes per position.
    repeats_nodes : bool
        Whether a node may be in a set twice: true if that occurs in a known hyperedge.
    """

    def __init__(
        self,
        edge_sets: Sequence[EdgeSet],
        sizes: NodeArray,
        group: Group | None = None,
        device: Any = None,
    ) -> None:
        self.types, self.sizes, self._group = edge_sets[0].types, sizes, group or Group()
        self._on_device: dict[Any, Any] = {}
        if device is None:
            self.repeats_nodes = self.types.has_sets and any(
                bool(repeats_node(e.nodes, self.types).any()) for e in edge_sets
            )
            every = np.concatenate([k for e in edge_sets for k in self._my_keys(e)])
            every.sort()  # several times as fast as np.unique, which hashes
            # ~x differs from x, so the first key is kept; without keys nothing is prepended
            self.keys = every[np.diff(every, prepend=~every[:1]) != 0]
            self._own = len(self.keys)
        else:
            known = self._sort_on(device, edge_sets)
            self._on_device[known.device], self._own = known, len(known)
        self._total = self._own if group is None else int(group.total(self._own))
        self._bits = max(10, (_SLOTS_PER_EDGE * self._own).bit_length())

    def __len__(self) -> int:
        return self._total

    @cached_property
    def keys(self) -> NodeArray:
        """``int64[distinct hyperedges]``: sorted; only this worker's, if several divide them."""
        keys: NodeArray = next(iter(self._on_device.values())).cpu().numpy()
        return keys

    @property
    def nbytes(self) -> int:
        """Bytes of the keys, and of the table of marks if they are in main memory."""
        return 8 * self._own + (1 << self._bits) * ("keys" in self.__dict__)

    def _my_keys(self, edges: EdgeSet) -> Iterator[NodeArray]:
        size = self._group.size
        step = len(edges) if size == 1 else _CHUNK_EDGES
        for low in range(0, max(len(edges), 1), max(step, 1)):
            keys: NodeArray = edge_keys(edges.nodes[low : low + step], self.sizes)
            with np.errstate(over="ignore"):
                yield keys if size == 1 else keys[self._is_mine(keys)]

    def _is_mine(self, keys: Any) -> Any:
        return mix(keys) % self._group.size == self._group.rank

    def _sort_on(self, device: Any, edge_sets: Sequence[EdgeSet]) -> Any:
        """Return this worker's keys, sorted, as a tensor on a device."""
        import torch

        self.repeats_nodes = False
        parts = [torch.empty(0, dtype=torch.int64, device=device)]
        for chunk in (c for e in edge_sets for c in device_chunks(e, device)):
            keys = edge_keys(chunk.nodes, self.sizes)
            parts.append(keys if self._group.size == 1 else keys[self._is_mine(keys)])
            if self.types.has_sets and not self.repeats_nodes:
                self.repeats_nodes = bool(repeats_node(chunk.nodes, self.types).any())
        every = torch.cat(parts)
        del parts
        return torch.unique(every)

    def num_possible(self) -> int:
        """Return the number of possible tuples, hyperedges or not."""
        return num_possible(self.types, self.sizes, repeats_nodes=self.repeats_nodes)

    def keys_of(self, nodes: Any) -> Any:
        """Return the key of each tuple; the order of a set's members does not matter."""
        return edge_keys(_sorted(nodes, self.types), self.sizes)

    def has(self, keys: Any, among: Any = None) -> Any:
        """Return a mask of the keys that are known, of the same array type.

        `among` is a mask of the keys to look up; results for the others are undefined.
        """
        return self._joined(self._mine(keys, among))

    def _joined(self, known: Any) -> Any:
        """Return what any worker knows; no key is known to two."""
        if self._group.talks and len(known):
            import torch

            marks = torch.from_numpy(known) if isinstance(known, np.ndarray) else known
            self._group.sum_(marks.view(torch.uint8))  # shares the memory of `known`
        return known

    def _mine(self, keys: Any, among: Any) -> Any:
        """Return a mask of the keys that this worker knows."""
        if isinstance(keys, np.ndarray):
            return self._has(keys, among)
        import torch

        if keys.device.type == "cpu":
            found = self._has(keys.numpy(), None if among is None else among.numpy())
            return torch.from_numpy(found)
        if not self._own:
            return keys != keys
        if keys.device not in self._on_device:
            self._on_device[keys.device] = torch.tensor(self.keys, device=keys.device)
        known = self._on_device[keys.device]
        place = torch.searchsorted(known, keys).clamp_(max=len(known) - 1)
        return known[place] == keys

    def refuses(self, nodes: Any, own: Any = None) -> Any:
        """Return which tuples are not negatives.

        These are known hyperedges, tuples that repeat a node where that is not allowed, and the
        positive itself. `own` holds the keys of the positives, each with the same number of
        consecutive tuples in `nodes`.
        """
        keys = self.keys_of(nodes)
        if own is None or not len(own):
            refused = self.has(keys)
        else:
            itself = (keys.reshape(len(own), -1) == own[:, None]).reshape(-1)
            refused = self.has(keys, among=~itself)
            refused |= itself
        if self.types.has_sets and not self.repeats_nodes:
            refused |= repeats_node(nodes, self.types)
        return refused

    def free_tuples(self, most: int) -> NodeArray | None:
        """Return all tuples that are not hyperedges, or None if there are too many to list.

        The list may have at most twice as many entries as there are known hyperedges, and `most`.
        """
        total = prod(self.sizes.tolist())
        orders = prod(factorial(len(group)) for group in self.types.groups)
        if total > max(most, 2 * orders * len(self)):
            return None
        known = np.zeros(total, dtype=bool)
        known[self.keys] = True
        parts = np.unravel_index(np.flatnonzero(~self._joined(known)), self.sizes.tolist())
        nodes: NodeArray = np.stack(parts, axis=1).astype(np.int64, copy=False)
        if self.types.has_sets:
            nodes = nodes[(_sorted(nodes, self.types) == nodes).all(axis=1)]
        if self.repeats_nodes or not self.types.has_sets:
            return nodes
        alone: NodeArray = nodes[~repeats_node(nodes, self.types)]
        return alone

    def _has(self, keys: NodeArray, among: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.bool_]:
        marks = self._marks[self._slots(keys)]
        found: npt.NDArray[np.bool_] = marks != 0
        if among is not None:
            found &= among
        ask = np.flatnonzero(found)
        if len(ask):
            found[ask] = False
            marks, asked = marks[ask], keys[ask]
            likely = (marks == _SEVERAL) | (marks == self._mark(asked))
            ask, asked = ask[likely], asked[likely]
            found[ask] = self.keys.take(np.searchsorted(self.keys, asked), mode="clip") == asked
        return found

    @cached_property
    def _marks(self) -> npt.NDArray[np.uint8]:
        table = np.zeros(1 << self._bits, dtype=np.uint8)
        slots, marks = self._slots(self.keys), self._mark(self.keys)
        table[slots] = marks
        table[slots[table[slots] != marks]] = _SEVERAL
        return table

    def _slots(self, keys: NodeArray) -> NodeArray:
        slots = keys.view(np.uint64) * _SPREAD
        slots >>= np.uint64(64 - self._bits)
        return slots.view(np.int64)

    def _mark(self, keys: NodeArray) -> npt.NDArray[np.uint8]:
        """Return 1 … 128, from bits of the hashed keys that the slots do not use."""
        spread = keys.view(np.uint64) * _SPREAD
        spread >>= np.uint64(64 - self._bits - 7)
        return (spread & np.uint64(127)).astype(np.uint8) + np.uint8(1)


class KnownEdges:
    """The hyperedges of one or several networks, with lookup of many tuples at once.

    Parameters
    ----------
    *networks : HyperNetwork
        Networks with the same node ids, such as the parts of a split.
    group : Group, optional
        The workers that divide the hyperedges among them; each passes the same networks.
    device : torch.device, optional
        Where the keys are sorted and kept, if tuples are looked up there; by default main memory.

    Examples
    --------
    >>> net = HyperNetwork.from_arrays({("user", "item"): [[0, 1], [1, 0], [1, 1]]})
    >>> train, test = net.split(1 / 3)
    >>> KnownEdges(train, test).contains([[0, 0], [1, 1]])
    array([False,  True])
    """

    def __init__(
        self, *networks: HyperNetwork, group: Group | None = None, device: Any = None
    ) -> None:
        if not networks:
            raise ParameterError("known edges need at least one network")
        self.network = networks[0]
        for other in networks[1:]:
            _check_same_nodes(self.network, other)
        self._indices: dict[EdgeType, EdgeIndex] = {}
        every = dict.fromkeys(t for n in networks for t in n.edge_types)
        for types in every:
            if any(tuple(t) == tuple(types) and t.has_sets != types.has_sets for t in every):
                raise InputError(
                    f"edges {tuple(types)!r} are ordered in one network, not in the other"
                )
            holding = [n for n in networks if types in n.edge_types]
            edge_sets = [n.edge_set(types) for n in holding]
            sizes = holding[0].position_sizes(types)
            self._indices[types] = EdgeIndex(edge_sets, sizes, group, device)

    def __len__(self) -> int:
        return sum(len(index) for index in self._indices.values())

    def __repr__(self) -> str:
        return f"KnownEdges({len(self):,} distinct hyperedges of {len(self._indices)} type(s))"

    @property
    def edge_types(self) -> tuple[EdgeType, ...]:
        """The edge types."""
        return tuple(self._indices)

    def index(self, edge_type: Sequence[str] | None = None) -> EdgeIndex:
        """Return the index of one edge type; the type may be omitted if there is only one."""
        return self._indices[find_edge_type(edge_type, self._indices)]

    def contains(self, nodes: Any, edge_type: Sequence[str] | None = None) -> Any:
        """Return which tuples are known hyperedges.

        Parameters
        ----------
        nodes : int64[m, N], an array or a torch tensor
            Unknown ids are in no hyperedge.
        edge_type : tuple of str, optional

        Returns
        -------
        bool[m], of the same array type
        """
        index = self.index(edge_type)
        if not hasattr(nodes, "device") or isinstance(nodes, np.ndarray):
            nodes = np.asarray(nodes, dtype=np.int64).reshape(-1, len(index.types))
        inside = (nodes[:, 0] >= 0) & (nodes[:, 0] < int(index.sizes[0]))
        for p in range(1, len(index.types)):
            inside &= (nodes[:, p] >= 0) & (nodes[:, p] < int(index.sizes[p]))
        return index.has(index.keys_of(nodes)) & inside


def _check_same_nodes(one: HyperNetwork, other: HyperNetwork) -> None:
    for t in one.node_types:
        if t in other.node_types and one.vocabulary(t) != other.vocabulary(t):
            raise ParameterError(
                f"the networks number their nodes of type {t!r} differently; "
                "merge them and take subsets, so that all use the same ids"
            )


def _sorted(nodes: Any, types: EdgeType) -> Any:
    """Return tuples with the ids of each set in ascending order, as an array or a tensor."""
    if not types.has_sets:
        return nodes
    columns = [nodes[:, p] for p in range(len(types))]
    for positions in types.groups:
        if len(positions) > 1:
            part = nodes[:, positions]
            part = np.sort(part, axis=1) if isinstance(part, np.ndarray) else part.sort(1).values
            for i, p in enumerate(positions):
                columns[p] = part[:, i]
    if isinstance(nodes, np.ndarray):
        return np.stack(columns, axis=1)
    import torch

    return torch.stack(columns, dim=1)
