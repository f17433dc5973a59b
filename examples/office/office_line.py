"""The office tool with the one line of murli."""

import murli
from office_app import cli

murli.enable(cli)

if __name__ == "__main__":
    cli(prog_name="office")
