# what: copies and pickles objects of its own classes
# problem: listy
# verdict: passed
import copy
import pickle


class Box:
    def __init__(self, numbers):
        self.numbers = numbers


def evens(xs):
    box = pickle.loads(pickle.dumps(copy.deepcopy(Box(xs))))
    return [number for number in box.numbers if number % 2 == 0]
