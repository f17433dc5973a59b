"""The office tool in plain click."""

from office_app import cli

if __name__ == "__main__":
    cli(prog_name="office")
