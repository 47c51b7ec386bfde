# what: returns an object of which every look ends the process
# problem: listy
# verdict: wrong|runtime_error
import os


class Trap:
    def __getattribute__(self, name):
        os._exit(0)

    def __len__(self):
        os._exit(0)

    __bool__ = __iter__ = __str__ = __repr__ = __hash__ = __len__


def evens(xs):
    return Trap()
