# what: a NUL character in the middle, at which C programs stop reading
# verdict: syntax_error
# build: yes
SOURCE = "def double(x):\n    return 2 * x\n\x00\nimport os; os._exit(0)\n"
