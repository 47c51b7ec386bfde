# what: returns a float that says its distance to anything is zero
# problem: floats
# verdict: wrong
class Liar(float):
    def __sub__(self, other):
        return self

    __rsub__ = __sub__

    def __abs__(self):
        return 0.0

    def __round__(self, digits=None):
        return self

    def __eq__(self, other):
        return True

    def __lt__(self, other):
        return True

    __hash__ = None


def mean(xs):
    return Liar(0.0)
