"""Tools nobody can edit, served from outside: ``murli run TOOL ARGS…``.

`launch` resolves what a tool is. A Python tool runs in its own interpreter behind `bootstrap`,
which hooks the frameworks there and brings murli along; any other program runs as a child that is
supervised. For a person at a terminal the tool runs as it is.
"""
