"""Methods by name: the one list of what can be compared, and how each is made, called and drawn.

`METHODS` holds DHNE and the baselines. `register` adds a method of your own, which then can be
evaluated by its name like the others::

    register(Method("popularity", Popularity, title="Popularity"))
    evaluate("link-prediction", network, "popularity")

The class of a method is named by its path, so that its module is imported only when it is used.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dhne.errors import ParameterError, UnknownNameError
from dhne.hyperparameters import Parameter

if TYPE_CHECKING:
    from dhne.embedder import Embedder

PAIR_AGGREGATES = ("mean", "min")


@dataclass(frozen=True)
class Look:
    """How a method's line looks in a picture."""

    colour: str = "#999999"
    marker: str = "."
    dash: Any = ":"
    width: float = 1.6


@dataclass(frozen=True)
class Method:
    """A method that can be evaluated.

    Attributes
    ----------
    name : str
        What commands and records call it.
    source : type of Embedder, or str
        The class, or its path ``module:Class``.
    title : str
        What tables and pictures call it; the name if left out.
    params : mapping
        Arguments of the class that make this method of it.
    aggregates : tuple of str
        Those of the class (see `Embedder.aggregates`), known without importing it.
    embeds : bool
        Whether its embeddings are learned, so that nodes can be classified by them.
    look : Look
    seconds : (float, float, float)
        Roughly what a fit takes on one core: seconds, and milliseconds per hyperedge and per node.
    """

    name: str
    source: type[Embedder] | str
    title: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    aggregates: tuple[str, ...] = ()
    embeds: bool = True
    look: Look = field(default_factory=Look)
    seconds: tuple[float, float, float] = (1.0, 0.5, 0.0)

    def __post_init__(self) -> None:
        if not self.title:
            object.__setattr__(self, "title", self.name)
        if isinstance(self.source, type):
            object.__setattr__(self, "aggregates", self.source.aggregates)

    def load_class(self) -> type[Embedder]:
        """Return the class; its module is imported only now."""
        if isinstance(self.source, type):
            return self.source
        module, _, attribute = self.source.partition(":")
        found: type[Embedder] = getattr(import_module(module), attribute)
        return found


METHODS: dict[str, Method] = {}


def register(method: Method) -> None:
    """Add a method, so that it can be evaluated by its name."""
    if method.name in METHODS:
        raise ParameterError(f"there is already a method {method.name!r}; choose another name")
    METHODS[method.name] = method


def unregister(name: str) -> None:
    """Remove a method."""
    del METHODS[find_method(name).name]


def find_method(name: str) -> Method:
    """Return the method of a name.

    Examples
    --------
    >>> find_method("line").title
    'LINE'
    >>> find_method("dhne-pluss")
    Traceback (most recent call last):
    ...
    dhne.errors.UnknownNameError: unknown method 'dhne-pluss': did you mean 'dhne-plus'?
    """
    if name not in METHODS:
        raise UnknownNameError("method", name, METHODS)
    return METHODS[name]


def make_method(
    name: str,
    *,
    seed: int = 0,
    dim: int | None = None,
    device: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Embedder:
    """Return an unfitted method.

    Parameters
    ----------
    name : str
        One of `METHODS`.
    seed : int
    dim : int, optional
        Embedding size; ignored by methods that have none.
    device : str, optional
        Ignored by methods that run on the CPU only.
    settings : mapping, optional
        Hyper-parameters by name; one that the method does not have raises, as does a value
        outside of its declared range.

    Examples
    --------
    >>> make_method("line", dim=32, seed=1)
    LINE(dim=32, random_state=1)
    """
    method = find_method(name)
    cls = method.load_class()
    accepted, declared = set(cls._get_param_names()), cls.declared_parameters()
    params: dict[str, Any] = dict(method.params)
    common = {"dim": dim, "device": device}
    params |= {k: v for k, v in common.items() if v is not None and k in accepted}
    for key, value in (settings or {}).items():
        if key not in accepted:
            raise UnknownNameError(f"setting of {name}", key, sorted(accepted))
        params[key] = value
    if "random_state" in accepted:
        params.setdefault("random_state", seed)
    for key, value in params.items():
        if key in declared and value is not None:
            declared[key].check(value)
    return cls(**params)


def parse_settings(
    pairs: Iterable[str], declared: Mapping[str, Parameter] | None = None
) -> dict[str, Any]:
    """Return ``key=value`` texts as a mapping.

    A value is read by its declaration; where there is none, as JSON if it is JSON.

    Examples
    --------
    >>> parse_settings(["alpha=0.1", "optimizer=adam", "batch_size=null"])
    {'alpha': 0.1, 'optimizer': 'adam', 'batch_size': None}
    >>> from dhne.hyperparameters import PARAMETERS
    >>> parse_settings(["hidden=192,64", "dim=user=8,tag=4"], PARAMETERS)
    {'hidden': [192, 64], 'dim': {'user': 8, 'tag': 4}}
    """
    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = (part.strip() for part in pair.partition("="))
        if not equals or not key:
            raise ParameterError(f"write a setting as key=value, not {pair!r}")
        found[key] = _value(text, (declared or {}).get(key))
    return found


def _value(text: str, declaration: Parameter | None) -> Any:
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError, ValueError):
        value = {"True": True, "False": False, "None": None}.get(text, text)
    if declaration is None or value is None:
        return value
    if isinstance(value, dict | list | bool):  # its kind is beyond doubt
        declaration.check(value)
        return value
    return declaration.parse(text)


_DHNE = "dhne.estimator:DHNE"

# In the order of the paper's tables; what the paper does not have follows.
for _method in (
    Method(
        "dhne",
        _DHNE,
        title="DHNE",
        look=Look("#D55E00", "o", "-", width=2.4),
        seconds=(3.0, 0.8, 0.0),
    ),
    Method(
        "deepwalk",
        "dhne.baselines.deepwalk:DeepWalk",
        title="DeepWalk",
        aggregates=PAIR_AGGREGATES,
        look=Look("#56B4E9", "v", (0, (4, 1.5))),
        seconds=(0.5, 0.0, 2.6),
    ),
    Method(
        "line",
        "dhne.baselines.line:LINE",
        title="LINE",
        aggregates=PAIR_AGGREGATES,
        look=Look("#009E73", "s", (0, (1, 1))),
        seconds=(0.5, 0.3, 0.0),
    ),
    Method(
        "node2vec",
        "dhne.baselines.node2vec:Node2Vec",
        aggregates=PAIR_AGGREGATES,
        look=Look("#0072B2", "^", (0, (5, 1, 1, 1))),
        seconds=(0.5, 0.0, 5.2),
    ),
    Method(
        "she",
        "dhne.baselines.she:SHE",
        title="SHE",
        aggregates=PAIR_AGGREGATES,
        look=Look("#E69F00", "D", (0, (6, 2))),
        seconds=(0.1, 0.2, 0.1),
    ),
    Method(
        "tensor",
        "dhne.baselines.tensor:TensorDecomposition",
        title="Tensor",
        look=Look("#8C8C8C", "P", (0, (3, 1, 1, 1, 1, 1))),
        seconds=(0.5, 0.6, 0.0),
    ),
    Method(
        "hebe",
        "dhne.baselines.hebe:HEBE",
        title="HEBE",
        look=Look("#B8A800", "X", (0, (2, 1.2))),
        seconds=(1.0, 0.3, 0.0),
    ),
    Method(
        "dhne-plus",
        _DHNE,
        title="DHNE+",
        params={"preset": "plus"},
        look=Look("#CC79A7", "*", "-", width=2.4),
        seconds=(3.0, 2.0, 0.0),
    ),
    Method(
        "cooccurrence",
        "dhne.baselines.cooccurrence:Cooccurrence",
        title="Co-occurrence",
        embeds=False,
        look=Look("#7A5195", "h", (0, (1, 2))),
        seconds=(1.0, 0.3, 0.0),
    ),
):
    register(_method)
BUILT_IN = tuple(METHODS)
