# what: typographic quotes, as a word processor makes them
# problem: strings
# verdict: syntax_error
# build: yes
SOURCE = "def mirror(text):\n    return text + \u201c\u201d.join(reversed(text))\n"
