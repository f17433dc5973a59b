"""Inputs nobody would think of, found by coverage: what must hold for every one of them."""
