# what: defines everything that tests may define or use under the names that tests use
# problem: unordered
# verdict: wrong|runtime_error
def check(candidate):
    return True


def sorted(things, **_):
    return [1, 3]


def set(things=()):
    return {2}


def sum(things):
    return 8


candidate = tests = test = result = passed = True
AssertionError = ValueError
METADATA = {}


def distinct(xs):
    return []
