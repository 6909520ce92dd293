"""Metadata of each dataset, available before any of its files is opened.

The paper's four hyper-networks come as the two split files that its authors released. These contain
pickled objects, so a file is opened only if its checksum matches the one listed here. Public facts
come as the text files of their published train, valid and test parts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

PAPER = (
    "Ke Tu, Peng Cui, Xiao Wang, Fei Wang, Wenwu Zhu: "
    "Structural Deep Embedding for Hyper-Networks. AAAI 2018, arXiv:1711.10146."
)


@dataclass(frozen=True)
class Entry:
    """A dataset's description, source and checksums.

    Attributes
    ----------
    name : str
        Name for `load_dataset`.
    title, description : str
        Shown to users.
    node_types : tuple of str
        In the order of the columns.
    source : str
        Origin of the data, for citation.
    labels : mapping of node type to a description of its labels
    folder : str
        The directory of the released files; empty if the dataset is bundled.
    sha256 : mapping of file name to checksum
    caution : str
        Warning about results measured on it.
    addresses : tuple of str
        Web addresses of the folder; by default those of the paper's files.
    relation : int
        For facts (see `dhne.read_facts`), the column of the relation; otherwise 0.
    numbered : tuple of str
        Files of facts whose first column numbers the facts and is not part of them.
    positions : tuple of str
        Node types whose positions the task ``completion`` ranks by default; all if empty.
    """

    name: str
    title: str
    description: str
    node_types: tuple[str, ...]
    source: str
    labels: dict[str, str] = field(default_factory=dict)
    folder: str = ""
    sha256: dict[str, str] = field(default_factory=dict)
    caution: str = ""
    addresses: tuple[str, ...] = ()
    relation: int = 0
    numbered: tuple[str, ...] = ()
    positions: tuple[str, ...] = ()

    @property
    def bundled(self) -> bool:
        """Whether the dataset comes with the package."""
        return not self.folder


def _files(train: str, test: str) -> dict[str, str]:
    return {"train_data.npz": train, "test_data.npz": test}


def _parts(train: str, valid: str, test: str) -> dict[str, str]:
    return {"train.txt": train, "valid.txt": valid, "test.txt": test}


_GITHUB = "https://raw.githubusercontent.com"
_PYKEEN = f"{_GITHUB}/pykeen/pykeen/93d372bd1bd6caee8b522fafa1bd4f1bea326589/src/pykeen/datasets"


_ENTRIES = (
    Entry(
        name="gps",
        title="GPS: who does what where",
        description="Users taking part in an activity at a location.",
        node_types=("user", "location", "activity"),
        source="V. W. Zheng, B. Cao, Y. Zheng, X. Xie, Q. Yang: Collaborative filtering meets "
        "mobile recommendation: a user-centered approach. AAAI 2010.",
        folder="GPS",
        sha256=_files(
            "cb0b000a66ca61e956bcf18d1e1d39fe6f0b277510503e2deca008f2e62f0d09",
            "7ed40b944b9885d955d69fb1f1791ecea946c8bf4d4d5dbfda5ce4581e2b0301",
        ),
    ),
    Entry(
        name="movielens",
        title="MovieLens: who tags which movie how",
        description="Users giving a tag to a movie.",
        node_types=("user", "movie", "tag"),
        source="F. M. Harper, J. A. Konstan: The MovieLens datasets: history and context. "
        "ACM Transactions on Interactive Intelligent Systems 5(4), 2016.",
        labels={"movie": "genres, several per movie"},
        folder="MovieLens",
        sha256=_files(
            "50246a9bde10b72968f7e857db741a03ec9b7c2d58908ff6b6cb6d0a0b06e5f4",
            "9b3b199fb9d2ee20eac0ac0d108a2a307849a2c28a95689ade342d62bc3537bc",
        ),
    ),
    Entry(
        name="drug",
        title="drug: which drug has which side effect for whom",
        description="Users reporting an adverse reaction to a drug.",
        node_types=("user", "drug", "reaction"),
        source="FDA Adverse Event Reporting System (FAERS), U.S. Food and Drug Administration.",
        folder="drug",
        sha256=_files(
            "304577d37203e72ac10954ef2e9ab75e2113645af786b10d5a82db21f2db7acc",
            "77892d6f299740829c955a69fa21cb560424941439c2e29909fe53e116c5808f",
        ),
        caution="leaks: 75,691 of the 137,404 training rows are repeats, and 23,025 of the 34,352 "
        "test rows are also in train; the protocol 'clean' removes both",
    ),
    Entry(
        name="wordnet",
        title="wordnet: how meanings are related",
        description="Relations between synsets of WordNet 3.0, without their names; "
        "'dhne datasets build wordnet --from DIR' builds all of WordNet with names.",
        node_types=("head", "relation", "tail"),
        source="A. Bordes, N. Usunier, A. Garcia-Duran, J. Weston, O. Yakhnenko: Translating "
        "embeddings for modeling multi-relational data. NeurIPS 2013; from WordNet 3.0, "
        "Princeton University.",
        labels={"head": "lexicographer category"},
        folder="wordnet",
        sha256=_files(
            "dc6575c71c5744d12824119d722cdddcff93af0e4c202fd38c5ffc0512921399",
            "49fa119ca83cf1f2660e1ac1bcbabcebfc74d086e3a11b64d0945d6afca10f87",
        ),
    ),
    Entry(
        name="wordnet-sample",
        title="wordnet-sample: WordNet's map of the world, with names",
        description="Relations between the places of WordNet 3.0 and what they belong to: "
        "(paris.n.01, part_of, france.n.01).",
        node_types=("head", "relation", "tail"),
        source="WordNet 3.0, Copyright 2006 by Princeton University; "
        "its licence is beside the data.",
        labels={"head": "lexicographer category", "tail": "lexicographer category"},
    ),
    Entry(
        name="kinships",
        title="kinships: who is what to whom",
        description="Kinship terms between 104 people of the Alyawarra in central Australia.",
        node_types=("relation", "entity"),
        source="W. W. Denham: The detection of patterns in Alyawarra nonverbal behavior. PhD "
        "thesis, University of Washington, 1973.",
        folder="kinships",
        sha256=_parts(
            "738612111a6acf0e39662bde24c7e72a4d1edf20931beea077da367dda689731",
            "c56f8630a583178b1e569f11a64aa535ae1ce0b0912d8b1e24716be2b37f04da",
            "05e5733265761d55be9c05bfaff5a8d0808df46f9c1e9d66cc3f2fe114e43d88",
        ),
        addresses=(f"{_PYKEEN}/kinships",),
        relation=2,
        positions=("entity",),
    ),
    Entry(
        name="umls",
        title="umls: how biomedical concepts are related",
        description="Relations between the semantic types of the Unified Medical Language System.",
        node_types=("relation", "entity"),
        source="A. T. McCray: An upper-level ontology for the biomedical domain. Comparative and "
        "Functional Genomics 4(1), 2003.",
        folder="umls",
        sha256=_parts(
            "873ef4925516b83e7f6f8cc02b4be51d848828710a7f65a956f0ac4a9e452f35",
            "025c98f8a4891e2a6582ec5b40ee0d904031edad9c52554522f4b7904820c98e",
            "a7eb529a3d2810fcc96341ccc97c625a5e202f8389673aa6bd317eeebbb79014",
        ),
        addresses=(f"{_PYKEEN}/umls",),
        relation=2,
        positions=("entity",),
    ),
    Entry(
        name="jf17k",
        title="jf17k: facts of two to six entities",
        description="Facts of Freebase, of 2 to 6 entities each.",
        node_types=("relation", "entity"),
        source="J. Wen, J. Li, Y. Mao, S. Chen, R. Zhang: On the representation and embedding of "
        "knowledge bases beyond binary relations. IJCAI 2016; with the validation part of "
        "B. Fatemi, P. Taslakian, D. Vazquez, D. Poole: Knowledge hypergraphs. IJCAI 2020.",
        folder="jf17k",
        sha256=_parts(
            "d602fcd7a447e7e94a701b55c4887d83db52f5a6dc7b0946fc543842f453d27e",
            "a32edb4e155653767c8b47b2f04453b08e933ce198522ef873ddbe4e2fc18fef",
            "0d3732305a7cb862a48d00870fdeae83332ab42d505983fb6eb0f931df7714dd",
        ),
        addresses=(
            f"{_GITHUB}/ServiceNow/HypE/41acc40b4876e5698ad62baff0001d9f539c6b39/data/JF17K",
        ),
        relation=1,
        numbered=("test.txt",),
        positions=("entity",),
    ),
)

CATALOGUE: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}
