"""The checks by topic; `table` lists them all."""
