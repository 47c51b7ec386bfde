# what: hides lying numbers in an honest list
# problem: listy
# verdict: wrong|runtime_error
class Liar(int):
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class Anything:
    def __eq__(self, other):
        return True


def evens(xs):
    return [Liar(1) if number < 4 else Anything() for number in xs if number % 2 == 0]
