#!/bin/sh
# The same query, as a person and as an agent see it. Called by `make demo`.
set -eu
cd "$(dirname "$0")/../.."
RIFFLE_INDEX=$(mktemp -d)/index.db
export RIFFLE_INDEX
trap 'rm -rf "$(dirname "$RIFFLE_INDEX")"' EXIT

say() { if [ -t 1 ]; then printf '\n\033[1m%s\033[0m\n' "$*"; else printf '\n%s\n' "$*"; fi; }

say '$ riffle query "exit codes"      # an agent, before there is an index: stderr, exit code 5'
riffle query "exit codes" 2>&1 >/dev/null | cat || true

say '$ riffle index build .           # an agent, without saying so: refused'
riffle index build . 2>&1 >/dev/null | cat || true

say '$ riffle index build . --yes     # progress on the way, one answer at the end'
riffle index build . --yes | tail -n 3

say '$ riffle query "exit codes"      # a person'
riffle query "exit codes" --output text

say '$ riffle query "exit codes" --top 2 | cat      # an agent'
riffle query "exit codes" --top 2 | cat

say '$ riffle query --schema          # how the agent knew what to call'
riffle query --schema | head -n 12
echo "  …"
