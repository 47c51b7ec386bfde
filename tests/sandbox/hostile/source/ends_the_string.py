# what: breaks out of the quotes into which a careless harness puts it
# verdict: syntax_error
# build: yes
SOURCE = "'''\n\"\"\"\nimport os; os._exit(0)\n'\"'\"'; exit 0; #\n$(exit 0)`exit 0`\n"
