#!/bin/sh
# A tool that keeps the murli contract, but for the one rule that the variable BREAK names.
# It calls no other program, so that it is over in a millisecond. With WIRE=go it speaks as the
# tools do that are written in Go.

version=2.1
newline='
'
agent='' output='' stream='' dry='' limit=1 kind=all profile='' protocol='' timeout=5
want='' path='' text='' mistake='' wrong=''

broken() { [ "$BREAK" = "$1" ]; }
is_go() { [ "$WIRE" = go ]; }
is_null_device() { [ -c /proc/self/fd/1 ] && [ /proc/self/fd/1 -ef /dev/null ]; }

# -- writing --------------------------------------------------------------------------------------

set_form() {
  i="$newline  " c=': ' e="$newline"
  case "$1$output" in line* | ndjson) i='' c=':' e='' ;; esac
  if broken murli.output.ndjson && [ "$output" = ndjson ]; then i="$newline  " c=': ' e="$newline"; fi
}

wants_text() {
  if broken murli.output.null-device && is_null_device; then return 0; fi
  [ "$output" = text ]
}

envelope() { # form, status, message, result
  set_form "$1"
  if broken murli.answer.indented && [ "$output" = '' ]; then i='' c=':' e=''; fi
  status=$2 said=",$i\"message\"$c\"$3\"" key=result result=$4
  own="$i\"tool_version\"$c\"$version\","
  [ "$2" = plan ] && key=plan
  broken murli.answer.version/answers && own="$i\"tool_version\"$c\"2.0\","
  is_go && said='' own='' key=result
  broken murli.answer.wire && said=''
  if [ "$2$stream" = ok ]; then
    broken murli.success.shape && status=success
    broken murli.success.shape/result && key=outcome
    broken murli.answer.strict-json && result=NaN
  fi
  twice=''
  broken murli.answer.strict-json/twice && twice="\"status\"$c\"$status\",$i"
  document="{$i$twice\"status\"$c\"$status\",$own$i\"schema_version\"$c\"1.0\"$said,$i"
  document="$document\"$key\"$c$result$e}"
}

answer() { # message, result, status
  if wants_text; then
    aside=''
    broken murli.output.text && aside=y
    if broken murli.output.text/agent && [ "$agent" ]; then aside=y; fi
    [ "$aside" ] || { printf '%s\n' "$1"; exit 0; }
  fi
  if [ "$output$stream" = '' ]; then
    broken murli.answer.one-document && echo 'here you are:'
    if broken murli.answer.one-document/two; then
      envelope line "${3:-ok}" "$1" "$2"
      printf '%s\n' "$document"
    fi
  fi
  if broken murli.output.json && [ "$output" = json ]; then
    echo '{"event":"progress","stage":"read","current":1}'
  fi
  envelope '' "${3:-ok}" "$1" "$2"
  printf '%s\n' "$document"
  if broken murli.answer.newline && [ "$output$agent$stream" = '' ]; then echo; fi
  exit 0
}

fail() { # code, error, message, suggestion, recoverable, more
  code=$1 said=$1 name=$2 hint=${4:-Look at --help.} may=${5:-true} more=$6 odd='' state=error
  [ "$2" = command_error ] && odd=y
  if wants_text; then
    if broken murli.mistake.text; then output=json; else
      printf 'Error: %s\nHint:  %s\n' "$3" "$hint" >&2
      if broken murli.mistake.text/code && [ "$name" = flag_error ]; then code=2; fi
      exit "$code"
    fi
  fi
  broken murli.error.shape/code && said="\"$1\""
  broken murli.error.shape/status && state=failed
  broken murli.error.omits-empty && more="$more,\"doc_url\":\"\""
  if broken murli.mistake.names && [ "$2" = flag_error ]; then name=oh_no; fi
  if broken murli.error.recoverable && [ "$odd" ]; then may=false; fi
  advice=",\"suggestion\":\"$hint\"" will=",\"recoverable\":$may"
  if broken murli.error.instructive && [ "$odd" ]; then advice=''; fi
  broken murli.error.shape && will=''
  state="\"status\":\"$state\"," own=",\"tool_version\":\"$version\""
  is_go && state='' own=''
  document="{$state\"code\":$said,\"error\":\"$name\",\"message\":\"$3\"$advice"
  document="$document$will$more,\"schema_version\":\"1.0\"$own}"
  if broken murli.error.stream && [ "$odd" ]; then
    printf '%s\n' "$document"
  else
    printf '%s\n' "$document" >&2
    if broken murli.error.stream/both && [ "$odd" ]; then printf '%s\n' "$document"; fi
  fi
  [ "$stream" ] && printf '%s\n' "$document"
  if broken murli.error.exit-code && [ "$odd" ]; then code=$((code + 1)); fi
  exit "$code"
}

# -- describing -----------------------------------------------------------------------------------

make_entries() {
  secret=null ten=10 first=all help='' about=',"description":"how many"' summary='Keep things'
  broken murli.describe.secrets && secret='"s3cret"'
  broken murli.describe.defaults && ten='"10"'
  broken murli.describe.defaults/sentinel && first='<object object at 0x7f>'
  broken murli.describe.commands && about=',"description":7'
  broken murli.describe.descriptions && summary=''
  broken murli.describe.own-flags &&
    help=',{"name":"help","type":"bool","default":false,"description":"Help"}'
  flags="{\"name\":\"limit\",\"type\":\"int\",\"default\":$ten$about,\"profileable\":true},
    {\"name\":\"kind\",\"type\":\"string\",\"default\":\"$first\",\"description\":\"which\",
     \"enum\":[\"all\",\"some\"],\"profileable\":true}$help"
  token=",{\"name\":\"token\",\"type\":\"string\",\"default\":$secret,\"description\":\"who\",
     \"sensitive\":true}"
  reads=',"safety":{"read_only":true,"idempotent":false}' changes='"read_only":false'
  safe=$reads
  broken murli.describe.commands/safety && safe=''
  broken murli.describe.safety && changes='"read_only":true'
  arguments='"arguments":[{"name":"text","type":"string","required":true,"description":"what"}]'
  find="\"summary\":\"Find things\",\"idempotent\":false,$arguments"
  wipe="\"summary\":\"Wipe things\",\"idempotent\":false,\"mutating\":true,$arguments,
    \"safety\":{$changes,\"idempotent\":false,\"dry_run_supported\":true}"
  store="\"summary\":\"$summary\",\"idempotent\":false$reads"
  purge="\"summary\":\"Purge\",\"idempotent\":false$reads"
  if broken murli.describe.declared/group; then
    wipe="\"summary\":\"Wipe things\",\"idempotent\":false,$arguments,
      \"safety\":{\"declared\":false,\"dry_run_supported\":true}"
    store='"summary":"Keep things","idempotent":false,"mutating":true,"safety":{"declared":false}'
  fi
}

describe() {
  make_entries
  name=',"name":"fake"' schema=1.0 formats='"json","ndjson","text"' previews=true inner=$version
  known='"kind","limit"' last='' more=''
  broken murli.describe.name && name=',"name":""'
  broken murli.describe.name/missing && name=''
  broken murli.describe.stable && more=",\"pid\":$$"
  broken murli.describe.schema-version && schema=0.9
  broken murli.describe.capabilities && formats=''
  broken murli.describe.dry-run && previews=false
  broken murli.answer.version && inner=2
  broken murli.describe.profiles && known='"limit","kind"'
  broken murli.describe.safety-honest && last=",{\"name\":\"purge\",$purge}"
  broken murli.describe.declared &&
    last=',{"name":"purge","summary":"Purge","idempotent":false,
      "safety":{"declared":false,"inferred":"destructive"}}'
  inner=",\"tool_version\":\"$inner\"" outer=",\"tool_version\":\"$version\""
  is_go && inner='' outer=''
  able="{\"streaming\":true,\"dry_run\":$previews,\"output_formats\":[$formats],
    \"schema_version\":\"1.0\"$inner,\"profiles\":true}"
  broken murli.describe.capabilities/list && able='["agent"]'
  document="{\"summary\":\"A fake\"$name,\"schema_version\":\"$schema\"$outer,
  \"capabilities\":$able,\"profiles\":{\"profileable_flags\":[$known]},
  \"commands\":[{\"name\":\"find\",$find,\"flags\":[$flags$token]$safe},
    {\"name\":\"store\",$store,\"subcommands\":[{\"name\":\"wipe\",$wipe}]}$last]$more}"
  if broken murli.describe.answers; then
    document="{\"status\":\"ok\",\"message\":\"It is\",\"schema_version\":\"1.0\",\"result\":$document}"
  fi
  broken murli.describe.answers/text && document='fake: finds things'
  if broken murli.describe.every-mode && [ "$output" = text ]; then document='fake: finds'; fi
  if broken process.reader-gone; then
    trap '' PIPE
    printf '%s\n' "$document" 2>/dev/null || echo 'Error: nobody reads this' >&2
  else
    printf '%s\n' "$document"
  fi
  broken murli.describe.answers/code && exit 3
  exit 0
}

agents_md() {
  title='# AGENTS.md' last=store
  broken murli.describe.agents-md && title=Agents
  broken murli.describe.agents-md/command && last=stock
  printf '%s\n\n### find\n\n### %s\n\n### purge\n' "$title" "$last"
  broken murli.describe.agents-md/json && echo '{"name":"find"}'
  exit 0
}

schema() {
  make_entries
  own='' last=$token below='{"name":"wipe","summary":"Wipe things"}'
  broken murli.schema.agrees && own='fake '
  broken murli.schema.agrees/flags && last=''
  broken murli.schema.brief && below="{\"name\":\"wipe\",$wipe}"
  more=''
  if broken murli.describe.safety-honest || broken murli.describe.declared; then
    more=',{"name":"purge","summary":"Purge"}'
  fi
  case $path in
    find) document="{\"name\":\"${own}find\",$find,\"flags\":[$flags$last]$safe}" ;;
    'store wipe') document="{\"name\":\"${own}wipe\",$wipe}" ;;
    store) document="{\"name\":\"${own}store\",$store,\"subcommands\":[$below]}" ;;
    purge) document="{\"name\":\"purge\",$purge}" ;;
    *) document="{\"name\":\"fake\",\"summary\":\"A fake\",\"idempotent\":false$reads,
      \"subcommands\":[{\"name\":\"find\",\"summary\":\"Find things\"},
        {\"name\":\"store\",\"summary\":\"Keep things\"}$more]}" ;;
  esac
  if broken murli.schema.answers/text && [ "$path" = find ]; then document='find TEXT'; fi
  printf '%s\n' "$document"
  exit 0
}

# -- commands -------------------------------------------------------------------------------------

find_things() {
  case $limit in
    *[!0-9]*) broken murli.mistake.bad-type || fail 1 flag_error '--limit takes a number.' ;;
  esac
  case $kind in
    all | some) ;;
    *)
      valid=',"valid_values":["all","some"]'
      broken murli.mistake.valid-values && valid=''
      broken murli.mistake.bad-choice || fail 1 flag_error '--kind is all or some.' '' '' "$valid"
      ;;
  esac
  if [ "$protocol" ] && ! broken murli.mistake.protocol-version; then
    fail 1 invalid_protocol_version 'Only 0.2.' '' '' ',"valid_values":["0.2"]'
  fi
  if [ "$profile" ] && ! broken murli.mistake.profile; then
    fail 5 not_found 'There are no profiles.' '' false
  fi
  if [ "$text" = '' ] && ! broken murli.mistake.missing-argument; then
    fail 1 command_error 'Missing required argument text.'
  fi
  if [ "$dry" ] && ! broken murli.dry-run.undeclared; then fail 1 flag_error 'No preview.'; fi
  broken process.stdin-silent && read -r _
  if broken process.stdin-closed && ! true 2>/dev/null 3<&0; then
    fail 2 tool_error 'There is no stdin.' '' false
  fi
  broken process.reads-leave-no-trace && echo found >>trace
  [ "$text" = slow ] && wait_long
  if [ "$text" = missing ]; then
    broken murli.answer.failure && { echo 'nothing there' >&2; exit 5; }
    broken murli.error.range && fail 70 not_found 'There is nothing.' '' false
    broken process.promises && fail 2 not_found 'There is nothing.' '' false
    fail 5 not_found 'There is nothing.' '' false
  fi
  [ "$stream" ] && stream_things
  moment=2026-06-03T15:53:11.482913Z
  broken murli.log.lines/ts && moment=yesterday
  if broken murli.log.lines; then
    echo connecting >&2
  elif [ "$output" = '' ]; then
    echo "{\"ts\":\"$moment\",\"level\":\"info\",\"msg\":\"connecting\"}" >&2
  fi
  answer 'Found 1 thing' "[\"$text\"]"
}

stop_stream() {
  broken murli.stream.interrupt && exit 130
  broken murli.stream.interrupt/code && fail 2 tool_error Interrupted. '' false
  broken murli.stream.interrupt/line && stream=''
  fail 9 cancelled Interrupted. '' false
}

stop_waiting() {
  broken murli.deadline.interrupt && exit 130
  fail 9 cancelled Interrupted. '' false
}

wait_long() {
  trap stop_waiting INT
  sleep "$timeout"
  broken murli.deadline.time && fail 2 tool_error 'It took too long.'
  fail 4 timeout 'It took too long.'
}

stream_things() {
  trap stop_stream INT
  event='"event":"progress",' empty='' number=0
  is_go && event=''
  broken murli.progress.shape && event=''
  broken murli.progress.shape/empty && empty=',"total":0'
  while [ $number -lt 900 ]; do
    number=$((number + 1))
    [ $number = 2 ] && echo "{$event\"stage\":\"read\",\"current\":1$empty}"
    echo "{\"item\":$number,\"text\":\"so that it takes a while, because a pipe holds some of it\"}"
  done
  trap '' INT
  broken murli.stream.lines/end && exit 0
  form=line
  broken murli.stream.lines && form=''
  envelope $form ok Done '{}'
  printf '%s\n' "$document"
  broken murli.stream.lines/two && printf '%s\n' "$document"
  exit 0
}

wipe_things() {
  [ "$text" ] || fail 1 command_error 'Missing required argument text.'
  if [ "$dry" ]; then
    broken murli.dry-run.no-trace && : >previewed
    broken murli.dry-run.plans && answer 'Would wipe 1 thing' '{}' ok
    broken murli.dry-run.plans/confirm || answer 'Would wipe 1 thing' '{}' plan
  fi
  passes=''
  broken murli.guard.refuses && passes=y
  if broken murli.guard.text && [ "$output" = text ]; then passes=y; fi
  if broken murli.guard.null-device && is_null_device; then passes=y; fi
  [ "$passes" ] && : >wiped && answer 'Wiped 1 thing' null
  hint='Pass --force or --yes.' code=1
  broken murli.guard.refuses/code && code=2
  fail $code confirmation_required 'It has to be confirmed.' "$hint"
}

# -- one call -------------------------------------------------------------------------------------

show_help() {
  if [ "$path" = find ]; then
    broken process.help && exit 0
    broken process.help/code && exit 3
  fi
  broken process.no-escapes && printf '\033[1m'
  broken process.utf-8 && printf '\377'
  broken process.no-traceback && echo 'Traceback (most recent call last):' >&2
  broken process.no-pager && "$PAGER"
  echo "usage: fake $path"
  exit 0
}

while [ $# -gt 0 ]; do
  word=$1
  shift
  case $word in
    --agent)
      if broken murli.output.flag-order && [ "$path" = '' ]; then mistake=option wrong=$word; fi
      if broken murli.output.agent-flag && [ "$path" ]; then mistake=option wrong=$word; fi
      agent=y
      ;;
    --stream) stream=y ;;
    --dry-run) dry=y ;;
    --schema | --help | --version | --agents-md) want=$word ;;
    --limit=*) limit=${word#*=} ;;
    --output | --limit | --kind | --profile | --protocol-version | --timeout | --token)
      [ $# -gt 0 ] || fail 1 flag_error "$word takes a value."
      case $word in
        --output) output=$1 ;;
        --limit) limit=$1 ;;
        --kind) kind=$1 ;;
        --profile) profile=$1 ;;
        --protocol-version) protocol=$1 ;;
        --timeout) timeout=$1 ;;
      esac
      shift
      ;;
    --*) mistake=option wrong=$word ;;
    *)
      case $path/$word in
        /find | /store | /describe | /purge) path=$word ;;
        store/wipe) path='store wipe' ;;
        / | find/* | 'store wipe'/*) text=$word ;;
        *) mistake=command wrong=$word ;;
      esac
      ;;
  esac
done

[ "$want" = --help ] && show_help
if [ "$want" = --version ]; then
  broken process.version || echo "fake $version"
  exit 0
fi
if [ "$want" = --schema ]; then
  refused=''
  if broken murli.schema.answers && [ "$path" = find ]; then refused=y; fi
  if broken murli.guard.schema && [ "$path$text" = 'store wipemurli-check' ]; then refused=y; fi
  [ "$refused" ] || schema
fi
case $output in
  '' | json | ndjson | text) ;;
  *)
    valid=',"valid_values":["json","ndjson","text"]' output=''
    broken murli.mistake.valid-values && valid=''
    broken murli.mistake.output-format ||
      fail 1 invalid_output_format 'There is no such format.' '' '' "$valid"
    ;;
esac
if [ "$mistake$path" = commandstore ]; then
  broken murli.mistake.unknown-command && answer Kept null
  broken murli.mistake.unknown-command/code && fail 5 command_error 'There is no such command.'
fi
case $mistake in
  option)
    if ! broken murli.mistake.unknown-flag || [ "$path" != find ]; then
      fail 1 flag_error "Unknown option $wrong."
    fi
    ;;
  command)
    broken murli.answer.literal && wrong='murli-check-<\u00f6&>'
    fail 1 command_error "Unknown command $wrong."
    ;;
esac
case $path$want in
  describe--agents-md) agents_md ;;
  describe*) describe ;;
  find*) find_things ;;
  'store wipe'*) wipe_things ;;
esac
fail 1 command_error 'Missing command.'
