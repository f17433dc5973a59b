"""The calls that checks look at: which may be made, and what the tool wrote."""
