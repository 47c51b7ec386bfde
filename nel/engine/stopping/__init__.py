"""Why a session ends before its work is done, and when a benchmark may end early."""
