"""A small WordNet of our own, well-formed and damaged in every way that matters."""

from __future__ import annotations

from pathlib import Path

import pytest

from dhne.datasets.wordnet import build_wordnet
from dhne.datasets.wordnet_files import CATEGORIES, RELATIONS, read_wordnet
from dhne.errors import DHNEError

LICENCE = "  1 This software and database is being provided to you, the LICENSEE, by  \n"
FILES = {
    "data.noun": LICENCE
    + "00000100 05 n 01 animal 0 001 ~ 00000200 n 0000 | a living thing  \n"
    + "00000200 05 n 02 dog 0 domestic_dog 0 004 @ 00000100 n 0000 + 00000100 v 0101 "
    + "+ 00000100 v 0201 ! 00000300 n 0101 | barks | at night  \n"
    + "00000300 18 n 01 Dog 1 000 | a chap  \n",
    "data.verb": "00000100 35 v 01 dog 0 001 + 00000200 n 0101 01 + 08 00 | go after  \n",
    "data.adj": "00000100 00 s 01 galore(ip) 0 000 | in abundance  \n",
    "data.adv": "00000100 02 r 01 doggedly 0 000 | with obstinacy  \n",
    "index.noun": LICENCE
    + "animal n 1 1 ~ 1 1 00000100  \n"
    + "dog n 2 2 @ + 2 1 00000200 00000300  \n"
    + "domestic_dog n 1 1 @ 1 0 00000200  \n",
    "index.verb": "dog v 1 1 + 1 1 00000100  \n",
    "index.adj": "galore a 1 0 1 0 00000100  \n",
    "index.adv": "doggedly r 1 0 1 0 00000100  \n",
    "cntlist.rev": "dog%1:05:00:: 1 42\ndomestic_dog%1:05:00:: 1 1\ngone%1:05:00:: 1 9\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def test_names_are_first_word_kind_and_number_of_the_sense(folder: Path) -> None:
    names = read_wordnet(folder).names.to_pylist()
    assert names == [
        "animal.n.01",
        "dog.n.01",
        "dog.n.02",
        "dog.v.01",
        "galore.s.01",
        "doggedly.r.01",
    ]


def test_pointers_become_triples_once_each_and_only_wn18s(folder: Path) -> None:
    wordnet = read_wordnet(folder)
    names, relations = wordnet.names.to_pylist(), list(RELATIONS.values())
    triples = {(names[h], relations[r], names[t]) for h, r, t in wordnet.triples}
    assert triples == {
        ("animal.n.01", "hyponym", "dog.n.01"),
        ("dog.n.01", "hypernym", "animal.n.01"),
        ("dog.n.01", "derivationally_related_form", "dog.v.01"),
        ("dog.v.01", "derivationally_related_form", "dog.n.01"),
    }
    assert len(wordnet.triples) == 4


def test_uses_add_up_over_the_words_of_a_synset(folder: Path) -> None:
    assert read_wordnet(folder, uses=True).uses.tolist() == [0, 43, 0, 0, 0, 0]
    assert not read_wordnet(folder).uses.any()


def test_the_network_holds_what_stands_in_a_triple_with_its_category(folder: Path) -> None:
    network = build_wordnet(folder, progress=True)
    assert network.edge_types == (("head", "relation", "tail"),)
    assert network.num_edges() == 4
    labels = network.labels("tail")
    assert labels is not None
    names = network.names("tail").to_pylist()
    assert dict(zip(names, labels.to_pylist(), strict=True)) == {
        "dog.n.01": ["noun.animal"],
        "animal.n.01": ["noun.animal"],
        "dog.v.01": ["verb.contact"],
    }


def test_the_tables_are_complete() -> None:
    assert len(RELATIONS) == len(set(RELATIONS.values())) == 18
    assert len(CATEGORIES) == len(set(CATEGORIES)) == 45
    assert CATEGORIES[5] == "noun.animal"
    assert CATEGORIES[43] == "verb.weather"


@pytest.mark.parametrize(
    ("file", "old", "new", "line"),
    [
        ("data.noun", "00000100 05 n", "not-an-offset 05 n", 2),
        ("data.noun", "00000200 05 n", "00000200 99 n", 3),
        ("data.noun", "00000200 05 n", "00000200 05 v", 3),
        ("data.noun", "00000200 05 n", "00000200 05 x", 3),
        ("data.noun", "dog 0 004 @", "dog 0 009 @", 3),
        ("data.noun", "n 02 dog", "n 0z dog", 3),
        ("data.noun", "n 01 animal 0", "n 00", 2),
        ("data.noun", "00000300 18", "00000200 18", 4),
        ("data.noun", "@ 00000100 n", "@ 00000101 n", 3),
        ("data.noun", "@ 00000100 n", "@ 00000100 q", 3),
        ("data.noun", "01 animal", "01 beast", 2),
        ("data.noun", "00000300 18 n 01 Dog 1 000 | a chap  \n", "00000300 18 n", 4),
        ("index.noun", "n 2 2 @ +", "n 3 2 @ +", 3),
        ("index.noun", "00000200 00000300", "00000200 00000400", 3),
        ("index.noun", "dog n 2", "dog n two", 3),
        ("index.verb", "dog v 1 1 + 1 1 00000100  \n", "\n", 1),
        ("cntlist.rev", "1 42", "1", 1),
        ("cntlist.rev", "dog%1:05:00:: 1 42", "dog%9:05:00:: 1 42", 1),
    ],
)
def test_a_damaged_line_is_named(folder: Path, file: str, old: str, new: str, line: int) -> None:
    text = FILES[file]
    assert text.count(old) >= 1
    (folder / file).write_text(text.replace(old, new, 1))
    with pytest.raises(DHNEError, match=rf"{file}:{line}: not a line of a WordNet") as caught:
        read_wordnet(folder, uses=True)
    assert "reinstall" in str(caught.value)


@pytest.mark.parametrize("file", FILES)
def test_a_missing_file_is_named(folder: Path, file: str) -> None:
    (folder / file).unlink()
    with pytest.raises(DHNEError, match=rf"{file}: cannot be read .*wordnet-base"):
        read_wordnet(folder, uses=True)


def test_a_directory_in_a_files_place_is_named(folder: Path) -> None:
    (folder / "data.adv").unlink()
    (folder / "data.adv").mkdir()
    with pytest.raises(DHNEError, match=r"data.adv: cannot be read"):
        read_wordnet(folder)


def test_bytes_that_are_no_text_are_refused(folder: Path) -> None:
    (folder / "index.adj").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(DHNEError, match=r"index.adj: not a text file"):
        read_wordnet(folder)


def test_the_directory_itself_may_be_missing_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for name in ("nothing", "file"):
        with pytest.raises(DHNEError, match=f"{name}: no such directory.*wordnet-base"):
            read_wordnet(tmp_path / name)
