# what: an object that claims to be an int by its __class__ and by every conversion
# problem: double
# verdict: wrong|runtime_error
class Pretender:
    __class__ = property(lambda self: int)

    def __eq__(self, other):
        return True

    def __int__(self):
        return 4

    __index__ = __int__
    __hash__ = int.__hash__


def double(x):
    return Pretender()
