"""Tests of nel.leaderboard."""
