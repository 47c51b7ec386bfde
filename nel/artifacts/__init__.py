"""The files a run leaves behind: pure functions of its store."""
