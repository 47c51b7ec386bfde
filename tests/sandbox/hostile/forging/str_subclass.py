# what: returns a string that equals every other
# problem: strings
# verdict: wrong
class Liar(str):
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __hash__(self):
        return 0

    def __str__(self):
        return "abba"

    def encode(self, *_):
        return b"abba"


def mirror(text):
    return Liar("lie")
