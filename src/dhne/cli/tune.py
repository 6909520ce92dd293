"""``dhne tune``: search for the best settings on a validation set, and train with them."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dhne.errors import RunError

from .output import add_row, console, make_table, note, write_json
from .parameter_options import SeedOption, given_parameters, with_parameters
from .progress import TaskProgress
from .queries import JsonOption
from .source import complete_source, open_source
from .source_options import with_source

if TYPE_CHECKING:
    from dhne.training.callbacks import Progress
    from dhne.tuning import Trial, Tuned

STUDY = "study.jsonl"
_SHOWN = 5


@with_parameters(without=["validation"])
@with_source()
def command(
    parameters: dict[str, Any],
    reading: dict[str, Any],
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE…",
            autocompletion=complete_source,
            help="A dataset's name, or one or several files.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="RUN", help="The directory of the run to make.")
    ],
    trials: Annotated[
        int, typer.Option(min=1, help="Number of settings to try, including earlier ones.")
    ] = 30,
    seed: SeedOption = "0",
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Fix a setting, as its own option does; may be repeated.",
        ),
    ] = None,
    search: Annotated[
        list[str] | None,
        typer.Option(
            "--search",
            metavar="KEY=LOW:HIGH[:log] or KEY=A,B",
            help="Values to try for a setting; may be repeated.",
        ),
    ] = None,
    validation: Annotated[
        float, typer.Option(help="Share of the hyperedges held out for validation.")
    ] = 0.1,
    prune: Annotated[
        bool, typer.Option("--prune/--no-prune", help="Stop trials that fall behind.")
    ] = True,
    split: Annotated[
        Literal["train", "all"],
        typer.Option(help="Which part of a dataset that has a split; train never sees test."),
    ] = "train",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Start over: replace the run and its search.")
    ] = False,
    json: JsonOption = None,
) -> None:
    """Search for the settings with the best validation AUC, then train with them on everything.

    Alpha, learning rate, dimensions, negatives and epochs are tried, and what --search names; a
    hyper-parameter given by its own option or by --set is fixed. The search is kept in
    RUN/study.jsonl: after an interruption, or to try more, repeat the command. Part of the source
    is held out for validation; a dataset's test part is never used.

    [bold]Examples[/bold]

    dhne tune wordnet-sample --out runs/places --trials 30

    dhne tune tags.csv --columns user=userId,movie=movieId,tag=tag --out runs/tags --dim 64

    dhne tune gps --out runs/gps --preset plus --search alpha=0.1:50:log --search negatives=5,10
    """
    from dhne.hyperparameters import PARAMETERS
    from dhne.methods import parse_settings
    from dhne.storage import lock_run
    from dhne.tuning import Search, parse_space

    params = given_parameters(parameters) | parse_settings(setting or [], PARAMETERS)
    space = parse_space(search or [])
    network = open_source(sources, split=split, **reading)
    plan = Search(network, params, space, validation, int(seed), prune)  # reports mistakes at once
    begin = time.perf_counter()
    with lock_run(out):
        study = _make_room(out, sources, overwrite=overwrite)
        try:
            with TaskProgress(quiet=json == "-") as progress:
                bars = _Bars(progress, trials)
                found = plan.run(
                    trials, storage=study, report=bars.report, callbacks=bars.callbacks
                )
                model = found.model().fit(network, callbacks=bars.callbacks())
        except KeyboardInterrupt:
            place = shlex.quote(str(out))
            again = "without --overwrite " if overwrite else ""
            note(f"interrupted; the same command {again}continues the search in {place}")
            raise typer.Exit(130) from None
        if study.parent != out:
            study.replace(out / STUDY)
        model.save(out)
    report = _report(found, out, sources, model.config(), time.perf_counter() - begin)
    if json is not None:
        write_json(report, json)
    if json != "-":
        _show(found)
    note(f"{out}: trained on {network.num_edges():,} hyperedges with the best of them")


def _make_room(out: Path, sources: list[str], *, overwrite: bool) -> Path:
    """Begin a run, or find the search to go on with; return where the search is kept."""
    from dhne.storage import begin_run, read_config, run_status, unfinished_run

    if overwrite or run_status(out) is None:
        config = {"method": "dhne", "tuning": {"source": sources}}
        study = begin_run(out, config, overwrite=overwrite).directory.parent / STUDY
        study.unlink(missing_ok=True)
        return study
    place = unfinished_run(out) or out
    if not (place / STUDY).exists() and "tuning" not in read_config(place):
        raise RunError(
            f"{out} holds a run without a search; choose another name, or replace it (--overwrite)"
        )
    return place / STUDY


class _Bars:
    """The progress line: which trial it is, how far its training has come, the best so far."""

    def __init__(self, progress: TaskProgress, trials: int) -> None:
        self.progress, self.trials = progress, trials
        self.done, self.best = 0, 0.0

    def report(self, trial: Trial, done: int, total: int) -> None:
        """Count a trial that has ended."""
        self.done, self.best = done, max(self.best, trial.auc or 0.0)

    def callbacks(self) -> list[Any]:
        """Return a callback that updates the line during a training."""
        from dhne.training.callbacks import Callback

        title = self._title()
        progress = self.progress

        class Move(Callback):
            def on_epoch_end(self, state: Progress) -> None:
                progress.report(title, state.epoch, state.epochs)

        return [Move()]

    def _title(self) -> str:
        best = f", best AUC {self.best:.4f}" if self.best else ""
        if self.done >= self.trials:
            return f"training with the best settings{best}"
        return f"trial {self.done + 1} of {self.trials}{best}"


def _report(
    found: Tuned, out: Path, sources: list[str], config: dict[str, Any], seconds: float
) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "run": str(out),
        "source": sources,
        "validation_auc": found.auc,
        "best": asdict(found.best),
        "trials": [asdict(t) for t in found.trials],
        "seconds": seconds,
        "config": config,
    }


def _show(found: Tuned) -> None:
    """Print the best trials, best first."""
    names = list(dict.fromkeys(name for t in found.trials for name in t.params))
    best = sorted((t for t in found.trials if t.auc is not None), key=lambda t: -(t.auc or 0))
    table = make_table("Best trials", ["trial", "AUC", "epochs", *names])
    for t in best[:_SHOWN]:
        add_row(table, t.number, f"{t.auc:.4f}", t.epochs, *(t.params.get(n) for n in names))
    screen = console()
    screen.print(table)
    counts = {o: sum(t.outcome == o for t in found.trials) for o in ("pruned", "diverged")}
    given_up = ", ".join(f"{n} {o}" for o, n in counts.items() if n)
    screen.print(f"{len(found.trials)} trials" + (f", {given_up}" if given_up else ""))
