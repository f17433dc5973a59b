"""The command line: our own flags, the words of a call, and usage errors."""
