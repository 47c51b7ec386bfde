# what: ends without a line end, in a comment
# problem: double
# verdict: passed
# build: yes
SOURCE = "def double(x):\n    return 2 * x\n# end"
