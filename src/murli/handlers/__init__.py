"""Helpers that a handler may call, each for one purpose."""
