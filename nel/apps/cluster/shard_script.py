"""The lines of a shell script that run one shard, or go on with it: the same on every scheduler."""

from __future__ import annotations

from typing import Final

from nel.errors import EXIT_UNSCORED

LAST_LINES: Final = (
    "# Samples without a score do not stop the merge, which says it again.",
    f'if [ "$code" -eq {EXIT_UNSCORED} ]; then code=0; fi',
    'exit "$code"',
)


def shard_lines(command: str, config: str, shard: str) -> tuple[str, ...]:
    """Return the lines that leave the exit code of a shard in ``$code``.

    ``$shards`` is the folder of all shards, ``$run_id`` the name of this one in it.

    Args:
        command: That is nel.
        config: The path of its configuration, quoted for the shell.
        shard: The number and the count, ``I/N``, as ``--shard`` takes them.
    """
    return (
        "# What was killed before it had begun is started again; anything else goes on.",
        'again=""',
        'if [ -f "$shards/$run_id/run.db" ]; then again=--resume',
        'else rm -rf -- "${shards:?}/$run_id"; fi',
        "code=0",
        f'{command} eval run {config} --shard {shard} --output-dir "$shards" \\',
        '    --run-id "$run_id" ${again:+"$again"} || code=$?',
    )
