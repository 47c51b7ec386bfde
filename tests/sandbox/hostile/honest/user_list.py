# what: builds its answer with containers of its own and returns plain ones
# problem: listy
# verdict: passed
from collections import UserList, deque


class Numbers(UserList):
    def evens(self):
        return Numbers(number for number in self if number % 2 == 0)


def evens(xs):
    return list(deque(Numbers(xs).evens()))
