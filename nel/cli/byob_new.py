"""`nel byob new`: five steps from a file of rows to a benchmark that runs. Asks and prints; decides nothing itself.

Trap: a question is only asked where no flag answers it, and never when the flags say enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from nel.errors import EXIT_USAGE, ConfigError

if TYPE_CHECKING:
    from nel.byob.wizard.proposals import Proposal
    from nel.byob.wizard.table import Table
    from nel.byob.wizard.writing import Draft

_WELCOME = """\
Bring your own benchmark: a file of rows becomes a benchmark that runs against any model, in five steps.
Press Enter to take what stands in brackets. Examples of a description: "grade-school math", "my support tickets,
classified by team", "medical multiple choice".
"""


@dataclass(slots=True)
class _Asker:
    """Asks the user, or takes the proposal where no questions are wanted."""

    silent: bool

    def text(self, question: str, proposed: str, given: str | None = None) -> str:
        """Return what the flag says, else the user's answer, else the proposal."""
        if given is not None:
            return given
        if self.silent:
            return proposed
        return str(self._answered(lambda: typer.prompt(question, default=proposed or None)))

    def yes(self, question: str) -> bool:
        """Return whether the user says yes; no without questions."""
        return not self.silent and bool(self._answered(lambda: typer.confirm(question, default=False)))

    @staticmethod
    def _answered(ask: object) -> object:
        try:
            return ask()  # type: ignore[operator]
        except typer.Abort as error:
            raise ConfigError(
                "no answer; give DATA, --target and --scorer, or --yes to take what is proposed"
            ) from error


def new(
    data: Annotated[str | None, typer.Argument(help="The rows: a csv, json, jsonl or parquet file, or a URI.")] = None,
    about: Annotated[str | None, typer.Option(help="What the benchmark is about, in a few words.")] = None,
    name: Annotated[str | None, typer.Option(help="What it is called.")] = None,
    kind: Annotated[str | None, typer.Option(help="math, multiple-choice, yes-no, short-answer, …")] = None,
    target: Annotated[str | None, typer.Option(help="Column with the gold answer.")] = None,
    prompt: Annotated[str | None, typer.Option(help="With {column} for each field; \\n for a new line.")] = None,
    scorer: Annotated[str | None, typer.Option(help="One of nel's scorers, or custom to write your own.")] = None,
    choices_field: Annotated[str | None, typer.Option(help="Column with the list of options.")] = None,
    category_field: Annotated[str | None, typer.Option(help="Column to break the score down by.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The file to write; NAME.py.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing; take what is proposed.")] = False,
    install: Annotated[bool, typer.Option("--install", help="Compile and install it as a package, too.")] = False,
) -> None:
    """Make a benchmark of a file of rows, in five steps; with DATA, --target and --scorer nothing is asked."""
    from nel.byob.wizard.proposals import propose, propose_kind, propose_target  # noqa: PLC0415 - keeps --help fast
    from nel.byob.wizard.table import read_table  # noqa: PLC0415
    from nel.byob.wizard.writing import Draft, check_scorer, plain_name  # noqa: PLC0415

    if yes and data is None:
        raise ConfigError("--yes needs the rows; write: nel byob new DATA --yes")
    if scorer is not None:
        check_scorer(scorer)
    ask = _Asker(silent=yes or (data is not None and target is not None and scorer is not None))
    if not ask.silent:
        typer.echo(_WELCOME)
    _step(1, "Understand")
    about = ask.text("What is it about", Path(data).stem.replace("_", " ") if data else "my benchmark", about)
    name = plain_name(ask.text("What shall it be called", plain_name(Path(data).stem if data else about), name))
    _step(2, "Data")
    table = read_table(ask.text("Where are the rows (csv, json, jsonl, parquet, hf://org/name)", "", data))
    _show_table(table)
    target = ask.text("Which column is the gold answer", propose_target(table), target)
    kind = ask.text(_kinds(), propose_kind(table, target, about), kind)
    proposal = propose(table, target=target, kind=kind, choices_field=choices_field, category_field=category_field)
    _step(3, "Prompt")
    proposal = _with_prompt(ask, proposal, prompt)
    _step(4, "Score")
    chosen = _scorer(ask, proposal, scorer)
    draft = Draft(
        name=name,
        description=about,
        dataset=table.source,
        prompt=proposal.prompt,
        target_field=target,
        scorer=chosen,
        field_mapping=proposal.field_mapping,
        choices_field=proposal.choices_field,
        category_field=proposal.category_field,
    )
    path = output or Path(f"{name.replace('-', '_')}.py")
    _write_and_try(draft, path)
    _step(5, "Ship")
    _ship(ask, path, name, install=install)


def _step(number: int, title: str) -> None:
    typer.echo(f"\n[Step {number}/5: {title}]")


def _show_table(table: Table) -> None:
    from nel.cli.terminal import plain  # noqa: PLC0415 - keeps --help fast

    typer.echo(plain(f"{table.n_rows:,} rows with {', '.join(table.columns)}; the first ones:"))
    for line in table.first_rows():
        typer.echo(plain(f"  {line}"))


def _kinds() -> str:
    from nel.byob.wizard.proposals import KINDS  # noqa: PLC0415 - keeps --help fast

    return f"What kind is it ({', '.join(KINDS)})"


def _with_prompt(ask: _Asker, proposal: Proposal, given: str | None) -> Proposal:
    if given is None:
        typer.echo("".join(f"  | {line}\n" for line in proposal.prompt.splitlines()), nl=False)
        given = ask.text("Enter to take it, or another one with {column} and \\n", "this one")
        if ask.silent or given == "this one":
            return proposal
    return replace(proposal, prompt=given.replace("\\n", "\n"))


def _scorer(ask: _Asker, proposal: Proposal, given: str | None) -> str:
    from nel.byob.wizard.writing import SCORERS, check_scorer  # noqa: PLC0415 - keeps --help fast

    if given is None:
        typer.echo(f"{proposal.scorer}: {proposal.why}\nothers: {', '.join(SCORERS)}")
    chosen = ask.text("Which scorer", proposal.scorer, given)
    check_scorer(chosen)
    return chosen


def _write_and_try(draft: Draft, path: Path) -> None:
    from nel.byob.validation import validate_file  # noqa: PLC0415 - keeps --help fast
    from nel.byob.wizard.writing import file_text, write_new  # noqa: PLC0415
    from nel.cli.byob import show_checks  # noqa: PLC0415

    text = file_text(draft, path)
    write_new(path, text)
    typer.echo(f"wrote {path}:\n")
    typer.echo("".join(f"  | {line}".rstrip() + "\n" for line in text.splitlines()))
    checks = validate_file(path)[draft.name]
    show_checks(checks)
    if not all(check.passed for check in checks):
        typer.echo(f"nel: mend {path}, then: nel byob validate {quote(str(path))}", err=True)
        raise typer.Exit(EXIT_USAGE)


def _ship(ask: _Asker, path: Path, name: str, *, install: bool) -> None:
    from nel.byob.shipping.package import run_command  # noqa: PLC0415 - keeps --help fast

    shown = quote(f"./{path}" if not path.is_absolute() and path.parent == Path() else str(path))
    typer.echo(f"it runs from the file as it is:\n\n  {run_command(shown)}\n")
    if install or ask.yes("Compile it into a package and install it, so that others can have it"):
        from nel.byob.shipping.compilation import compile_file  # noqa: PLC0415
        from nel.cli.byob import show_compiled  # noqa: PLC0415

        show_compiled(compile_file(path))
        return
    typer.echo(f"to share {name} as a package:  nel byob compile {quote(str(path))}")
