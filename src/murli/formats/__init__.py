"""Documents become bytes here; nothing in this room knows what an envelope is."""
