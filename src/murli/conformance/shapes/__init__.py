"""What documents have to look like: kinds of values, and the parts of every document. Pure."""
