"""Facts of several lengths in one file."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import dhne
from dhne.errors import InputError, ParameterError
from dhne.io.facts import facts_network, parse_facts
from dhne.network.hypernetwork import HyperNetwork


def named(network: HyperNetwork) -> set[tuple[str, ...]]:
    """Return the hyperedges as tuples of names."""
    found = set()
    for e in network.edge_sets:
        columns = [network.vocabulary(t).take(e.nodes[:, p]) for p, t in enumerate(e.types)]
        found |= set(zip(*(c.to_pylist() for c in columns), strict=True))
    return found


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def test_lengths_share_the_entities(tmp_path: Path) -> None:
    path = write(tmp_path / "f.tsv", "knows\tann\tbob\ngave\tann\tbob\tbook\nis\tann\n")
    network = dhne.read_facts(path)
    assert network.edge_types == (
        ("relation", "entity"),
        ("relation", "entity", "entity"),
        ("relation", "entity", "entity", "entity"),
    )
    assert network.edge_types[2].roles == ("relation", "entity", "entity.2", "entity.3")
    assert network.num_nodes("entity") == 3
    assert network.num_nodes("relation") == 3
    assert named(network) == {
        ("knows", "ann", "bob"),
        ("gave", "ann", "bob", "book"),
        ("is", "ann"),
    }


def test_the_relation_may_be_in_any_column(tmp_path: Path) -> None:
    path = write(tmp_path / "f.tsv", "ann\tknows\tbob\nann\tgave\tbob\tbook\n")
    expected = {("knows", "ann", "bob"), ("gave", "ann", "bob", "book")}
    assert named(dhne.read_facts(path, relation=2)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "r\ta\tb\nr\tc\td\n",
        "r\ta\tb\nr\tc\td",
        "r\ta\tb\r\nr\tc\td\r\n",
        "\n\nr\ta\tb\n\nr\tc\td\n\n",
        "\ufeffr\ta\tb\nr\tc\td\n",
    ],
    ids=["plain", "no last newline", "Windows", "blank lines", "byte-order mark"],
)
def test_line_ends_do_not_matter(tmp_path: Path, text: str) -> None:
    network = dhne.read_facts(write(tmp_path / "f.tsv", text))
    assert named(network) == {("r", "a", "b"), ("r", "c", "d")}


def test_names_are_text_as_written(tmp_path: Path) -> None:
    path = write(tmp_path / "f.tsv", "1\t007\t7\n1\t  x\tümlaut\n")
    assert named(dhne.read_facts(path)) == {("1", "007", "7"), ("1", "  x", "ümlaut")}


def test_several_files_and_gzip_are_one_network(tmp_path: Path) -> None:
    one = write(tmp_path / "a.tsv", "r\ta\tb\n")
    two = tmp_path / "b.tsv.gz"
    two.write_bytes(gzip.compress(b"r\tb\tc\nr\ta\tb\tc\n"))
    network = dhne.read_facts([one, two])
    assert named(network) == {("r", "a", "b"), ("r", "b", "c"), ("r", "a", "b", "c")}
    assert dhne.read_facts(str(tmp_path / "*.tsv*")) == network


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("r\ta\n\nr\t\tb\n", 3, "field 2 is empty"),
        ("r\ta\t\n", 1, "field 3 is empty"),
        ("\nr\ta\n\tb\n", 3, "field 1 is empty"),
        ("r\ta\nr\n", 2, "only one field, and no tab"),
        ("r a b\n", 1, "only one field, and no tab"),
        ("r\t" + "\t".join("a" * 70) + "\n", 1, "71 fields"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, text: str, line: int, what: str) -> None:
    path = write(tmp_path / "f.tsv", text)
    with pytest.raises(InputError, match=what) as error:
        dhne.read_facts(path)
    assert str(error.value).startswith(f"{path}:{line}: ")


def test_bytes_that_are_not_text_are_named(tmp_path: Path) -> None:
    path = tmp_path / "f.tsv"
    path.write_bytes(b"r\ta\nr\t\xff\n")
    with pytest.raises(InputError, match=":2: this is not UTF-8"):
        dhne.read_facts(path)
    path.write_bytes(b"r\ta\nr\tb\0c\n")
    with pytest.raises(InputError, match=":2: contains a NUL byte"):
        dhne.read_facts(path)


def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    path = write(tmp_path / "f.tsv", "a\tr\tb\n")
    with pytest.raises(InputError, match=r":1: only 3 fields, so no column 4"):
        dhne.read_facts(path, relation=4)
    with pytest.raises(ParameterError, match="counted from 1"):
        dhne.read_facts(path, relation=0)
    with pytest.raises(InputError, match="contains no facts"):
        dhne.read_facts(write(tmp_path / "g.tsv", "\n\n"))


def test_a_numbering_column_can_be_left_out() -> None:
    network = facts_network(b"instance0\tr\ta\tb\ninstance1\tr\tb\n", 1, skip=1, file="test.txt")
    assert named(network) == {("r", "a", "b"), ("r", "b")}
    with pytest.raises(InputError, match="no entity;"):
        facts_network(b"instance0\tr\n", 1, skip=1, file="test.txt")


def test_any_facts_come_back() -> None:
    rng = np.random.default_rng(0)
    facts = [tuple(f"n{v}" for v in rng.integers(0, 40, rng.integers(2, 7))) for _ in range(500)]
    text = "\n".join("\t".join(f) for f in facts) + "\n"
    fields = parse_facts(text.encode(), 1, file="f")
    assert len(fields.first) == 500
    assert named(facts_network(text.encode(), 1, file="f")) == set(facts)
