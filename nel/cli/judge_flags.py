"""The flags that name judges, the same in every command; `nel.cli.flags.panel_of` makes a panel of what they hold."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

JudgeUrls: TypeAlias = Annotated[
    list[str] | None, typer.Option(help="Base URL of the judge; repeatable, or one for all judges.")
]
JudgeIds: TypeAlias = Annotated[list[str] | None, typer.Option(help="Name of the judging model; several make a panel.")]
JudgeKeys: TypeAlias = Annotated[
    list[str] | None, typer.Option(help="Name of the variable that holds the judge's key.")
]
