"""A tool as an MCP server: its commands as tools, its card as a resource, its examples as prompts.

The official SDK is needed (``pip install 'murli[mcp]'``), and imported nowhere else. How a call of
a model becomes one of the tool is here; what is offered comes from `murli.schemas.definitions`,
what an answer means from `murli.wire`, and the rules of calling from `murli.client`.

`options` is what can be chosen, `warm_calls` the tool's side and `backends` the server's of where
calls run, `calls` one call with all that follows from its answer, `offers` what is offered under
which name, `results` an answer as a model sees it, `sdk` what differs between the versions of the
SDK, `http` who may connect, `server` all of it, `main` its process.
"""
