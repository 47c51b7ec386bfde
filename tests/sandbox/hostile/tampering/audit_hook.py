# what: installs a hook, which cannot be removed, that refuses everything the harness does
# verdict: wrong|runtime_error
import sys


def refuse(event, arguments):
    if event not in ("sys.addaudithook",):
        raise RuntimeError("refused: " + event)


sys.addaudithook(refuse)


def double(x):
    return x
