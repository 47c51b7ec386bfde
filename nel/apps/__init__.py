"""Optional commands, a room each, in the entry points ``nel.commands``; none imports another."""
