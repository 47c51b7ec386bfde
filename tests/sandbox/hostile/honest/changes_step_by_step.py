# what: removes from its argument while it goes through it backwards
# problem: in_place
# verdict: passed
def drop_odds(xs):
    for place in range(len(xs) - 1, -1, -1):
        if xs[place] % 2:
            del xs[place]
