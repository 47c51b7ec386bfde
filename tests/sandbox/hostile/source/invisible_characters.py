# what: an invisible character in the middle of the code
# problem: double
# verdict: syntax_error
# build: yes
SOURCE = "def double(x):\n    return 2\u200b * x\n"
