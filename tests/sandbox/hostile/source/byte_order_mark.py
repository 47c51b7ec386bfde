# what: a byte order mark before the first line, as in files of some editors
# verdict: syntax_error
# build: yes
SOURCE = "\ufeffdef double(x):\n    return 2 * x\n"
