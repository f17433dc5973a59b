"""One invocation, in a written order; see `murli.runtime.invocation`."""
