"""Tools that a model may call in an episode: typed functions, and methods of an episode's object::

from nel.tools import ToolError, tool

@tool
def add(a: int, b: int) -> int:
    \"\"\"Add two numbers.

    Args:
        a: The first.
        b: The second.
    \"\"\"
    return a + b
"""

from nel.tools.declaration import ANY_NAME, Tool, tool
from nel.tools.results import ToolError, ToolResult, ToolsetFault
from nel.tools.toolset import SNAPSHOT, EnvironmentMaker, StepAddress, Toolset, tools_of

__all__ = [
    "ANY_NAME",
    "SNAPSHOT",
    "EnvironmentMaker",
    "StepAddress",
    "Tool",
    "ToolError",
    "ToolResult",
    "Toolset",
    "ToolsetFault",
    "tool",
    "tools_of",
]
