"""Products of per-node vectors, which can distinguish nodes with the same neighbours.

Each node v has a vector x_v of its own, each role a matrix Q. A tuple (v_1, …, v_N) gets

    ρ = Σ_k u_k Π_i (1 + x_{v_i} Q_i)_k  +  its place evidence  −  m,

with the evidence of `dhne.model.place_evidence`, and m the edge type's mean, which ranking does
not determine (see `center`). The product is over all positions but the context; u is the context's
own vector (the relation's), or one vector per edge type if there is no context. The constant 1 lets
the product include every lower-order interaction, and keeps short and long tuples on one scale; a
node without a vector, x = 0, simply drops out. Scoring all candidates c of an open position p is
one matrix product:

    q_p = u Π_{i ≠ p} (1 + x_i Q_i),     ρ(c) = Σ_k q_{p,k} + (q_p Q_pᵀ) · x_c.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from dhne.kernels.products import Rows
from dhne.network.edges import EdgeType
from dhne.network.hypernetwork import HyperNetwork

from .module_names import module_name
from .place_evidence import LONGEST, PlaceEvidence

_CONTEXTS = 512  # maximum number of nodes of a context type


class Products(nn.Module):
    """ρ of the tuples of a network.

    Parameters
    ----------
    network : HyperNetwork
        The training network; its counts are the place evidence.
    dim : int
        The size of the own vectors.
    context : str or None
        The node type whose vectors scale the product, such as a relation.
    """

    def __init__(self, network: HyperNetwork, dim: int, context: str | None) -> None:
        super().__init__()
        self.dim, self.context = dim, context
        self.evidence = PlaceEvidence(network, context)
        self.sizes = {t: network.num_nodes(t) for t in network.node_types}
        self.vectors = nn.ParameterDict(  # x
            {module_name(t): nn.Parameter(torch.empty(n, dim)) for t, n in self.sizes.items()}
        )
        self.maps = nn.ParameterDict()  # Q
        self.scales = nn.ParameterDict()  # u, where there is no context
        for edge_type in network.edge_types:
            if len(edge_type) > LONGEST:
                continue
            at = self.evidence.context_position(edge_type)
            for p in range(len(edge_type)):
                if p != at and _role(edge_type, p) not in self.maps:
                    self.maps[_role(edge_type, p)] = nn.Parameter(torch.empty(dim, dim))
            if at is None:
                self.scales[_family(edge_type)] = nn.Parameter(torch.empty(dim))
        self._types = {edge_type: k for k, edge_type in enumerate(network.edge_types)}
        self.means: Tensor
        self.register_buffer("means", torch.zeros(len(self._types)))  # m

    def reset(self, generator: torch.Generator) -> None:
        """Draw the weights: short vectors, length-preserving matrices, no evidence."""
        with torch.no_grad():
            for x in (*self.vectors.values(), *self.scales.values()):
                x.normal_(0, 0.1, generator=generator)
            for q in self.maps.values():
                q.normal_(0, self.dim**-0.5, generator=generator)
            self.means.zero_()
            self.evidence.weights.zero_()

    def center(self, means: Mapping[EdgeType, float]) -> None:
        """Subtract a mean of ρ per edge type, so that tuples of different types compare."""
        for edge_type, mean in means.items():
            if self.covers(edge_type):
                self.means[self._types[edge_type]] += mean

    def copy_weights(self, old: Products) -> None:
        """Start from the products of a smaller network; nodes keep their ids.

        What is new in this network keeps its drawn weights.
        """
        if self.dim != old.dim or self.context != old.context:
            return
        with torch.no_grad():
            for mine, theirs in (
                (self.vectors, old.vectors),
                (self.maps, old.maps),
                (self.scales, old.scales),
            ):
                for name, weights in theirs.items():
                    mine[name][: len(weights)].copy_(weights)
            for edge_type, k in old._types.items():
                self.means[self._types[edge_type]] = old.means[k]
            self.evidence.copy_weights(old.evidence)

    def covers(self, edge_type: EdgeType) -> bool:
        """Whether tuples of this type have a product."""
        at = self.evidence.context_position(edge_type)
        roles = {_role(edge_type, p) for p in range(len(edge_type)) if p != at}
        known = at is not None or _family(edge_type) in self.scales
        return len(edge_type) <= LONGEST and known and all(role in self.maps for role in roles)

    def matrix(self, edge_type: EdgeType, position: int) -> Tensor:
        """Return the Q of a position."""
        q: Tensor = self.maps[_role(edge_type, position)]
        return q

    def factor(self, own: Tensor, edge_type: EdgeType, position: int) -> Tensor:
        """Return 1 + x Q of nodes at a position, given their vectors ``own: float[m, dim]``."""
        factor: Tensor = 1 + own @ self.matrix(edge_type, position)
        return factor

    def query(self, product: Tensor, edge_type: EdgeType, position: int) -> Tensor:
        """Return z of an open position: ρ of its candidates differs by z · x_c.

        `product` is over all other positions, without u if the context is open.
        """
        if position == self.evidence.context_position(edge_type):
            return product
        z: Tensor = product @ self.matrix(edge_type, position).T
        return z

    def scale_rows(self, nodes: Tensor, edge_type: EdgeType, position: int) -> Rows:
        """Return the rows of u for queries about a position; ones if the context is open."""
        at = self.evidence.context_position(edge_type)
        if at is not None and at != position:
            return Rows(self.vectors_of(edge_type[at]), nodes[:, at])
        u = (
            nodes.new_ones(self.dim, dtype=self.evidence.weights.dtype)
            if at is not None
            else (self.scales[_family(edge_type)])
        )
        return Rows(u[None], torch.zeros_like(nodes[:, 0]))

    def scale(self, nodes: Tensor, edge_type: EdgeType) -> Tensor:
        """Return u of tuples: their contexts' vectors, or the edge type's vector."""
        at = self.evidence.context_position(edge_type)
        if at is not None:
            return self._own(nodes, edge_type, at)
        u: Tensor = self.scales[_family(edge_type)]
        return u

    def product(self, nodes: Tensor, edge_type: EdgeType, left_out: int | None) -> Tensor:
        """Return u Π_i (1 + x_i Q_i) over all positions but one, ``float[m, dim]``."""
        at = self.evidence.context_position(edge_type)
        total = self.vectors_of(edge_type[0]).new_ones(len(nodes), self.dim)
        for p in range(len(edge_type)):
            if p not in (at, left_out):
                total = total * self.factor(self._own(nodes, edge_type, p), edge_type, p)
        if at is None or at != left_out:
            total = total * self.scale(nodes, edge_type)
        return total

    def _own(self, nodes: Tensor, edge_type: EdgeType, position: int) -> Tensor:
        """Return the vectors of the nodes at a position; 0 for nodes without one."""
        x, ids = self.vectors_of(edge_type[position]), nodes[:, position]
        known = (ids < len(x)) & (ids >= 0)
        return functional.embedding(torch.where(known, ids, 0), x) * known[:, None]

    def vectors_of(self, node_type: str) -> Tensor:
        """Return the own vectors of all nodes of a type."""
        vectors: Tensor = self.vectors[module_name(node_type)]
        return vectors

    # -- answers ---------------------------------------------------------------------------------

    def logits(self, nodes: Tensor, edge_type: EdgeType) -> Tensor:
        """Return ρ of whole tuples ``int64[m, N]``."""
        with torch.no_grad():
            inside = self._inside(nodes, edge_type)
            known = torch.where(inside, nodes, 0)
            whole = self.product(torch.where(inside, nodes, -1), edge_type, None).sum(1)
            evidence = self.evidence.of_tuples(known, edge_type)
            return whole + torch.where(inside.all(1), evidence, 0) - self._mean(edge_type)

    def open_logits(self, nodes: Tensor, edge_type: EdgeType, position: int) -> Tensor:
        """Return ``float[m, n]``: ρ of each tuple with every node at `position`."""
        with torch.no_grad():
            n = self.sizes[edge_type[position]]
            if position == self.evidence.context_position(edge_type):  # it changes every place pair
                tuples = nodes.repeat_interleave(n, dim=0)
                tuples[:, position] = torch.arange(n, device=nodes.device).repeat(len(nodes))
                return self.logits(tuples, edge_type).reshape(len(nodes), n)
            q = self.product(nodes, edge_type, position)
            out = self.query(q, edge_type, position) @ self.vectors_of(edge_type[position]).T
            out += q.sum(1, keepdim=True) - self._mean(edge_type)
            inside = self._inside(nodes, edge_type)
            inside[:, position] = True
            safe, column = torch.where(inside, nodes, 0), torch.arange(n, device=nodes.device)
            beside = self.evidence.beside(safe, edge_type, position)
            evidence = self.evidence.of_candidates(beside, column, (len(nodes), n))
            evidence += self.evidence.of_tuples(safe, edge_type, position)[:, None]
            return out + torch.where(inside.all(1)[:, None], evidence, 0)

    def _mean(self, edge_type: EdgeType) -> Tensor:
        at = self._types.get(edge_type)
        return self.means.new_zeros(()) if at is None else self.means[at]

    def _inside(self, nodes: Tensor, edge_type: EdgeType) -> Tensor:
        sizes = torch.tensor([self.sizes[t] for t in edge_type], device=nodes.device)
        return (nodes >= 0) & (nodes < sizes)


def choose_context(network: HyperNetwork) -> str | None:
    """Return the context type: the smallest node type, if it qualifies.

    A context is in every edge type exactly once and has at most 512 nodes, and every other type has
    at least twice as many.

    Examples
    --------
    >>> facts = [("a", "likes", "b"), ("b", "likes", "c"), ("c", "knows", "d")]
    >>> network = HyperNetwork.from_tuples(facts, ("person", "relation", "person"))
    >>> choose_context(network)
    'relation'
    """
    sizes: Mapping[str, int] = {t: network.num_nodes(t) for t in network.node_types}
    fitting = [
        t
        for t, n in sizes.items()
        if n <= _CONTEXTS and all(r.count(t) == 1 for r in network.edge_types)
    ]
    smallest = min(fitting, key=lambda t: sizes[t], default=None)
    if smallest is None or any(sizes[t] < 2 * sizes[smallest] for t in sizes if t != smallest):
        return None
    return smallest


def suits_products(network: HyperNetwork) -> bool:
    """Whether "plus" adds products: a node type fills several positions.

    Counts do not say at which of them a node was. Elsewhere the similarity ranks about as well
    alone. Sets, and hyperedges longer than place evidence allows, have no products.

    Examples
    --------
    >>> tags = HyperNetwork.from_tuples([("ann", "Heat", "heist")], ("user", "movie", "tag"))
    >>> links = HyperNetwork.from_tuples([("a", "b")], ("page", "page"))
    >>> suits_products(tags), suits_products(links)
    (False, True)
    """
    types = network.edge_types
    if any(t.has_sets or len(t) > LONGEST for t in types):
        return False
    return any(len(set(t)) < len(t) for t in types)


def _role(edge_type: EdgeType, position: int) -> str:
    return f"{module_name(edge_type[position])} {module_name(edge_type.roles[position])}"


def _family(edge_type: EdgeType) -> str:
    return " ".join(f"{module_name(t)}/{module_name(role)}" for t, role, _ in edge_type.key)
