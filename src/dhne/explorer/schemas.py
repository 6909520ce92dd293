"""What the routes take and give, as types; the API's description is made from these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_K = 1000
MAX_LENGTH = 64  # positions of a tuple
MAX_NAME = 4096  # characters of a name
MAX_PAGE = 200
MAX_SELECTED = 100_000

NameText = Annotated[str, Field(max_length=MAX_NAME)]


class Strict(BaseModel):
    """A body in which nothing unknown may stand."""

    model_config = ConfigDict(extra="forbid")


class TupleQuestion(Strict):
    """A whole tuple."""

    edge_type: int = Field(0, ge=0, description="The number of the edge type in /api/types.")
    names: list[NameText] = Field(
        min_length=2, max_length=MAX_LENGTH, description="The names, one a position."
    )


class RankQuestion(Strict):
    """A tuple with one or two open positions."""

    edge_type: int = Field(0, ge=0, description="The number of the edge type in /api/types.")
    names: list[NameText | None] = Field(
        min_length=2, max_length=MAX_LENGTH, description="The names; null leaves a position open."
    )
    k: int = Field(10, ge=1, le=MAX_K, description="How many completions to give.")
    known: Literal["keep", "drop"] = Field(
        "keep", description="Whether hyperedges that the run was trained on are kept."
    )


class Node(BaseModel):
    """A node: its type, its id and its name, which is always text."""

    type: str
    id: int
    name: str


class NodeType(BaseModel):
    """A node type."""

    type: str
    nodes: int
    dimensions: int
    labelled: bool


class EdgeTypeInfo(BaseModel):
    """An edge type; its number is its place in the list."""

    types: list[str]
    ordered: bool
    hyperedges: int


class Types(BaseModel):
    """What there is in the network."""

    node_types: list[NodeType]
    edge_types: list[EdgeTypeInfo]


class Run(BaseModel):
    """The run: how it was made, and how large it is."""

    name: str
    method: str
    version: str
    settings: dict[str, Any]
    params: dict[str, Any]
    nodes: int
    hyperedges: int
    epochs: int
    source: dict[str, Any] | None = Field(description="What it was trained on, where it says so.")
    saved: float | None = Field(description="When it was saved, in seconds since 1970.")
    seconds: float | None = Field(description="How long its epochs took together.")


class History(BaseModel):
    """A record an epoch, and which measures the records have."""

    measures: list[str]
    records: list[dict[str, float | int | str | bool | None]]


class ReliabilityBin(BaseModel):
    """Tuples of similar probability, and the share of them that are hyperedges."""

    predicted: float
    observed: float
    tuples: int


class Reliability(BaseModel):
    """How well the probabilities fit held-out hyperedges and their negatives."""

    negatives: float = Field(description="Negatives per hyperedge.")
    held_out: int = Field(description="Held-out hyperedges; 0 if there were none.")
    error: float | None = Field(description="The expected calibration error.")
    bins: list[ReliabilityBin]


class LayoutInfo(BaseModel):
    """A way into the plane, and whether it can be had."""

    layout: Literal["pca", "umap"]
    state: Literal["ready", "computing", "not computed", "failed", "not available"]
    reason: str = Field(description="Why it is not available.")
    stage: str = Field(description="What is being done while it is computed.")
    progress: float | None = Field(description="Which share of that stage is done.")


class LabelClass(BaseModel):
    """A label and how many nodes have it."""

    name: str
    nodes: int


class MapInfo(BaseModel):
    """What the map of a node type can show."""

    type: str
    nodes: int
    layouts: list[LayoutInfo]
    smallest_degree: int
    largest_degree: int
    labels: list[LabelClass] | None = Field(description="The commonest; their place is their code.")
    more_labels: int


class Found(BaseModel):
    """Nodes whose name holds a text; `total` counts those that are not listed too."""

    total: int
    nodes: list[Node]


class Neighbourhood(BaseModel):
    """How many nodes of a type stand in hyperedges with a node."""

    type: str
    nodes: int


class NodeEdges(BaseModel):
    """How many hyperedges of a type a node is in."""

    edge_type: int
    hyperedges: int


class NodePage(BaseModel):
    """A node, and what there is to see of it."""

    node: Node
    labels: list[str]
    degree: int
    neighbours: list[Neighbourhood]
    hyperedges: list[NodeEdges]


class Neighbour(BaseModel):
    """A node and in how many hyperedges it stands with another."""

    node: Node
    hyperedges: int


class Neighbours(BaseModel):
    """One page of a node's neighbours, most frequent first."""

    total: int
    neighbours: list[Neighbour]


class ScoredEdge(BaseModel):
    """A hyperedge with the similarity that the model gives it."""

    nodes: list[Node]
    weight: float
    similarity: float


class Hyperedges(BaseModel):
    """One page of a node's hyperedges."""

    total: int
    order: Literal["best", "worst", "stored"]
    hyperedges: list[ScoredEdge]


class SimilarNode(BaseModel):
    """A node and the cosine of its embedding with another's."""

    node: Node
    cosine: float


class Similar(BaseModel):
    """The nearest nodes, nearest first."""

    node: Node
    answers: list[SimilarNode]


class Score(BaseModel):
    """A tuple's similarity, and whether it is a hyperedge that the run was trained on."""

    nodes: list[Node]
    similarity: float
    known: bool


class Completion(BaseModel):
    """A completed tuple."""

    nodes: list[Node]
    similarity: float
    known: bool


class Ranked(BaseModel):
    """Completions, best first; `open` are the positions that were open."""

    open: list[int]
    answers: list[Completion]


class SelectionQuestion(Strict):
    """Nodes of one type, by their ids."""

    type: NameText
    ids: list[Annotated[int, Field(ge=0, lt=2**62)]] = Field(
        min_length=1, max_length=MAX_SELECTED, description="Their ids."
    )


class SharedLabel(BaseModel):
    """A label, how many of the selected nodes have it, and how many of all."""

    name: str
    selected: int
    all: int


class SharedNode(BaseModel):
    """A node that selected ones stand with: how many of them, and how many of all of their type."""

    node: Node
    selected: int
    all: int


class SharedNodes(BaseModel):
    """The nodes of one type that distinguish a selection, most distinguishing first."""

    type: str
    nodes: list[SharedNode]


class Selection(BaseModel):
    """What a selection of nodes has in common."""

    nodes: int
    labels: list[SharedLabel]
    shared: list[SharedNodes]


class Compared(BaseModel):
    """One of two nodes that are compared."""

    node: Node
    labels: list[str]
    degree: int
    place: int | None = Field(
        description="Its place among the nodes nearest to the other; none if the types differ."
    )


class CommonNeighbours(BaseModel):
    """The neighbours of two nodes, of one type: in common, and of one of them only."""

    type: str
    common: int
    only: list[int] = Field(description="How many only the first has, and only the second.")
    nodes: list[Node] = Field(description="Those in common, the most frequent first, up to 10.")


class Comparison(BaseModel):
    """Two nodes beside each other."""

    nodes: list[Compared]
    cosine: float | None = Field(description="None if the types differ.")
    neighbours: list[CommonNeighbours]
    together: list[NodeEdges] = Field(description="How many hyperedges hold both.")


class Problem(BaseModel):
    """What was wrong with a request, in words."""

    detail: str
