# what: returns a view of a dict's keys
# problem: unordered
# verdict: passed
def distinct(xs):
    return dict.fromkeys(xs).keys()
