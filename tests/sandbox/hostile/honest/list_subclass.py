# what: returns an instance of its own subclass of list
# problem: listy
# verdict: passed
class Numbers(list):
    def __repr__(self):
        return "Numbers"


def evens(xs):
    return Numbers(number for number in xs if number % 2 == 0)
