# what: returns a list subclass whose every method changes the list or raises
# problem: listy
# verdict: wrong|runtime_error
class Moving(list):
    def __iter__(self):
        while True:
            self.append(1)
            yield 1

    def __len__(self):
        raise MemoryError("no length")

    def __getitem__(self, place):
        raise SystemExit(0)


def evens(xs):
    return Moving([7])
