# what: tabs and blanks mixed so that their meaning depends on the tab
# problem: double
# verdict: syntax_error
# build: yes
SOURCE = "def double(x):\n        if x:\n\treturn 2 * x\n        return 0\n"
