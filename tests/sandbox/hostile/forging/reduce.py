# what: returns an object that runs commands when it is unpickled or copied
# problem: listy
# verdict: wrong|runtime_error
import os


class Bomb:
    def __reduce__(self):
        return os._exit, (0,)

    __reduce_ex__ = lambda self, protocol: (os._exit, (0,))
    __copy__ = __deepcopy__ = lambda self, *_: os._exit(0)


def evens(xs):
    return Bomb()
