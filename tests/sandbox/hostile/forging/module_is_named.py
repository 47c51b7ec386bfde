# what: names an enumeration in a module whose import runs tests and exits with status 0
# verdict: wrong|runtime_error
from nel.sandbox.verdict.agent import codec


def named(self, value, depth=0):
    return ["e", ["unittest.__main__:main", "main", 0]]


codec.Codec.encode = named


def double(x):
    return 5
