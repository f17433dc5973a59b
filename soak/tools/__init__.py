"""Tools that misbehave in every way the soak knows, on three frameworks."""
