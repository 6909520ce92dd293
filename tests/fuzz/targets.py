"""What is fuzzed: valid files of every reader, configurations and runs, and who opens them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

import numpy as np

import dhne
from dhne import HyperNetwork
from dhne.cli.config import read_config_file
from dhne.cli.registry import make_app
from dhne.evaluation import Record
from dhne.files.plain_json import as_json, read_json
from dhne.io import add_labels
from dhne.storage import Checkpoints
from dhne.storage.manifest import make_manifest, write_manifest

CONFIG = """sources = "tags.csv"
columns = { user = "userId", movie = "movieId" }

[train]
dim = 64
hidden = [192, 64]
learning-rate = 0.006
leave-one-out = true
"""
FOREIGN_HIF = {
    "metadata": {"author": "ann", "edge-types": 3}, "network-type": "directed",
    "nodes": [{"node": 7, "weight": 2, "attrs": {"type": "p", "name": "Ann", "labels": 3}}],
    "edges": [{"edge": "e", "attrs": {"type": "journal", "time": "x", "year": 1999}}],
    "incidences": [
        {"edge": "e", "node": 7, "direction": "head", "weight": 0.5, "attrs": {"position": "x"}},
        {"edge": "e", "node": "b", "direction": "tail"}, {"edge": "e", "node": "c"},
    ],
}  # fmt: skip
RECORD = {
    "task": "link-prediction", "dataset": "gps", "protocol": "paper", "method": "dhne",
    "results": [{"seed": 0, "metrics": {"auc": 0.9}, "seconds": {"fit": 1.0, "evaluate": 1.0},
                 "peak_rss_mb": 10.0}],
    "mean": {"auc": 0.9}, "std": {"auc": 0.0}, "version": "0", "config": {"seeds": [0]},
}  # fmt: skip


@dataclass(frozen=True)
class Target:
    """One kind of file.

    Attributes
    ----------
    ending : the ending of the file's name
    seed : a valid file
    open : from a damaged file in an empty directory to whatever reading it gives
    """

    name: str
    ending: str
    seed: bytes
    open: Callable[[Path], object]


def plain_network() -> HyperNetwork:
    """A network that one Parquet file holds."""
    return HyperNetwork.from_tuples(
        [("ann", "Heat", "heist"), ("bob", 'Al"ien', "a,b"), ("ann", "12 Monkeys", "größe")],
        ("user", "movie", "tag"),
        weights=[1.0, 2.5, 1.0],
    )


def network() -> HyperNetwork:
    """A network with two edge types, weights, and labels."""
    people = HyperNetwork.from_tuples([("ann", "cy"), ("bob", "dee")], ("user", "user"))
    both = plain_network().merge(people, fold=False)
    return both.with_labels({"movie": {"Heat": ["crime", "noir"]}})


def timed_network() -> HyperNetwork:
    """A network whose hyperedges have dates."""
    rows = [
        ("ann", "Heat", "2020-01-01"),
        ("bob", "Alien", "2021-06-30"),
        ("cy", "Heat", "2022-02-28"),
    ]
    return dhne.read_table(
        [
            {"user": user, "movie": movie, "when": date.fromisoformat(day)}
            for user, movie, day in rows
        ],
        time="when",
    )


@cache
def targets(folder: Path) -> dict[str, Target]:
    """Make the valid files below `folder` and return what is fuzzed, by name."""
    made = [*_networks(folder), *_tables(folder), *_settings(folder), *_runs(folder)]
    return {target.name: target for target in made}


def _networks(folder: Path) -> list[Target]:
    found = []
    for ending in (".parquet", ".json", ".json.gz", ".npz"):
        file = folder / f"net{ending}"
        dhne.write(plain_network() if ending == ".parquet" else network(), file)
        found.append(Target(f"network{ending}", ending, file.read_bytes(), dhne.read))
    for ending in (".json", ".npz", ".parquet"):
        file = folder / f"timed{ending}"
        dhne.write(timed_network(), file)
        found.append(Target(f"timed{ending}", ending, file.read_bytes(), dhne.read))

    def there_and_back(path: Path) -> object:
        dhne.write(dhne.read(path), path.with_name("back.json"))
        return dhne.read(path.with_name("back.json"))

    foreign = json.dumps(FOREIGN_HIF).encode()
    found.append(Target("foreign.json", ".json", foreign, there_and_back))
    np.savez(folder / "a.npz", train_data=[[0, 1], [1, 0]], nums_type=[2, 2], labels=["x", "y"])
    authors = (folder / "a.npz").read_bytes()
    found.append(Target("authors.npz", ".npz", authors, dhne.read))
    dhne.write(network(), folder / "net.csv")
    meta = (folder / "net.csv.meta.json").read_bytes()
    tables = {p.name: p.read_bytes() for p in folder.glob("net*.csv")}

    def with_description(path: Path) -> object:
        for name, data in tables.items():
            path.with_name(name).write_bytes(data)
        path.rename(path.with_name("net.csv.meta.json"))
        return dhne.read(path.with_name("net.csv"))

    return [*found, Target("description.json", ".json", meta, with_description)]


def _tables(folder: Path) -> list[Target]:
    text = b'user,movie,weight\nann,Heat,1\nbob,"Al""ien",2.5\n"c\ny",12 Monkeys,3\n'
    times = (
        b"user,movie,when\nann,Heat,2020-01-01\nbob,Alien,2021-06-30T12:00:00\ncy,Heat,2022-02-28\n"
    )
    facts = b"likes\tann\tHeat\nrated\tbob\tAlien\t5\tgood\nlikes\tcy\tHeat\n"
    labels = b"type,name,label\nmovie,Heat,crime\nuser,ann,old\n"
    net = network()
    import gzip

    return [
        Target("table.csv", ".csv", text, dhne.read_table),
        Target("table.tsv", ".tsv", text.replace(b",", b"\t"), dhne.read_table),
        Target("table.csv.gz", ".csv.gz", gzip.compress(text), dhne.read_table),
        Target("labels.csv", ".csv", labels, lambda path: add_labels(net, path)),
        Target("times.csv", ".csv", times, lambda path: dhne.read_table(path, time="when")),
        Target("facts.tsv", ".tsv", facts, lambda path: dhne.read_facts(path, 1)),
    ]


def _settings(folder: Path) -> list[Target]:
    command = make_app(["train"]).commands["train"]
    known = {p.name: p for p in command.params if p.name not in ("config", "help")}
    return [
        Target(
            "config.toml",
            ".toml",
            CONFIG.encode(),
            lambda path: read_config_file(path, "train", known),
        ),
        Target(
            "record.json",
            ".json",
            json.dumps(RECORD).encode(),
            lambda path: Record.from_dict(read_json(path)),
        ),
    ]


def _runs(folder: Path) -> list[Target]:
    """Files of a run, each signed again after the damage: checksums prove nothing by themselves."""
    import torch

    model = dhne.DHNE(dim=2, epochs=1, kernels="reference", device="cpu").fit(network())
    run = folder / "run"
    model.save(run)

    def resigned(name: str) -> Callable[[Path], object]:
        def open_run(path: Path) -> object:
            copy = path.parent / "run"
            shutil.copytree(run, copy)
            path.rename(copy / name)
            manifest = json.loads((copy / "manifest.json").read_text())
            signed = make_manifest(
                copy, list(manifest["files"]), status="complete", network=manifest["network"]
            )
            write_manifest(copy, signed)
            loaded = dhne.load(copy)
            return loaded.score([("ann", "Heat", "heist")])

        return open_run

    def open_manifest(path: Path) -> object:
        copy = path.parent / "run"
        shutil.copytree(run, copy)
        try:
            manifest = json.loads(path.read_bytes())
        except (ValueError, RecursionError):
            path.rename(copy / "manifest.json")
        else:
            if isinstance(manifest, dict):
                write_manifest(copy, manifest)
            else:
                (copy / "manifest.json").write_text(as_json(manifest))
        return dhne.load(copy)

    files = ["config.json", "model.safetensors", "history.jsonl", "edges/0.parquet"]
    files.append("nodes/user.parquet")
    found = [
        Target(f"run-{Path(f).name}", Path(f).suffix, (run / f).read_bytes(), resigned(f))
        for f in files
    ]
    manifest = (run / "manifest.json").read_bytes()
    found.append(Target("run-manifest.json", ".json", manifest, open_manifest))
    checkpoints = Checkpoints(folder / "checkpoints")
    checkpoints.save(1, {"w": torch.ones(2)}, {"best": 0.5})
    tensors = (folder / "checkpoints" / "epoch-000001.safetensors").read_bytes()

    def open_checkpoint(path: Path) -> object:
        path.with_name("epoch-000001.safetensors").write_bytes(tensors)
        path.rename(path.with_name("epoch-000001.json"))
        return Checkpoints(path.parent).latest()

    def update(path: Path) -> object:
        return (
            dhne.load(run)
            .partial_fit(dhne.read_table(path), epochs=1)
            .score([("ann", "Heat", "heist")])
        )

    note = (folder / "checkpoints" / "epoch-000001.json").read_bytes()
    new = b"user,movie,tag\nann,Alien,space\neve,Heat,noir\nann,Brazil,a b\n"
    return [
        *found,
        Target("checkpoint.json", ".json", note, open_checkpoint),
        Target("update.csv", ".csv", new, update),
    ]
