"""Reading WordNet's database files into columns.

A line of ``data.noun`` is one synset: its byte offset (its identity within a part of speech), the
lexicographer category it was written in, its words, and its pointers to other synsets. A line of
``index.noun`` is one word with the offsets of its synsets, the most frequent sense first.

Synsets are named ``lemma.pos.number``: the first word, its part of speech, and the number of that
sense among the word's senses. Every such name belongs to exactly one synset: ``dog.n.01`` is the
animal, ``chase.v.01`` what it does.

The files come with Debian's package ``wordnet-base`` (in ``/usr/share/wordnet``) and with every
release of WordNet (in ``dict``). Their format is described in wndb(5WN) and lexnames(5WN).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dhne.datasets.progress import bar
from dhne.errors import InputError

# Pointer symbol -> relation, named as in WN18. The two directions of a pair are two relations.
RELATIONS: dict[str, str] = {
    "@": "hypernym",
    "~": "hyponym",
    "@i": "instance_hypernym",
    "~i": "instance_hyponym",
    "#m": "member_holonym",
    "%m": "member_meronym",
    "#p": "part_of",
    "%p": "has_part",
    ";c": "synset_domain_topic_of",
    "-c": "member_of_domain_topic",
    ";u": "synset_domain_usage_of",
    "-u": "member_of_domain_usage",
    ";r": "synset_domain_region_of",
    "-r": "member_of_domain_region",
    "+": "derivationally_related_form",
    "^": "also_see",
    "$": "verb_group",
    "&": "similar_to",
}

# The lexicographer categories, indexed by their number in the data files.
CATEGORIES: tuple[str, ...] = (
    *("adj.all", "adj.pert", "adv.all"),
    *("noun.Tops", "noun.act", "noun.animal", "noun.artifact", "noun.attribute", "noun.body"),
    *("noun.cognition", "noun.communication", "noun.event", "noun.feeling", "noun.food"),
    *("noun.group", "noun.location", "noun.motive", "noun.object", "noun.person"),
    *("noun.phenomenon", "noun.plant", "noun.possession", "noun.process", "noun.quantity"),
    *("noun.relation", "noun.shape", "noun.state", "noun.substance", "noun.time"),
    *("verb.body", "verb.change", "verb.cognition", "verb.communication", "verb.competition"),
    *("verb.consumption", "verb.contact", "verb.creation", "verb.emotion", "verb.motion"),
    *("verb.perception", "verb.possession", "verb.social", "verb.stative", "verb.weather"),
    "adj.ppl",
)

PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
_PART_NUMBER = {"n": 0, "v": 1, "a": 2, "s": 2, "r": 3}  # s: satellite adjectives
_PART_OF_SENSE_KEY = {"1": 0, "2": 1, "3": 2, "4": 3, "5": 2}
_BASE = 10**8  # offsets have eight digits, so part * 10^8 + offset identifies a synset
_SYMBOLS = {symbol: number for number, symbol in enumerate(RELATIONS)}

IntArray = npt.NDArray[np.int64]
Senses = dict[tuple[str, int], list[int]]  # (word, part of speech) -> its synsets' rows, in order


@dataclass(frozen=True)
class WordNet:
    """WordNet as columns: one row per synset, one row per triple.

    Attributes
    ----------
    names : pa.Array
        string[n], such as ``dog.n.01``.
    categories : IntArray
        int64[n], positions in `CATEGORIES`.
    uses : IntArray
        int64[n], how often the synset's senses were tagged in WordNet's reference texts; zeros
        unless requested.
    triples : IntArray
        int64[m, 3]: head synset, relation (a position in `RELATIONS`), tail synset; sorted.
    """

    names: pa.Array
    categories: IntArray
    uses: IntArray
    triples: IntArray


def read_wordnet(
    directory: str | os.PathLike[str], *, uses: bool = False, progress: bool = False
) -> WordNet:
    """Read WordNet's database files.

    Parameters
    ----------
    directory : path
        Directory of ``data.noun``, ``index.noun`` and the files for verbs, adjectives and adverbs;
        ``/usr/share/wordnet`` with Debian's ``wordnet-base``.
    uses : bool
        Whether to also read ``cntlist.rev``, for `WordNet.uses`.
    progress : bool
        Whether to show a progress bar.

    Raises
    ------
    InputError
        If a file is missing or a line is malformed; the message names the file and line.

    Examples
    --------
    >>> read_wordnet("/nowhere")
    Traceback (most recent call last):
    ...
    dhne.errors.InputError: /nowhere: no such directory; install Debian's wordnet-base and pass \
/usr/share/wordnet, or pass the dict directory of a WordNet release
    """
    folder = Path(directory)
    if not folder.is_dir():
        raise InputError(
            "no such directory; install Debian's wordnet-base and pass /usr/share/wordnet, "
            "or pass the dict directory of a WordNet release",
            file=folder,
        )
    reader = _Reader(folder)
    steps = [(reader.read_data, part) for part in PARTS] + [(reader.read_index, p) for p in PARTS]
    with bar(show=progress) as shown:
        for read, part in shown.track(steps, description="WordNet"):
            read(part)
        if uses:
            reader.read_uses()
        return reader.finish()


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a database file with their numbers, skipping the licence."""
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if not line.startswith("  "):
                    yield number, line
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror}); it must be one of WordNet's database files, "
            "as Debian's wordnet-base installs them in /usr/share/wordnet",
            file=path,
        ) from error
    except UnicodeDecodeError as error:
        raise InputError("not a text file, so not a WordNet database file", file=path) from error


def malformed(path: Path, number: int, why: object) -> InputError:
    """Return the error for a malformed line."""
    return InputError(
        f"not a line of a WordNet database file ({why}); the file may be cut off or damaged, "
        "reinstall it",
        file=path,
        line=number,
    )


class _Reader:
    """Collects the columns file by file: all data files first, then the index files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.row_of: dict[int, int] = {}  # part and offset -> row
        self.categories: list[int] = []
        self.lemmas: list[str] = []
        self.kinds: list[str] = []
        self.line_numbers: list[int] = []
        self.heads: list[int] = []
        self.relations: list[int] = []
        self.targets: list[int] = []  # part and offset; resolved to rows once all files are read
        self.senses: Senses = {}
        self.uses: dict[int, int] = {}

    def read_data(self, part: str) -> None:
        """Append the synsets of a data file: offset, category, kind, words, pointers."""
        path, own = self.folder / f"data.{part}", _PART_NUMBER[PARTS[part]]
        for number, line in lines(path):
            try:
                fields = line.split(" | ", 1)[0].split()
                key, category, kind = own * _BASE + _offset(fields[0]), int(fields[1]), fields[2]
                end_of_words = 4 + 2 * int(fields[3], 16)
                pointers = fields[
                    end_of_words + 1 : end_of_words + 1 + 4 * int(fields[end_of_words])
                ]
                if end_of_words < 6 or len(pointers) != 4 * int(fields[end_of_words]):
                    raise ValueError("fewer words or pointers than announced")
                if _PART_NUMBER[kind] != own or not 0 <= category < len(CATEGORIES):
                    raise ValueError(f"a synset of kind {kind} and category {category}")
                if key in self.row_of:
                    raise ValueError(f"a second synset {fields[0]}")
                self._add_pointers(len(self.row_of), pointers)
            except (ValueError, IndexError, KeyError) as error:
                raise malformed(path, number, error) from error
            self.row_of[key] = len(self.row_of)
            self.categories.append(category)
            self.kinds.append(kind)
            self.lemmas.append(
                fields[4].split("(", 1)[0].lower()
            )  # "galore(ip)" is the word galore
            self.line_numbers.append(number)

    def _add_pointers(self, row: int, pointers: list[str]) -> None:
        for symbol, offset, kind in zip(pointers[::4], pointers[1::4], pointers[2::4], strict=True):
            relation = _SYMBOLS.get(symbol)
            if relation is not None:  # antonyms, causes and some others are not in WN18
                self.targets.append(_PART_NUMBER[kind] * _BASE + _offset(offset))
                self.heads.append(row)
                self.relations.append(relation)

    def read_index(self, part: str) -> None:
        """Record every word's synsets, in the order of its senses."""
        path, own = self.folder / f"index.{part}", _PART_NUMBER[PARTS[part]]
        for number, line in lines(path):
            fields = line.split()
            try:
                count = int(fields[2])
                if count < 1 or len(fields) != 6 + int(fields[3]) + count:
                    raise ValueError("fewer senses or pointers than announced")
                rows = [self.row_of[own * _BASE + _offset(offset)] for offset in fields[-count:]]
            except KeyError as error:
                why = f"a synset that data.{part} does not have"
                raise malformed(path, number, why) from error
            except (ValueError, IndexError) as error:
                raise malformed(path, number, error) from error
            self.senses[fields[0], own] = rows

    def read_uses(self) -> None:
        """Add up per synset how often its senses were tagged: ``sense_key number count``."""
        path = self.folder / "cntlist.rev"
        for number, line in lines(path):
            try:
                key, sense, count = line.split()
                lemma, rest = key.split("%", 1)
                rows = self.senses.get((lemma, _PART_OF_SENSE_KEY[rest[0]]), [])
                if 0 < int(sense) <= len(rows):  # some keys name senses that no longer exist
                    row = rows[int(sense) - 1]
                    self.uses[row] = self.uses.get(row, 0) + int(count)
            except (ValueError, KeyError, IndexError) as error:
                raise malformed(path, number, error) from error

    def finish(self) -> WordNet:
        uses = np.zeros(len(self.row_of), dtype=np.int64)
        uses[list(self.uses.keys())] = list(self.uses.values())
        return WordNet(
            names=self._names(),
            categories=np.array(self.categories, dtype=np.int64),
            uses=uses,
            triples=self._triples(),
        )

    def _names(self) -> pa.Array:
        names = []
        for row, (lemma, kind) in enumerate(zip(self.lemmas, self.kinds, strict=True)):
            rows = self.senses.get((lemma, _PART_NUMBER[kind]), [])
            if row not in rows:
                raise malformed(*self._place(row), f"no index file has {lemma!r} in this sense")
            names.append(f"{lemma}.{kind}.{rows.index(row) + 1:02d}")
        return pa.array(names, pa.string())

    def _triples(self) -> IntArray:
        """Return the pointers with targets resolved to rows, each triple once.

        Derivation is a pointer between words, so two synsets may have several.
        """
        tails = [self.row_of.get(target, -1) for target in self.targets]
        if -1 in tails:
            first = tails.index(-1)
            why = f"a pointer to {self.targets[first] % _BASE:08d}, which is not a synset"
            raise malformed(*self._place(self.heads[first]), why)
        columns = [self.heads, self.relations, tails]
        triples = np.array(columns, dtype=np.int64).T.reshape(-1, 3)
        return np.unique(triples, axis=0)

    def _place(self, row: int) -> tuple[Path, int]:
        letter = {"s": "a"}.get(self.kinds[row], self.kinds[row])
        part = next(part for part, own in PARTS.items() if own == letter)
        return self.folder / f"data.{part}", self.line_numbers[row]


def _offset(text: str) -> int:
    if len(text) != 8 or not text.isdecimal():
        raise ValueError(f"{text!r} is not an offset of eight digits")
    return int(text)
