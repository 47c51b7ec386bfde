"""`nel byob new`: the interactive wizard that makes a benchmark of a file of rows.

`nel.apps.byob.wizard` has the logic. A question is asked only where no flag answers it, and none
when the flags suffice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from nel.apps.byob.output import show_compiled
from nel.apps.byob.shipping.compilation import compile_file
from nel.apps.byob.shipping.package import run_command
from nel.apps.byob.wizard.proposals import (
    KINDS,
    Proposal,
    check_known,
    class_numbers,
    no_target,
    propose,
    propose_kind,
    propose_targets,
)
from nel.apps.byob.wizard.table import Table, read_table
from nel.apps.byob.wizard.writing import SCORERS, Draft, file_of, file_text, plain_name, write_new
from nel.cli.checks import show_checks
from nel.cli.terminal import plain
from nel.core.paths import as_argument
from nel.core.texts import count_text
from nel.datasets.table_form import split_options
from nel.discovery.benchmark_checks import check_file
from nel.errors import EXIT_USAGE, ConfigError, NelError

T = TypeVar("T")

_WELCOME = """\
Bring your own benchmark: a file of rows becomes a benchmark that runs against any model, in five steps.
Press Enter to take what stands in brackets. Examples of a description: "grade-school math", "my support tickets,
classified by team", "medical multiple choice".
"""


@dataclass(slots=True)
class _Asker:
    """Prompts the user, or takes each proposal when prompts are disabled."""

    silent: bool

    def ask(self, question: str, proposed: str, flag: str | None, check: Callable[[str], T]) -> T:
        """Return what a check makes of the flag's value, else of the user's answer or the proposal.

        An answer that fails its check is prompted for again; a flag that fails it ends the command.
        """
        if flag is not None or self.silent:
            value = proposed if flag is None else flag
            typer.echo(f"{question}: {value}")
            return check(value)
        while True:
            answer = str(self._answer_to(lambda: typer.prompt(question, default=proposed or None)))
            try:
                return check(answer)
            except NelError as error:
                typer.echo(f"  {error}")

    def yes(self, question: str) -> bool:
        """Return the user's confirmation; False when prompts are disabled."""
        return not self.silent and bool(
            self._answer_to(lambda: typer.confirm(question, default=False))
        )

    @staticmethod
    def _answer_to(question: Callable[[], object]) -> object:
        try:
            return question()
        except typer.Abort as error:
            raise ConfigError(
                "no answer; give DATA, --target and --scorer, or --yes for all proposals"
            ) from error


Data = Annotated[
    str | None, typer.Argument(help="The rows: a csv, xlsx, json, jsonl or parquet file, or a URI.")
]
About = Annotated[str | None, typer.Option(help="What the benchmark is about, in a few words.")]
Name = Annotated[str | None, typer.Option(help="Name of the benchmark.")]
Kind = Annotated[str | None, typer.Option(help="math, multiple-choice, yes-no, short-answer, …")]
Target = Annotated[str | None, typer.Option(help="Column with the gold answer.")]
Prompt = Annotated[
    str | None, typer.Option(help="With {column} for each field; \\n for a new line.")
]
Scorer = Annotated[
    str | None, typer.Option(help="One of nel's scorers, or custom to write your own.")
]
ChoicesField = Annotated[str | None, typer.Option(help="Column with the list of options.")]
CategoryField = Annotated[str | None, typer.Option(help="Column to break the score down by.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="The file to write; NAME.py.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Accept all proposals; prompt for nothing.")]
Install = Annotated[
    bool, typer.Option("--install", help="Also compile and install it as a package.")
]


def new(
    data: Data = None,
    about: About = None,
    name: Name = None,
    kind: Kind = None,
    target: Target = None,
    prompt: Prompt = None,
    scorer: Scorer = None,
    choices_field: ChoicesField = None,
    category_field: CategoryField = None,
    output: Output = None,
    yes: Yes = False,
    install: Install = False,
) -> None:
    """Make a benchmark of a file of rows, in five steps; with DATA, --target and --scorer there are
    no prompts.
    """
    if yes and data is None:
        raise ConfigError("--yes needs the rows; write: nel byob new DATA --yes")
    # Checked before the first question: a name that is taken must not cost the user's answers.
    path = None if output is None else file_of("", output)
    asker = _Asker(silent=yes or None not in (data, target, scorer))
    if not asker.silent:
        typer.echo(_WELCOME)
    _step(1, "Understand")
    about, name = _subject(asker, data, about, name)
    _step(2, "Data")
    table = asker.ask(
        "Where are the rows (csv, json, jsonl, parquet, hf://org/name)", "", data, read_table
    )
    _show_table(table)
    target = _target(asker, table, target)
    question = "What kind is it"
    if not asker.silent:
        question += f" ({', '.join(KINDS)})"
    proposed_kind = propose_kind(table, target, about)
    kind = asker.ask(question, proposed_kind, kind, partial(check_known, "kind", KINDS))
    proposal = propose(
        table, target=target, kind=kind, choices_field=choices_field, category_field=category_field
    )
    _step(3, "Prompt")
    _check_classes(asker, table, target, proposal, prompt)
    proposal = _with_prompt(asker, proposal, prompt)
    _step(4, "Score")
    draft = Draft(
        name=name,
        description=about,
        dataset=table.source,
        prompt=proposal.prompt,
        target_field=target,
        scorer=_scorer(asker, proposal, scorer),
        field_mapping=proposal.field_mapping,
        choices_field=proposal.choices_field,
        list_fields=proposal.list_fields,
        category_field=proposal.category_field,
    )
    path = path or file_of(name, None)
    _write_and_try(draft, path)
    _step(5, "Ship")
    _ship(asker, path, name, install=install)


def _target(asker: _Asker, table: Table, target: str | None) -> str:
    """Return the column with the gold answer.

    Raises:
        ConfigError: None can be asked for, and the names of the columns do not tell.
    """
    targets = propose_targets(table) if target is None else [target]
    if asker.silent and len(targets) != 1:
        raise no_target(table, targets)
    return asker.ask(
        "Which column is the gold answer",
        next(iter(targets), ""),
        target,
        partial(check_known, "column", table.fields()),
    )


def _subject(
    asker: _Asker, data: str | None, about: str | None, name: str | None
) -> tuple[str, str]:
    stem = Path(split_options(data)[0]).stem if data else None
    subject = stem.replace("_", " ") if stem else "my benchmark"
    about = asker.ask("What is it about", subject, about, str)
    return about, asker.ask("Name of the benchmark", plain_name(stem or about), name, plain_name)


def _step(number: int, title: str) -> None:
    typer.echo(f"\n[Step {number}/5: {title}]")


def _show_table(table: Table) -> None:
    typer.echo(
        plain(f"{count_text(table.n_rows, 'row')} with {', '.join(table.columns)}; the first ones:")
    )
    for note in table.notes:
        typer.echo(plain(f"  note: {note}"))
    for line in table.first_rows():
        typer.echo(plain(f"  {line}"))


def _check_classes(
    asker: _Asker, table: Table, target: str, proposal: Proposal, prompt: str | None
) -> None:
    """Refuse a prompt that would ask for numbers of classes and not say what they stand for."""
    numbers = class_numbers(table, target)
    if not numbers or prompt is not None or proposal.kind != "classification":
        return
    labels = ", ".join(numbers)
    if asker.silent:
        raise ConfigError(
            f'the numbers in the column "{target}" ({labels}) stand for classes; give --prompt with'
            " what each of them means and {column} for what is asked"
        )
    typer.echo(plain(f"the numbers {labels} stand for classes: say in the prompt what each means"))


def _with_prompt(asker: _Asker, proposal: Proposal, flag: str | None) -> Proposal:
    if flag is None and asker.silent and not proposal.asks:
        raise ConfigError(
            "no column is the question by its name; give --prompt with {column} for what is asked"
        )
    if flag is not None:
        proposal = replace(proposal, prompt=flag.replace("\\n", "\n"))
    _show_lines(proposal.prompt)
    if flag is None and proposal.left_out:
        fields = ", ".join(f"{{{name}}}" for name in proposal.left_out)
        typer.echo(
            plain(f"it leaves out {fields}; --prompt takes a prompt that names what is needed")
        )
    if flag is not None or asker.silent:
        return proposal
    answer = asker.ask(
        "Enter to take it, or another one with {column} and \\n", "this one", None, str
    )
    if answer == "this one":
        return proposal
    return replace(proposal, prompt=answer.replace("\\n", "\n"))


def _show_lines(text: str) -> None:
    for line in text.splitlines():
        typer.echo(f"  | {line}".rstrip())


def _scorer(asker: _Asker, proposal: Proposal, flag: str | None) -> str:
    if flag is None:
        typer.echo(f"{proposal.scorer} {proposal.why}")
    if flag is None and not asker.silent:
        typer.echo(f"others: {', '.join(SCORERS)}")
    return asker.ask("Which scorer", proposal.scorer, flag, partial(check_known, "scorer", SCORERS))


def _write_and_try(draft: Draft, path: Path) -> None:
    text = file_text(draft, path)
    write_new(path, text)
    typer.echo(f"wrote {path}:\n")
    _show_lines(text)
    typer.echo("\ntried on made-up answers:")
    checks = check_file(path)[draft.name]
    show_checks(checks)
    if not all(check.passed for check in checks):
        typer.echo(f"nel: fix {path}, then: nel byob validate {as_argument(path)}", err=True)
        raise typer.Exit(EXIT_USAGE)


def _ship(asker: _Asker, path: Path, name: str, *, install: bool) -> None:
    # A file without a folder would be taken for the name of an installed benchmark.
    is_bare = not path.is_absolute() and path.parent == Path()
    target = as_argument(f"./{path}" if is_bare else path)
    typer.echo(f"it runs from the file as it is:\n\n  {run_command(target)}\n")
    if install or asker.yes("Compile it into a package and install it, so that it can be shared"):
        show_compiled(compile_file(path))
        return
    typer.echo(f"to share {name} as a package:  nel byob compile {as_argument(path)}")
