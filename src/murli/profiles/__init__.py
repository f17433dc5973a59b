"""Saved profiles: where they lie, and what may be done to them without losing one."""
