"""Tests of nel.apps.leaderboard."""
