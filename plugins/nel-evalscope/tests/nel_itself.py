"""Run as a program: evaluates with nel what the settings on stdin name, as JSON; says where each benchmark's files are.

Unless it is asked to, EvalScope cannot be imported here even where it is installed.
"""

from __future__ import annotations

import json
import sys
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

sys.dont_write_bytecode = True


class WithoutEvalScope(PathFinder):
    """Finds what is installed, but for EvalScope."""

    @classmethod
    def find_spec(cls, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return a module's place; None for EvalScope."""
        return (
            None
            if fullname.partition(".")[0] == "evalscope"
            else PathFinder.find_spec(fullname, path, target)
        )


if __name__ == "__main__":
    given = json.load(sys.stdin)
    if not given["with_evalscope"]:
        sys.meta_path[sys.meta_path.index(PathFinder)] = WithoutEvalScope
    from nel import evaluate

    result = evaluate(given["settings"])
    directories = [str(one.directory) for one in result.benchmarks]
    sys.stdout.write("\n" + json.dumps({"exit_code": result.exit_code, "directories": directories}))
