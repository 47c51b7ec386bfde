"""`nel endpoint`: embedded endpoints."""

import typer

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _root() -> None:
    pass


@app.command(name="demo")
def demo() -> None:
    pass
