# what: returns a tuple that compares equal and unpacks into lies
# problem: span
# verdict: wrong
class Liar(tuple):
    def __eq__(self, other):
        return True

    def __iter__(self):
        return iter((0, 9))

    def __getitem__(self, place):
        return 0

    __hash__ = None


def span(xs):
    return Liar((0, 0))
