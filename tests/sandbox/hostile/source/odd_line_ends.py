# what: line separators of Unicode, a form feed and a next-line character within strings and comments
# problem: double
# verdict: passed
# build: yes
SOURCE = "# one\u2028 two\u2029 three\x85 four\x0b five\x1c six\n\f\ndef double(x):\n    '\u2028\x85'\n    return 2 * x\n"
