"""The first thing that runs in the process of a Python tool: ``python bootstrap.py …``.

As small as can be: a script is compiled anew on every call, what it loads is not.
"""

import os
import sys


def main() -> None:
    """Load `watching` by its file, and nothing else; the rest is there."""
    # Both have no types of their own.
    loading, files = __import__("_frozen_importlib"), __import__("_frozen_importlib_external")
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "watching.py")
    spec = files.spec_from_file_location("murli.retrofit.watching", path)
    module = loading.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.run(*sys.argv[1:4], sys.argv[4:])


if __name__ == "__main__":
    # A search for the program among the frames finds murli here.
    __name__ = "murli.retrofit.bootstrap"
    main()
