# what: returns an int whose comparisons lie
# problem: double
# verdict: wrong
class Liar(int):
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    __lt__ = __le__ = __gt__ = __ge__ = __eq__

    def __hash__(self):
        return 0

    def __index__(self):
        return 4


def double(x):
    return Liar(x)
