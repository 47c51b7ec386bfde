"""Commands in a container: what is asked of the helper, and what they came to. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast, get_args

if TYPE_CHECKING:
    from nel.environments.frames import Value

EndedBy: TypeAlias = Literal["exit", "signal", "timeout", "memory", "helper_killed"]
NOT_FOUND: Final = 127
"""Exit code of a command that is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """What a command came to."""

    exit: int
    """128 and the signal's number where a signal ended it."""
    stdout: bytes
    """Head and tail of a longer output."""
    stderr: bytes
    cut: int
    """Bytes of both outputs that are missing."""
    seconds: float
    ended_by: EndedBy
    is_written_after: bool = False
    """A folder that was watched was written to after the command's end."""


def command_fields(argv: Sequence[str], env: Mapping[str, str], *, merge: bool) -> dict[str, Value]:
    """Return the fields of a request that say which command is run."""
    variables = [f"{name}={value}" for name, value in env.items()]
    return {"do": "run", "arg": list(argv), "env": variables, "merge": merge}


def result_without_reply(
    code: int, by: EndedBy, stderr: bytes = b"", seconds: float = 0.0
) -> CommandResult:
    """Return the result of a command of which the helper says nothing."""
    return CommandResult(exit=code, stdout=b"", stderr=stderr, cut=0, seconds=seconds, ended_by=by)


def result_of(reply: Mapping[str, str], output: bytes) -> CommandResult:
    """Return what a helper's reply says; raises ValueError and KeyError where it is none."""
    n_stdout = int(reply["n_stdout"])
    ended_by = reply["ended_by"]
    if ended_by not in get_args(EndedBy):
        raise ValueError(f"an end by {ended_by}")
    return CommandResult(
        exit=int(reply["exit"]),
        stdout=output[:n_stdout],
        stderr=output[n_stdout:],
        cut=int(reply["size"]) - len(output),
        seconds=float(reply["seconds"]),
        ended_by=cast("EndedBy", ended_by),
        is_written_after=reply["is_written_after"] == "1",
    )
