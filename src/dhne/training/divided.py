"""Training with several workers: both the tables (by column) and the tuples are partitioned.

Each worker has the rows of W, V and c that belong to its columns (`dhne.training.columns`), and all
other weights, which are dense and small. All draw the same batches. In a step, worker k

1. multiplies its columns, A_k W_k, for all nodes of the batch; the sum over workers is A W;
2. computes L1 of its share of the tuples, and L2 at the non-zeros of its columns. The losses of all
   workers add up to the loss of the batch, so their gradients with respect to A W and the dense
   weights add up as well, in a single sum over workers;
3. propagates the gradient of A W back to W_k, and steps.

So a step sums two numbers per node of the batch and dimension; the tables are never exchanged.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dhne.answers.scorer import encode_chunks
from dhne.kernels import Kernels, StepSize
from dhne.model.evidence import PairEvidence
from dhne.model.joint import DHNEModel
from dhne.model.module_names import module_name
from dhne.network.hypernetwork import HyperNetwork
from dhne.sampling import KnownEdges
from dhne.workers import Group, records_sums

from .assembly import Blueprint, built_on
from .callbacks import Callback
from .columns import NUM_SHARDS, AdjacencyPart, RowPart, Shards, adjacency_part
from .divided_batches import DividedBatches
from .exchange import Exchange
from .loop import ShardStore, Trainer
from .memory_estimate import (
    bytes_on_device,
    check_fits,
    count_weights,
    memory_errors,
    training_bytes,
)
from .step_inputs import StepInputs

_TABLES = ("encoder_table", "decoder_table", "decoder_bias")
_BATCHES = 16  # between checks of the clock, which all workers make together


@dataclass(frozen=True, eq=False)
class DividedBlueprint(Blueprint):
    """A blueprint of which this worker builds one part."""

    group: Group = Group()  # noqa: RUF009 - a group of one does nothing

    @classmethod
    def divide(
        cls, blueprint: Blueprint, group: Group, device: torch.device | None = None
    ) -> DividedBlueprint:
        """Return the part of a blueprint that a worker of `group` builds, on its device."""
        same = {f.name: getattr(blueprint, f.name) for f in fields(Blueprint)}
        return cls(**same | {"device": device}, group=group)

    @cached_property
    def rows(self) -> dict[str, RowPart]:  # type: ignore[override]
        """The worker's columns of the rows of each node type."""
        shards = Shards(self.group.rank, self.group.size)
        parts = adjacency_part(self.train, shards, self.numpy_dtype, device=self.device)
        return {t: RowPart(a, self.settings.rows, self.group) for t, a in parts.items()}

    def known(self, *networks: HyperNetwork, device: torch.device | None = None) -> KnownEdges:
        """Return hyperedges of which this worker has a part; all workers look them up together."""
        return KnownEdges(*networks, group=self.group, device=device)

    def evidence(self, device: torch.device, kernels: Kernels | None = None) -> PairEvidence | None:
        """Return the counts of the training network, of which every worker has all."""
        if not self.settings.evidence:
            return None
        with memory_errors(device):
            matrices = self.whole_adjacency()
        return PairEvidence(self.train, matrices, device=device, dtype=self.dtype, kernels=kernels)


def draw_part(model: DHNEModel, rows: Mapping[str, RowPart], seed: int) -> None:
    """Redraw the weights: tables shard by shard, the others identically on all workers."""
    with torch.no_grad():
        for number, (t, row) in enumerate(rows.items()):
            coder, part = model.autoencoder(t), row.part
            for which, table in enumerate((coder.encoder_table, coder.decoder_table)):
                table.zero_()
                for shard in part.shards.numbers:
                    source = _generator(table.device, seed, number, which, shard)
                    for where in part.shard_rows(shard):
                        drawn = torch.empty_like(table[where])
                        table[where] = drawn.normal_(0, table.shape[1] ** -0.5, generator=source)
    source = _generator(next(model.parameters()).device, seed, len(rows))
    for t in rows:
        model.autoencoder(t).reset_layers(source)
    for similarity in model.similarities.values():
        similarity.reset(source)  # type: ignore[operator]


def _generator(device: torch.device, *key: int) -> torch.Generator:
    state = np.random.SeedSequence(key).generate_state(1, np.uint64)
    return torch.Generator(device).manual_seed(int(state[0]))


class DividedTrainer(Trainer):
    """A `Trainer` that is one worker of a group.

    Parameters
    ----------
    group : Group
    rows : mapping of node type to RowPart
    shards : ShardStore, optional
        Where to resume from and save to.
    other arguments : as for `Trainer`
    """

    def __init__(
        self,
        group: Group,
        rows: Mapping[str, RowPart],
        model: DHNEModel,
        *arguments: Any,
        shards: ShardStore | None = None,
        **others: Any,
    ) -> None:
        super().__init__(model, *arguments, **others)
        self.group, self.rows, self.shards = group, rows, shards
        self._exchange = Exchange(group, model)
        self._parts: dict[str, AdjacencyPart] = {
            f"autoencoders.{module_name(t)}.{name}": row.part
            for t, row in rows.items()
            for name in _TABLES
        }

    def _step(self, inputs: StepInputs, size: StepSize) -> Tensor:
        batch = self.maker.assemble(inputs)
        first, second = self.model.loss(
            self.kernels, batch, self.loss, second_order=bool(self.settings.alpha)
        )
        present = [g.types for g in inputs.groups if len(g.edges)]
        present += [f.types for f in inputs.families if len(f)]
        dense = self._exchange.dense(list(batch.types), present)
        losses = self._exchange.backward(first, second, dense)
        self.optimizer.step(size)
        return losses

    def _agree(self, mine: bool) -> bool:
        return bool(self.group.of_first(float(mine)))

    def _save_if_due(self) -> None:
        due = time.perf_counter() - self._saved >= self.checkpoint_seconds
        if self.shards is not None and self._agree(due):
            self._save()
            self._saved = time.perf_counter()

    def _after_batch(self, number: int) -> None:
        self._batches_done = number
        if number % _BATCHES == 0 and number < self.maker.num_batches:
            self._save_if_due()

    # -- the whole model, assembled --------------------------------------------------------------

    def whole_weights(self) -> dict[str, Tensor]:
        """Return the whole model's weights on the first worker, and nothing on the others."""
        found = {}
        for name, tensor in self.model.state_dict().items():
            if name not in self._parts:
                found[name] = tensor.cpu()
                continue
            sizes, width = self._parts[name].num_neighbours, tensor.shape[1]
            owned = [Shards(rank, self.group.size) for rank in range(self.group.size)]
            shapes = [(1 + sum(s.count(n) for n in sizes.values()), width) for s in owned]
            tables = self.group.to_first(tensor.cpu(), shapes)
            if tables:
                found[name] = _put_together(tables, owned, sizes)
        return found if self.group.is_first else {}

    # -- resuming after an interruption ----------------------------------------------------------

    def _save(self) -> None:
        assert self.shards is not None
        step, mine = self.optimizer.steps, next(iter(self.rows.values())).part.shards
        state = self._state()
        tables = {k: p for k in state if (p := self._part_of(k)) is not None}
        digests = torch.zeros(NUM_SHARDS, 32, dtype=torch.int32)
        with self.group.together():
            if self.group.is_first:
                self.shards.begin(step)
        with self.group.together():
            for shard in mine.numbers:
                tensors = {
                    k: torch.cat([state[k][w] for w in p.shard_rows(shard)])
                    for k, p in tables.items()
                    if p.blocks
                }
                digest = self.shards.write(step, _name(shard), tensors)
                digests[shard] = torch.tensor(list(digest))
        self.group.sum_(digests)
        with self.group.together():
            if self.group.is_first:
                dense = {k: v for k, v in state.items() if k not in tables}
                found = {_name(i): bytes(d) for i, d in enumerate(digests.tolist())}
                found["dense"] = self.shards.write(step, "dense", dense)
                self.shards.commit(step, found, self._meta())

    def _meta(self) -> dict[str, Any]:
        losses = self._losses.tolist()
        return {**super()._meta(), "batches_done": self._batches_done, "losses": losses}

    def _resume(self) -> None:
        if self.shards is None:
            return
        mine = next(iter(self.rows.values())).part.shards
        wanted = [*map(_name, mine.numbers), "dense"]
        steps = self.group.text_of_first(" ".join(map(str, self.shards.steps())))
        for step in map(int, steps.split()):
            found = self.shards.read(step, wanted)
            if self.group.total(found is None) == 0:
                assert found is not None
                self._restore(*found)
                return

    def _restore(self, tensors: dict[str, Any], meta: dict[str, Any]) -> None:
        """Resume from the files of a checkpoint."""
        with self.group.together():
            self._check_same(meta)
        state: dict[str, Tensor] = dict(tensors.pop("dense"))
        for name, saved in tensors.items():
            for key, rows in saved.items():
                part = self._part_of(key)
                assert part is not None
                if key not in state:
                    state[key] = rows.new_zeros(part.shape[1], rows.shape[1])
                places = part.shard_rows(int(name.removeprefix("shard-")))
                sizes = [len(range(*w.indices(part.shape[1]))) for w in places]
                for where, new in zip(places, rows.split(sizes), strict=True):
                    state[key][where] = new
        for key, tensor in self._state().items():  # tables without columns have no rows to save
            state.setdefault(key, tensor)
        super()._restore(state, meta)
        self._batches_done = meta["batches_done"]
        self._losses.copy_(torch.tensor(meta["losses"], dtype=torch.float64))

    def _part_of(self, key: str) -> AdjacencyPart | None:
        """Return the columns that a tensor of the state belongs to, if it is a table."""
        name = key.split("/", 1)[1]
        return self._parts.get(name) or self._parts.get(name.rpartition(":")[0])

    def _fingerprint(self) -> str:
        """What must match to resume a training; the number of workers need not."""
        shapes = []
        for key, tensor in self.model.state_dict().items():
            part = self._parts.get(key)
            rows = [sum(part.num_neighbours.values())] if part else list(tensor.shape[:1])
            shapes.append((key, rows + list(tensor.shape[1:]), str(tensor.dtype)))
        return f"divided {self.settings} seed={self.seed} edges={self.maker.fingerprint} {shapes}"


def _name(shard: int) -> str:
    return f"shard-{shard:02d}"


def _put_together(tables: list[Tensor], owned: list[Shards], sizes: dict[str, int]) -> Tensor:
    """Assemble a whole table from the parts of all workers."""
    whole = tables[0].new_empty(sum(sizes.values()), tables[0].shape[1])
    for table, shards in zip(tables, owned, strict=True):
        begin, first = 1, 0
        for n in sizes.values():
            for shard in shards.numbers:
                rows = table[shards.rows(shard, begin, n)]
                whole[first + shard : first + n : NUM_SHARDS] = rows
            begin, first = begin + shards.count(n), first + n
    return whole


def prepare_divided(
    blueprint: Blueprint,
    group: Group,
    kernels: Kernels,
    device: torch.device,
    *,
    seed: int,
    callbacks: Sequence[Callback] = (),
    shards: ShardStore | None = None,
    checkpoint_seconds: float = 30.0,
) -> DividedTrainer:
    """Return this worker's part of a training, ready to run."""
    plan = DividedBlueprint.divide(blueprint, group, built_on(device))
    with memory_errors(device):
        rows = plan.rows
    weights = count_weights(plan.build)
    needed = training_bytes(
        plan.train, rows, plan.settings, weights, plan.dtype.itemsize, group.size
    )
    with group.together():
        check_fits(needed, device, group.size, held=bytes_on_device(rows))
    with device:
        model = plan.build()
        draw_part(model, rows, seed)
    if device.type == "cuda":
        kernels.may_record = records_sums()
    evidence = plan.evidence(device, kernels)
    maker = plan.batches(kernels, device, evidence, partial(DividedBatches, group))
    validate = None
    if plan.validation is not None:
        auc = partial(plan.validation.auc, model, kernels, maker.sparse, evidence)
        validate = lambda: group.of_first(auc())  # noqa: E731
    return DividedTrainer(
        group,
        rows,
        model,
        maker,
        kernels,
        blueprint.settings,
        seed=seed,
        validate=validate,
        callbacks=callbacks if group.is_first else (),
        shards=shards,
        checkpoint_seconds=checkpoint_seconds,
    )


@dataclass(frozen=True)
class Trained:
    """A whole model on the CPU, the embeddings of all nodes, and one record per epoch."""

    model: DHNEModel
    embeddings: dict[str, Tensor]
    history: list[dict[str, Any]]


def train_divided(
    blueprint: Blueprint, group: Group, kernels: Kernels, device: torch.device, **options: Any
) -> Trained | None:
    """Train with the other workers of a group; the first returns the whole model.

    `options` are those of `prepare_divided`.
    """
    trainer = prepare_divided(blueprint, group, kernels, device, **options)
    history = trainer.run()
    x = {}
    for t, matrix in trainer.maker.sparse.items():
        parts = [torch.empty(0, blueprint.settings.sizes(t)[-1], dtype=blueprint.dtype)]
        for part in encode_chunks(trainer.model, kernels, t, matrix):
            parts += [part.cpu()] * group.is_first
        x[t] = torch.cat(parts)
    weights = trainer.whole_weights()
    if not group.is_first:
        return None
    model = blueprint.build()
    model.load_state_dict(weights)
    return Trained(model, x, history)
