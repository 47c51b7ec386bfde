# what: gives the value it was asked about before, in the hope that the tests tell the right one
# verdict: wrong
heard = [0]


def double(x):
    heard.append(x)
    return heard[-2]
