"""Adapters: walk a framework's parser into the tree and hook the runtime in, nothing more."""
