# what: a program for Python 2
# problem: double
# verdict: syntax_error
# build: yes
SOURCE = "def double(x):\n    print 'twice'\n    return 2 * x\n"
