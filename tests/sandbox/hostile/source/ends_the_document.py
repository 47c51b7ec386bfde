# what: the words by which shells end embedded documents
# problem: double
# verdict: wrong
# build: yes
SOURCE = "def double(x):\n    return x\n\n\n'''\nEOF\nEND\nPYEOF\nexit 0\n'''\n"
