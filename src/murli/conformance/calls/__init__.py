"""The calls that checks look at: which may be made, and what was written in answer."""
