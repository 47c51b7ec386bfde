# what: forgets all loaded modules and empties those of the harness
# problem: double
# verdict: wrong|runtime_error
import sys

for name, module in list(sys.modules.items()):
    if "agent" in name or name in ("json", "struct", "traceback", "linecache"):
        vars(module).clear()
sys.modules.clear()


def double(x):
    return x
