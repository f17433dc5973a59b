#!/bin/sh
# A tool of the ResponseEnvelope family with two commands that destroy: one refuses, and BREAK says
# what becomes of the other. It ignores --schema, and lists nothing about itself.

end() { # code, ok, data, error
  printf '{"ok":%s,"data":%s,"error":%s,"warnings":[],"meta":{"request_id":"r%s"}}\n' \
    "$2" "$3" "$4" $$
  exit "$1"
}

fail() { # code, name
  end "$1" false null '{"code":"'"$2"'","message":"no","phase":"validation",
"context":{"would_affect":[]}}'
}

rest='"description":"What it says","exit_codes":{},"required_scopes":[]'
preview='"flags":{"dry-run":{"type":"boolean","required":false,"description":"only tell"}}'

case "$*" in
manifest)
  end 0 true '{"schema_version":"1.0","framework_version":"1","etag":"a","commands":{
"erase":{"danger_level":"destructive",'"$rest,$preview"'},
"wipe":{"danger_level":"destructive",'"$rest,$preview"'},
"save":{"danger_level":"mutating",'"$rest"',"flags":{}},
"show":{"danger_level":"safe",'"$rest"',"flags":{}}}}' null
  ;;
*no-such*) fail 2 FLAG_ERROR ;;
*--help) end 0 true null null ;;
show*) end 0 true '{"size":1}' null ;;
save*) end 0 true '{"effect":"created"}' null ;;
'erase --dry-run' | 'wipe --dry-run') end 0 true '{"effect":"would_delete"}' null ;;
wipe*)
  case "${BREAK-}" in
  fails) fail 1 BROKEN ;;
  'is not understood') fail 2 FLAG_ERROR ;;
  crashes) kill -9 $$ ;;
  hangs) exec sleep 20 ;;
  esac
  fail 2 CONFIRMATION_REQUIRED
  ;;
erase*) fail 2 CONFIRMATION_REQUIRED ;;
esac
fail 2 COMMAND_ERROR
