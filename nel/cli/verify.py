"""`nel verify`: do the files of a run agree with its store, and is its signature that of a key?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from nel.cli.options import ResultAsJson, run_path
from nel.cli.terminal import plain, say
from nel.core.paths import as_argument
from nel.core.strict_json import dumps
from nel.engine.store.remote import is_remote
from nel.errors import EXIT_STOPPED_EARLY, EXIT_USAGE, UsageError
from nel.reports.whole_run import is_unfinished
from nel.runs.verification import check_signature, verify_run
from nel.runs.verification import sign as sign_run


def verify(
    location: Annotated[
        str, typer.Argument(metavar="RUN_DIR", help="The directory or URL of the run.")
    ],
    sign: Annotated[
        Path | None,
        typer.Option("--sign", help="Sign what was verified with this private SSH key."),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option("--check", help="Check that the signature is of this public SSH key."),
    ] = None,
    as_json: ResultAsJson = False,
) -> None:
    """Write every artifact of a run again from its run.db, and compare; sign the result, or check a
    signature.

    Exit codes: 0 store, identity, files and signature agree; 2 they do not, or cannot be checked; 75
    they agree, and the run is PARTIAL.
    """
    if sign is not None and is_remote(location):
        raise UsageError(
            f"{location} is a URL, where a signature cannot be put; nel eval archive {location} makes"
            " a file of the run: unpack it, sign that directory, and hand it on"
        )
    run_dir = run_path(location)
    verified = verify_run(run_dir)
    checks = list(verified.checks)
    if check is not None:
        checks.append(check_signature(run_dir, verified, check))
    signature = sign_run(run_dir, verified, sign) if sign is not None else None
    is_verified = all(item.passed for item in checks)
    if as_json:
        summary = {
            "run_dir": str(run_dir),
            "passed": is_verified,
            "checks": list(map(asdict, checks)),
            "manifest": verified.manifest,
            "signature": signature and str(signature),
        }
        typer.echo(dumps(summary))
    else:
        for item in checks:
            typer.echo(plain(f"{'ok  ' if item.passed else 'FAIL'}  {item.what}: {item.detail}"))
        typer.echo(f"{sum(item.passed for item in checks)} of {len(checks)} hold")
        if signature is not None:
            typer.echo(f"signed: {signature}")
    if not is_verified:
        raise typer.Exit(EXIT_USAGE)
    if is_unfinished(run_dir):
        say([f"the run is PARTIAL: nel eval resume {as_argument(location)}"])
        raise typer.Exit(EXIT_STOPPED_EARLY)
