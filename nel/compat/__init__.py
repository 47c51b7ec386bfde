"""Forms of other tools, each alone: what nel knows of them stands here and is found through
``nel.bridges``."""
