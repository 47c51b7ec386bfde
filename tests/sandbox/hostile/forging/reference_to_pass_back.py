# what: returns objects of its own, which the tests pass back to it, and lies about them
# problem: composed
# verdict: wrong|runtime_error
class Token:
    def __eq__(self, other):
        return True

    __hash__ = object.__hash__


def double(x):
    return Token()
