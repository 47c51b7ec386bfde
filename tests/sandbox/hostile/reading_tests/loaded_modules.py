# what: looks through the attributes of every loaded module, and the line cache of tracebacks
# problem: double
# verdict: passed
import linecache
import re
import sys

MARKER = re.compile(r"expected-side-(\d{10})")


def leaks():
    for name, module in list(sys.modules.items()):
        for key, value in list(getattr(module, "__dict__", {}).items()):
            if type(value) in (str, bytes, list, dict, tuple) and MARKER.search(repr(value)[:200_000]):
                yield f"{name}.{key}"
    for name, entry in linecache.cache.items():
        if MARKER.search(repr(entry)):
            yield f"line cache of {name}"


found = []


def double(x):
    if x == 2:
        found.extend(leaks())
    if found:
        raise RuntimeError("reached: " + "; ".join(found))
    return 2 * x
