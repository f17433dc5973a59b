"""The checks, by what they are about; `table` lists them all."""
