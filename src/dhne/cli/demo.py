"""``dhne demo``: all of it in a minute, on the bundled sample."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from .demo_map import draw_map, plain
from .output import add_row, console, make_table, this_command, write_json
from .queries import JsonOption

if TYPE_CHECKING:
    from dhne.datasets import Dataset
    from dhne.embedder import Embedder
    from dhne.estimator import DHNE
    from dhne.evaluation import Split

_SETTINGS = {"preset": "plus", "validation": 0.0, "batch_size": 128, "epochs": 20}
_QUESTIONS: tuple[tuple[str | None, ...], ...] = (
    (None, "has_part", "yemen.n.01"),
    (None, "instance_hyponym", "kanchenjunga.n.01"),
    (None, "member_meronym", "hannover.n.01"),
    ("tokyo.n.01", "part_of", None),
    ("europe.n.01", None, "germany.n.01"),
)
_NEIGHBOURS = ("kyoto.n.01", "nile.n.01", "texas.n.01", "peru.n.01")
_SHOWN = 3
_RANKED = 100  # held-back facts to complete, for the share of right ones among the first ten
_FACTS = {"learned": "learned", "held out": "true, and was held back"}


def command(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where to save the run and the picture.")
    ] = Path("demo"),
    seed: Annotated[int, typer.Option(help="The same seed gives the same demonstration.")] = 0,
    picture: Annotated[
        bool, typer.Option("--picture/--no-picture", help="Whether to draw the map.")
    ] = True,
    json: JsonOption = None,
) -> None:
    """Train on the bundled sample of WordNet and show what it can answer, in a minute.

    Holds back a fifth of the facts about the world's places, learns from the rest, and shows how
    well it tells the held-back facts from made-up ones, how it completes open tuples, which places
    it finds alike, and a map of them.

    [bold]Examples[/bold]

    dhne demo

    dhne demo --out /tmp/demo --no-picture --json -
    """
    from dhne.datasets import load_dataset
    from dhne.errors import InputError
    from dhne.io import write

    begin = time.perf_counter()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be created: {error.strerror}", file=out) from None
    tell = _Teller(quiet=json == "-")
    sample = load_dataset("wordnet-sample")
    tell.introduce(sample)
    model = _fit(sample, seed)
    report: dict[str, Any] = {
        "auc": _separate(model, sample, seed),
        "hits@10": _hits(model, sample, seed),
        "completions": [_complete(model, sample, q) for q in _QUESTIONS],
        "neighbours": [_neighbours(model, name) for name in _NEIGHBOURS],
    }
    tell.separation(report["auc"], sample.test.num_edges())
    tell.completions(report["completions"], report["hits@10"])
    tell.neighbours(report["neighbours"])
    model.save(out / "run", notes={"source": {"names": ["wordnet-sample"], "split": "train"}})
    report["run"] = str(out / "run")
    write(sample.train, out / "places.csv")
    report["table"] = str(out / "places.csv")
    if picture:
        draw_map(model, out / "map.png", seed=seed)
        report["picture"] = str(out / "map.png")
    report["seconds"] = time.perf_counter() - begin
    if json is not None:
        write_json(report, json)
    tell.goodbye(report)


def _fit(sample: Dataset, seed: int) -> DHNE:
    from dhne.estimator import DHNE
    from dhne.training.callbacks import ProgressBar

    return DHNE(**_SETTINGS, random_state=seed).fit(sample.train, callbacks=[ProgressBar()])  # type: ignore[arg-type]


def _separate(model: Embedder, sample: Dataset, seed: int) -> dict[str, float]:
    """Return the AUC on held-out facts of the model, and of what counting pairs would reach."""
    from dhne.evaluation import Data, link_prediction_split, make_method

    data = Data.of(sample)
    split = link_prediction_split(data, "paper", seed=seed)
    counting = make_method("cooccurrence", seed=seed).fit(sample.train)
    return {
        "dhne": _auc(model, split),
        "cooccurrence": _auc(counting, split),
        "chance": 0.5,
    }


def _auc(model: Embedder, split: Split) -> float:
    from dhne.evaluation import auc

    ((types, negatives),) = split.negatives().items()
    return auc(model.score(split.test.edges(types)), model.score(negatives))


def _hits(model: Embedder, sample: Dataset, seed: int) -> float:
    """Return how often the hidden place of a held-back fact is among the first ten."""
    from dhne.evaluation import rank_edges

    metrics, _ = rank_edges(model, sample.test, sample.whole, limit=_RANKED, seed=seed)
    return (metrics["hits@10/head"] + metrics["hits@10/tail"]) / 2


def _complete(model: DHNE, sample: Dataset, query: tuple[str | None, ...]) -> dict[str, Any]:
    """Return the best completions, and what is known of each: learned, held out, or neither."""
    found = model.rank(query, _SHOWN)
    position = query.index(None)
    answers = []
    for name, score in zip(found.names, found.scores.tolist(), strict=True):
        whole = [*query[:position], name, *query[position + 1 :]]
        learned = _holds(sample.train, whole)
        status = "learned" if learned else "held out" if _holds(sample.test, whole) else ""
        answers.append({"name": name, "score": score, "fact": status})
    return {"query": list(query), "answers": answers}


def _holds(network: Any, names: list[Any]) -> bool:
    ids = [network.ids(t, [n])[0] for t, n in zip(network.edge_types[0], names, strict=True)]
    return bool((network.edges() == ids).all(axis=1).any())


def _neighbours(model: DHNE, name: str) -> dict[str, Any]:
    found = model.similar("head", name, 6)
    return {"name": name, "answers": found.names, "cosines": found.scores.tolist()}


class _Teller:
    """Prints for people; prints nothing when standard output is for data."""

    def __init__(self, *, quiet: bool) -> None:
        self.console = console()
        self.console.quiet = quiet

    def _heading(self, text: str) -> None:
        self.console.print(Text(f"\n{text}", style="bold"))

    def introduce(self, sample: Dataset) -> None:
        network = sample.train
        self._heading("Places of the world, from WordNet: (paris, part of, france)")
        self.console.print(
            f"{network.num_nodes('head'):,} places and kinds of places, "
            f"{network.num_nodes('relation')} relations; {network.num_edges():,} facts to learn "
            f"from, {sample.test.num_edges():,} held back"
        )

    def separation(self, auc: dict[str, float], held_out: int) -> None:
        self._heading(f"Telling {held_out:,} held-back facts from made-up ones (AUC)")
        titles = {
            "dhne": "DHNE, the whole tuple at once",
            "cooccurrence": "counting pairs",
            "chance": "guessing",
        }
        for key, title in titles.items():
            bar = "█" * round(40 * auc[key])
            style = "bold green" if key == "dhne" else "dim"
            self.console.print(Text.assemble(f"{title:<31}", (bar, style), f" {auc[key]:.3f}"))

    def completions(self, records: list[dict[str, Any]], hits: float) -> None:
        self._heading("Completing open tuples")
        self.console.print(
            f"with one place of a held-back fact hidden, it is among the first ten {hits:.0%} of "
            "the time\n"
        )
        columns = ["open tuple", "answers", "similarity", "fact"]
        table = make_table("", columns, left=["open tuple", "answers", "fact"])
        table.title = None
        for record in records:
            query = ", ".join("?" if q is None else plain(q) for q in record["query"])
            for number, answer in enumerate(record["answers"]):
                shown = f"({query})" if number == 0 else ""
                score, fact = f"{answer['score']:.3f}", _FACTS.get(answer["fact"], "")
                add_row(table, shown, plain(answer["name"]), score, fact)
            table.add_section()
        self.console.print(table)

    def neighbours(self, records: list[dict[str, Any]]) -> None:
        self._heading("Places alike")
        for record in records:
            names = ", ".join(plain(n) for n in record["answers"])
            self.console.print(Text.assemble((f"{plain(record['name']):>8}", "bold"), f"  {names}"))

    def goodbye(self, report: dict[str, Any]) -> None:
        self._heading(f"Done in {report['seconds']:.0f} seconds")
        lines = [("the run", report["run"]), ("its facts as a table", report["table"])]
        if "picture" in report:
            lines.append(("a map of the places", report["picture"]))
        for what, where in lines:
            self.console.print(Text(f"  {what}: {where}"))
        self.console.print(Text("\nNow ask it yourself, or look around:", style="bold"))
        for line in _proposals(report):
            self.console.print(Text(f"  {line}"), soft_wrap=True)


def _proposals(report: dict[str, Any]) -> list[str]:
    """Return commands to go on with; each works when it is pasted."""
    from dhne.errors import MissingExtraError
    from dhne.explorer import require_packages

    dhne, run, table = this_command(), quote(report["run"]), quote(report["table"])
    mine = quote(str(Path(report["run"]).with_name("mine")))
    lines = [
        f"{dhne} rank {run} head=berlin.n.01 relation=part_of {quote('tail=?')}",
        f"{dhne} similar {run} head danube.n.01",
        f"{dhne} train {table} --columns head,relation,tail --out {mine}",
    ]
    try:
        require_packages()
    except MissingExtraError:
        lines.append(f"{quote(sys.executable)} -m pip install 'dhne[explorer]'")
    return [*lines, f"{dhne} explore {run}"]
