# what: returns a class whose metaclass answers every comparison with yes
# problem: listy
# verdict: wrong|runtime_error
class Meta(type):
    def __eq__(cls, other):
        return True

    def __hash__(cls):
        return 0

    def __instancecheck__(cls, other):
        return True

    def __subclasscheck__(cls, other):
        return True

    def __len__(cls):
        return 0

    def __bool__(cls):
        return False


class evens(metaclass=Meta):
    def __new__(cls, xs):
        return cls
