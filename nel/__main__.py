"""The ``nel`` command, and ``python -m nel``; imports the command line in `main`, so that Ctrl-C
may come meanwhile.
"""

from __future__ import annotations

import sys

from nel.core.start_up import begin_start_up


def main() -> None:
    """Run the command line; a Ctrl-C while it is being imported ends it in one line, as a later one
    does.
    """
    begin_start_up()
    try:
        from nel.cli.app import main as command_line  # noqa: PLC0415 - takes a third of a second
    except KeyboardInterrupt:
        print("nel: interrupted", file=sys.stderr)  # noqa: T201 - this is the command line
        sys.exit(130)
    command_line()


if __name__ == "__main__":
    main()
