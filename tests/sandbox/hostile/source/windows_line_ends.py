# what: lines that end as on Windows
# verdict: passed
# build: yes
SOURCE = "def double(x):\r\n    text = '''a\r\nb'''\r\n    return 2 * x if text == 'a\\nb' else text\r\n"
