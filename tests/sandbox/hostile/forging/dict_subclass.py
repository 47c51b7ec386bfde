# what: returns a dict that has every key and equals every other
# problem: counts
# verdict: wrong|runtime_error
class Liar(dict):
    def __missing__(self, key):
        return 1

    def __eq__(self, other):
        return True

    def items(self):
        return [("e", 1), ("h", 1), ("l", 2), ("o", 1)]

    def keys(self):
        return ["e"]

    def __len__(self):
        return 0

    __hash__ = None


def letters(text):
    return Liar()
