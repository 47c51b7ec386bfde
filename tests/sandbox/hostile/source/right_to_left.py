# what: direction marks that make a comment look like code
# problem: double
# verdict: wrong
# build: yes
SOURCE = "def double(x):\n    # \u202e x * 2 nruter \u202c\n    return x\n"
