# what: a NUL character within a string literal
# problem: double
# verdict: syntax_error
# build: yes
SOURCE = "def double(x):\n    '\x00'\n    return 2 * x\n"
