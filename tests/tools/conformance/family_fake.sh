#!/bin/sh
# A tool of the newest revision of the ResponseEnvelope family that keeps every rule, or breaks the
# one BREAK names. It knows its answers by heart, and calls no other program: it is over in a
# millisecond.

broken() { [ "${BREAK-}" = "$1" ]; }
err() { printf '%s\n' "$1" >&2; }
leave_trace() { printf x >>trace.txt; }
trap '' PIPE # so that writing to nobody is a failure like any other

# -- writing --------------------------------------------------------------------------------------

end() { # code, data, error, more of meta
  ok=true status=$1 data=$2 error=${3:-null} ran=$1 took=1 place=",\"cwd\":\"$PWD\"" id=$$ noise='' last='\n'
  time=2026-01-02T03:04:05Z version=1.4 warned=',"warnings":[{"code":"OLD_DATA","message":"as of now"}]'
  [ "$1" = 0 ] || ok=false
  case "${BREAK-}" in
  family.envelope.keys) warned='' ;;
  family.envelope.types) warned=',"warnings":["as of now"]' ;;
  family.envelope.ok) ok=true ;;
  family.envelope.outcome) [ "$1" != 2 ] || data='{"half":true}' ;;
  family.envelope.exit-code) status=0 ;;
  family.meta.duration) took='"1"' ;;
  family.meta.types) time=yesterday ;;
  family.meta.identity) place='' ;;
  family.meta.truthful) id=always ;;
  family.answer.strict-json) noise='"share":NaN,' ;;
  family.answer.newline) last='' ;;
  family.answer.one-document) case "$data" in '['*) echo 'Listing ...' ;; esac ;;
  esac
  printf '{"ok":%s,"data":%s,"error":%s%s,"meta":{%s"exit_code":%s,"duration_ms":%s,' \
    "$ok" "$data" "$error" "$warned" "$noise" "$status" "$took" 2>/dev/null || gone
  printf '"request_id":"r%s","schema_version":"1.0","tool_version":"%s","command":"fake"' \
    "$id" "$version" 2>/dev/null || gone
  printf ',"timestamp":"%s"%s%s}}'"$last" "$time" "$place" "${4-}" 2>/dev/null || gone
  exit "$ran"
}

gone() {
  broken process.reader-gone && err 'Error: nobody reads this'
  exit 0
}

fail() { # code, name, more of the error, more of meta
  name=$2 message='"it did not work"' phase=execution again=',"retryable":false' mend='' lead=''
  if [ "$1" = 2 ]; then
    phase=validation mend=',"fix_required":"Look at --schema."'
    broken family.mistake.phase && phase=execution
    broken family.error.instructive && mend=''
    broken family.mistake.no-trace && leave_trace
    broken family.error.redirect && lead=',"redirect":{"command":"fake list","permanent":true}'
    broken family.error.code && [ "$2" = FLAG_ERROR ] && name=NOT_FOUND
  fi
  broken family.error.shape && message=null
  broken family.error.retry && again=''
  end "$1" null "{\"code\":\"$name\",\"message\":$message,\"phase\":\"$phase\"$again$mend$lead${3-}}" "${4-}"
}

refuse() { fail 2 "$@"; }

# -- what it is -----------------------------------------------------------------------------------

describe() { # sets manifest
  wrong=none level='"danger_level":"mutating",' needed=false self='' own=''
  broken family.manifest.exit-codes && wrong=partial
  broken family.danger.declared && level=''
  broken family.danger.honest && level='"danger_level":"safe",'
  broken family.manifest.shape && needed='"no"'
  known='"2":{"description":"The call is wrong.","retryable":false,"side_effects":"'$wrong'"},'
  broken family.exit-code.declared && known=''
  failed='"retryable":false,"side_effects":"partial"'
  any='"required":false,"description":"what it says"'
  rest='"required_scopes":[],"exit_codes":{},"description":"What it says"'
  broken family.manifest.tree || {
    self=',"manifest":{"danger_level":"safe",'$rest',"flags":{"etag":{"type":"string",'$any'}}}'
    own=',"manifest"'
  }
  manifest='{"schema_version":"3.0","framework_version":"1.4","etag":"abc123",
"flags":{"format":{"type":"enum","enum_values":["json","jsonl"],'$any'}},
"exit_codes":{"0":{"description":"It is done.","retryable":false,"side_effects":"complete"},
"1":{"description":"It broke.",'$failed'},'$known'
"4":{"description":"There is no state.","retryable":false,"side_effects":"none"},
"130":{"description":"It was stopped.",'$failed'},"143":{"description":"It was stopped.",'$failed'}},
"commands":{"fake":{"danger_level":"safe",'$rest',"flags":{},
"subcommands":["list","save","remove","exec"'$own']},
"list":{"danger_level":"safe",'$rest',"flags":{
"from":{"type":"string","required":true,"description":"where"},"limit":{"type":"integer",'$any'},
"cursor":{"type":"string",'$any'},"kind":{"type":"enum","enum_values":["tree","bush"],'$any'},
"stream":{"type":"boolean",'$any'}},
"output_schema":{"type":"array","items":{"properties":{"size":{"type":"number"}}}}},
"save":{'$level$rest',
"flags":{"deep":{"type":"boolean","required":'$needed',"description":"how deep"}}},
"remove":{"danger_level":"destructive",'$rest',
"positionals":[{"name":"name","type":"string","required":true,"description":"which"}],
"flags":{"dry-run":{"type":"boolean",'$any'},"confirm-destructive":{"type":"boolean",'$any'}}},
"exec":{"danger_level":"mutating",'$rest',
"flags":{"dry-run":{"type":"boolean",'$any'},"ignore-errors":{"type":"boolean",'$any'}}}'$self'}}'
}

# -- what it does ---------------------------------------------------------------------------------

page() { # items, how many, cursor
  more=false truncated=false cursor=null count=$2
  [ "${3-}" ] && more=true truncated=true cursor="\"$3\""
  broken family.paging.told && count=7
  end 0 "[$1]" null ",\"pagination\":{\"total\":3,\"returned\":$count,\"truncated\":$truncated,\"has_more\":$more,\"next_cursor\":$cursor}"
}

look_around() {
  broken process.no-pager && "$PAGER"
  if [ ! -e /dev/fd/0 ]; then
    broken process.stdin-closed && fail 4 STDIN_MISSING
  elif broken process.stdin-silent; then
    read -r line
  fi
}

items() {
  size=1.5
  broken family.output.valid && size='"small"'
  broken family.data.stable && size=$$
  if broken family.data.locale && [ "${LC_ALL-}" = de_DE.UTF-8 ]; then size=15; fi
  one="{\"name\":\"elm\",\"size\":$size}" two='{"name":"fir","size":2.5}' three='{"name":"oak","size":1000}'
}

stream() {
  trap stopped INT
  at=0 many=300 # more than a pipe holds
  tree='one of the many trees that stand in the wood'
  tree="$tree, $tree, $tree, $tree, $tree"
  while [ $at -lt $many ]; do
    at=$((at + 1))
    printf '{"_seq":%s,"name":"%s"}\n' $at "$tree"
  done
  trap '' INT
  broken family.stream.contract && at=7
  printf '{"_summary":true,"_count":%s,"total":%s,"duration_ms":1}\n' $at $many
  exit 0
}

stopped() {
  trap '' INT
  broken family.stream.interrupt && exit 130
  fail 130 CANCELLED
}

help_on() { # command
  broken process.help && [ "$1" = list ] && refuse FLAG_ERROR
  broken family.asking.no-trace && leave_trace
  if broken family.help.envelope && [ "$1" ]; then
    echo 'Call: fake list'
    exit 0
  fi
  err 'Call: fake list'
  end 0 null null ',"help":true'
}

# -- the calls ------------------------------------------------------------------------------------

words="$*"
case "$words" in
'')
  broken family.bare.envelope && refuse COMMAND_ERROR
  help_on ''
  ;;
--help) help_on '' ;;
*--help) help_on "${words% --help}" ;;
--version)
  broken process.version && refuse FLAG_ERROR
  broken family.version.envelope && { echo 'fake 1.4' && exit 0; }
  end 0 '{"version":"1.4"}'
  ;;
*--murli-check-no-such-flag*)
  broken family.mistake.unknown-flag && fail 1 FLAG_FAILED
  broken process.no-escapes && err "$(printf '\033[31mno such flag\033[0m')"
  broken process.utf-8 && printf 'no such flag \377\n' >&2
  broken process.no-traceback && err 'Traceback (most recent call last):'
  refuse FLAG_ERROR
  ;;
*'--format json --format jsonl'*) broken family.argument-repeat || refuse FLAG_ERROR ;;
*murli-check-no-such-format*) broken family.mistake.format || refuse INVALID_FORMAT ;;
'--format json list'*) broken family.argument-order && refuse FLAG_ERROR ;;
lis)
  broken family.exit-code.range && fail 200 COMMAND_ERROR
  fail 13 TYPO_CORRECTED ',"redirect":{"command":"fake list","permanent":false}'
  ;;
wait*)
  trap 'broken family.deadline.interrupt && fail 1 GENERAL_ERROR; fail 130 CANCELLED' INT
  case "$words" in
  *--timeout*)
    sleep 1
    broken family.deadline.time && fail 1 GENERAL_ERROR
    fail 10 TIMEOUT '' ',"timeout_ms":1000'
    ;;
  *) sleep 30 ;;
  esac
  ;;
esac

case "$words" in
*--schema)
  broken family.schema.answers && [ "$words" = 'remove --schema' ] && refuse FLAG_ERROR
  end 0 '{"name":"'"$1"'"}'
  ;;
list*--from* | *'json list'*)
  items
  look_around
  case "$words" in
  *--stream*) stream ;;
  *'--from nowhere'*) broken process.promises || fail 4 PLACE_MISSING ;;
  *no-such-value*) broken family.mistake.bad-type || refuse FLAG_ERROR ;;
  *no-such-cursor*) broken family.paging.cursor || refuse INVALID_CURSOR ;;
  *'--cursor 1'*) page "$two" 1 2 ;;
  *'--limit 1'*)
    if broken family.paging.continues; then page "$one" 1 0; else page "$one" 1 1; fi
    ;;
  esac
  broken process.reads-leave-no-trace && leave_trace
  page "$one,$two,$three" 3
  ;;
list)
  items
  broken family.mistake.missing-argument || refuse ARGUMENT_MISSING
  page "$one,$two,$three" 3
  ;;
'remove one --dry-run')
  broken family.dry-run.no-trace && leave_trace
  broken family.dry-run.effect && end 0 '{}'
  end 0 '{"effect":"would_delete"}' null ',"dry_run":true'
  ;;
'remove one')
  broken family.danger.refused && end 0 '{"effect":"deleted"}'
  broken family.danger.preview && refuse CONFIRMATION_REQUIRED
  refuse CONFIRMATION_REQUIRED ',"context":{"would_affect":["one"]}'
  ;;
save)
  printf saved >state.txt
  broken family.effect.told && end 0 '{}'
  end 0 '{"effect":"created"}'
  ;;
exec*)
  line=',"_line":1'
  broken family.exec.dispatch && line=''
  read -r request
  case "$request" in
  '{'*) end 0 '{"would_run":"manifest"}' null ",\"_cmd\":\"manifest\"$line" ;;
  esac
  refuse DISPATCH_PARSE_ERROR '' "$line"
  ;;
'manifest --etag abc123') broken family.manifest.etag || end 0 null null ',"not_modified":true' ;;
esac

case "$words" in
*manifest*)
  broken family.manifest.answers && refuse COMMAND_ERROR
  describe
  end 0 "$manifest"
  ;;
esac
broken family.mistake.unknown-command && fail 1 COMMAND_ERROR
refuse COMMAND_ERROR
