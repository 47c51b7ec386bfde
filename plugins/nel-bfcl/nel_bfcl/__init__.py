"""The Berkeley function calling leaderboard: its questions, functions and verdicts, with nel's
endpoints, resume and statistics.
"""
