"""Request and response types of the routes, from which the API's description is made."""

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
    """A request body without unknown fields."""

    model_config = ConfigDict(extra="forbid")


class TupleQuestion(Strict):
    """A complete tuple."""

    edge_type: int = Field(0, ge=0, description="The number of the edge type in /api/types.")
    names: list[NameText] = Field(
        min_length=2, max_length=MAX_LENGTH, description="The names, one per position."
    )


class RankQuestion(Strict):
    """A tuple with one or two open positions."""

    edge_type: int = Field(0, ge=0, description="The number of the edge type in /api/types.")
    names: list[NameText | None] = Field(
        min_length=2, max_length=MAX_LENGTH, description="The names; null leaves a position open."
    )
    k: int = Field(10, ge=1, le=MAX_K, description="The number of completions.")
    known: Literal["keep", "drop"] = Field(
        "keep", description="Whether known hyperedges are kept in the answer."
    )


class Node(BaseModel):
    """A node: type, id and name, which is always text."""

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
    """An edge type; its number is its index in the list."""

    types: list[str]
    ordered: bool
    hyperedges: int


class Types(BaseModel):
    """The node types and edge types of the network."""

    node_types: list[NodeType]
    edge_types: list[EdgeTypeInfo]


class Run(BaseModel):
    """The run: its settings and size."""

    name: str
    method: str
    version: str
    settings: dict[str, Any]
    params: dict[str, Any]
    nodes: int
    hyperedges: int
    epochs: int
    source: dict[str, Any] | None = Field(description="What it was trained on, if recorded.")
    saved: float | None = Field(description="Time of saving, in seconds since 1970.")
    seconds: float | None = Field(description="Duration of all epochs.")


class History(BaseModel):
    """One record per epoch, and the measures in the records."""

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
    """A two-dimensional layout and its state."""

    layout: Literal["pca", "umap"]
    state: Literal["ready", "computing", "not computed", "failed", "not available"]
    reason: str = Field(description="Why it is not available.")
    stage: str = Field(description="The current step of the computation.")
    progress: float | None = Field(description="The share of that step that is done.")


class LabelClass(BaseModel):
    """A label and the number of nodes that have it."""

    name: str
    nodes: int


class MapInfo(BaseModel):
    """What the map of a node type can show."""

    type: str
    nodes: int
    layouts: list[LayoutInfo]
    smallest_degree: int
    largest_degree: int
    labels: list[LabelClass] | None = Field(
        description="The commonest; a label's index is its code."
    )
    more_labels: int


class Found(BaseModel):
    """Nodes whose name contains a text; `total` includes those not listed."""

    total: int
    nodes: list[Node]


class Neighbourhood(BaseModel):
    """How many neighbours of one type a node has."""

    type: str
    nodes: int


class NodeEdges(BaseModel):
    """How many hyperedges of a type a node is in."""

    edge_type: int
    hyperedges: int


class NodePage(BaseModel):
    """A node with its labels and counts."""

    node: Node
    labels: list[str]
    degree: int
    neighbours: list[Neighbourhood]
    hyperedges: list[NodeEdges]


class Neighbour(BaseModel):
    """A neighbour and the number of shared hyperedges."""

    node: Node
    hyperedges: int


class Neighbours(BaseModel):
    """One page of a node's neighbours, most frequent first."""

    total: int
    neighbours: list[Neighbour]


class ScoredEdge(BaseModel):
    """A hyperedge with its similarity."""

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
    """The similarity of a tuple, and whether it is a known hyperedge."""

    nodes: list[Node]
    similarity: float
    known: bool


class Completion(BaseModel):
    """A completed tuple."""

    nodes: list[Node]
    similarity: float
    known: bool


class Ranked(BaseModel):
    """Completions, best first; `open` lists the open positions."""

    open: list[int]
    answers: list[Completion]


class SelectionQuestion(Strict):
    """Nodes of one type, by their ids."""

    type: NameText
    ids: list[Annotated[int, Field(ge=0, lt=2**62)]] = Field(
        min_length=1, max_length=MAX_SELECTED, description="Their ids."
    )


class SharedLabel(BaseModel):
    """A label with its counts among the selected nodes and among all."""

    name: str
    selected: int
    all: int


class SharedNode(BaseModel):
    """A neighbour with the number of selected nodes, and of all nodes, that meet it."""

    node: Node
    selected: int
    all: int


class SharedNodes(BaseModel):
    """The nodes of one type that distinguish a selection, most distinctive first."""

    type: str
    nodes: list[SharedNode]


class Selection(BaseModel):
    """What a selection of nodes has in common."""

    nodes: int
    labels: list[SharedLabel]
    shared: list[SharedNodes]


class Compared(BaseModel):
    """One of the two compared nodes."""

    node: Node
    labels: list[str]
    degree: int
    place: int | None = Field(
        description="Its rank among the other's nearest nodes; null if the types differ."
    )


class CommonNeighbours(BaseModel):
    """The neighbours of two nodes, of one type: common ones, and those of one node only."""

    type: str
    common: int
    only: list[int] = Field(
        description="How many belong to the first only, and to the second only."
    )
    nodes: list[Node] = Field(description="Common neighbours, the most frequent first, up to 10.")


class Comparison(BaseModel):
    """The comparison of two nodes."""

    nodes: list[Compared]
    cosine: float | None = Field(description="Null if the types differ.")
    neighbours: list[CommonNeighbours]
    together: list[NodeEdges] = Field(description="How many hyperedges contain both.")


class Problem(BaseModel):
    """What was wrong with a request."""

    detail: str
