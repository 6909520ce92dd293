"""`Similarity`: from the embeddings of a tuple's nodes to its logit.

Every similarity works in three steps, so that no work is done twice:

1. *Project* each distinct node once per slot it fills: ``project(x, slot)``.
   Interchangeable positions share a slot.
2. *Combine* the projections of a tuple's nodes, for example by their sum or product.
3. *Finish*: compute the logit from the combination, and from evidence if the similarity uses it.

``combine`` does steps 2 and 3 for whole tuples. For an open position, ``fixed`` combines the given
nodes, and ``open_logits`` completes them with all candidates; ``logits_with_evidence`` does so at a
lower cost where evidence is mostly implied. A similarity that can order candidates faster than
``open_logits`` offers a :class:`QuickForm`.

S = sigmoid(logit).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from dhne.kernels import Kernels
from dhne.model.open_evidence import OpenEvidence
from dhne.network.edges import EdgeType, NodeArray

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class SimilarityShape:
    """The inputs and sizes of a similarity.

    Attributes
    ----------
    edge_type : EdgeType
    sizes : mapping of node type to embedding size
    hidden : sizes of hidden layers; empty to let the similarity choose
    activation : name of σ
    num_features : int
        Number of evidence features per tuple; 0 without evidence.
    """

    edge_type: EdgeType
    sizes: Mapping[str, int]
    hidden: tuple[int, ...] = ()
    activation: str = "tanh"
    num_features: int = 0


@dataclass(frozen=True)
class Members:
    """The members of tuples of one family, concatenated.

    Attributes
    ----------
    family : EdgeType
    index : int64[members]
        Each member's row among the embeddings of its role.
    slots : int64[members]
        The index of each member's role.
    begins : int64[m + 1]
    """

    family: EdgeType
    index: Tensor
    slots: Tensor
    begins: Tensor


class QuickForm(Protocol):
    """A fast way to order the candidates of one open position.

    Attributes
    ----------
    error : float
        A bound on the error of `values` relative to the logits.
    """

    error: float

    def questions(self, fixed: Tensor) -> Floats | None:
        """Return ``[m, h]``, the fixed part of each query in the form that `values` takes.

        None if a query does not have this form.
        """

    def values(self, questions: Floats, at: NodeArray | None = None) -> Floats:
        """Return ``[m, n]``, the logits of all candidates up to `error`.

        `at` selects candidates: the same for all queries (``[n]``), or per query (``[m, n]``).
        """


class Similarity(nn.Module, ABC):
    """The logit of tuples of one edge type, or of sets of every size.

    Derived classes take a `SimilarityShape` as their only argument.
    """

    def __init__(self, shape: SimilarityShape) -> None:
        super().__init__()
        self.shape = shape

    @property
    @abstractmethod
    def width(self) -> int:
        """The size of a projected node."""

    @property
    def uses_evidence(self) -> bool:
        """Whether the logit depends on a tuple's evidence."""
        return self.shape.num_features > 0

    @property
    def has_quick_form(self) -> bool:
        """Whether `quick_form` returns one, if the candidates allow it."""
        return False

    @abstractmethod
    def reset(self, generator: torch.Generator) -> None:
        """Redraw the weights; the generator is on their device, where training draws them."""

    @abstractmethod
    def project(self, x: Tensor, slot: int) -> Tensor:
        """Return ``float[n, width]``: the projections of nodes ``x: float[n, d]`` into a slot."""

    @abstractmethod
    def combine(
        self, kernels: Kernels, parts: Sequence[Tensor], index: Tensor, evidence: Tensor | None
    ) -> Tensor:
        """Return ``float[m]``: the logits of tuples with already projected nodes.

        Parameters
        ----------
        parts : one ``float[n, width]`` per position
        index : int64[m, N]
            The node at position p of tuple i is row ``index[i, p]`` of ``parts[p]``.
        evidence : float[m, features], optional
        """

    @abstractmethod
    def fixed(self, parts: Sequence[Tensor], index: Tensor) -> Tensor:
        """Return ``float[m, width]``: the combined nodes of all positions but the open one.

        Arguments are those of `combine`, without the open position.
        """

    @abstractmethod
    def open_logits(self, fixed: Tensor, candidates: Tensor, evidence: Tensor | None) -> Tensor:
        """Return ``float[m, n]``: the logits of each query with every candidate.

        Parameters
        ----------
        fixed : float[m, width]
            The result of `fixed`.
        candidates : float[n, width]
            Projected into the slot of the open position.
        evidence : float[m, n, features], optional
        """

    def logits_with_evidence(
        self, fixed: Tensor, candidates: Tensor, evidence: OpenEvidence
    ) -> Tensor:
        """Return `open_logits` with evidence that is mostly implied.

        The default spells it out.
        """
        return self.open_logits(fixed, candidates, evidence.dense())

    def quick_form(self, candidates: Tensor) -> QuickForm | None:
        """Return a faster way than `open_logits` to order these candidates, if there is one."""
        return None

    def logits(
        self,
        kernels: Kernels,
        x: Sequence[Tensor],
        index: Tensor,
        edge_type: EdgeType,
        evidence: Tensor | None = None,
    ) -> Tensor:
        """Return the logits of tuples whose node at position p is row ``index[:, p]`` of `x[p]`."""
        projected: dict[tuple[int, str], Tensor] = {}
        parts = []
        for position, node_type in enumerate(edge_type):
            slot = edge_type.slots[position]
            if (slot, node_type) not in projected:
                projected[slot, node_type] = self.project(x[position], slot)
            parts.append(projected[slot, node_type])
        return self.combine(kernels, parts, index, evidence)

    def family_logits(
        self, kernels: Kernels, x: Sequence[Tensor], members: Members, evidence: Tensor | None
    ) -> Tensor:
        """Return the logits of tuples of any size, with the embeddings of each role in `x`.

        The default goes size by size; a similarity that sums over members can do all at once.
        """
        m, device = len(members.begins) - 1, members.index.device
        sizes = torch.zeros(m, len(x), dtype=torch.int64, device=device)
        tuple_of = torch.arange(m, device=device).repeat_interleave(members.begins.diff())
        sizes.index_put_((tuple_of, members.slots), torch.ones_like(members.slots), accumulate=True)
        parts = [self.project(e, slot) for slot, e in enumerate(x)]
        found = parts[0].new_zeros(m)
        for form in torch.unique(sizes, dim=0):
            rows = (sizes == form).all(dim=1).nonzero()[:, 0]
            where = members.begins[rows][:, None] + torch.arange(int(form.sum()), device=device)
            by_role = members.slots[where].argsort(dim=1, stable=True)
            index = members.index[where].gather(1, by_role)
            columns = [parts[slot] for slot, n in enumerate(form.tolist()) for _ in range(n)]
            known = None if evidence is None else evidence[rows]
            found = found.index_put((rows,), self.combine(kernels, columns, index, known))
        return found


def glorot_uniform(weight: Tensor, fan: int, generator: torch.Generator) -> None:
    """Draw weights uniformly from ±√(6 / fan)."""
    bound = math.sqrt(6 / fan)
    with torch.no_grad():
        weight.uniform_(-bound, bound, generator=generator)
