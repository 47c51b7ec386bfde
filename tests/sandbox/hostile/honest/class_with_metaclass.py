# what: uses a metaclass, slots, descriptors and operators within
# problem: double
# verdict: passed
class Meta(type):
    def __new__(mcs, name, bases, space):
        return super().__new__(mcs, name, bases, {**space, "made": True})


class Number(metaclass=Meta):
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Number(self.value + other.value)

    def __eq__(self, other):
        return self.value == other.value

    __hash__ = None


def double(x):
    assert Number.made and Number(1) == Number(1)
    return (Number(x) + Number(x)).value
