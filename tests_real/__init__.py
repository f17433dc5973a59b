"""Tools nobody here wrote, and every supported framework version; see the Makefile."""
