"""Forms of other tools: each stands alone here, and is found through ``nel.bridges``."""
