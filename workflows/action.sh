#!/usr/bin/env bash
# The work of action.yml: `get` fetches a release, `build` builds the action's
# own source where there is no release, `run` does what the input mode says. Inputs come
# as INPUT_ variables and are only ever arguments, so nothing in them is run.
set -euo pipefail
# One stream: the runner reads two at their own pace, and what is printed while
# commands are stopped must not be read when they are not.
exec 2>&1

work=$RUNNER_TEMP/autoloop
bin=$work/bin

: "${INPUT_MODE:=run}" "${INPUT_DRY_RUN:=false}" "${INPUT_ITERATIONS:=1}" "${INPUT_MAX_PROGRAMS:=1}"
: "${INPUT_PROGRAM:=}" "${INPUT_AGENT:=}" "${INPUT_MODEL:=}" "${INPUT_PROGRAMS_DIR:=}" "${INPUT_CI_WORKFLOW:=}"
: "${INPUT_BUDGET_USD:=}" "${INPUT_VERSION:=}" "${INPUT_WORKING_DIRECTORY:=}" "${INPUT_BUNDLE:=}"
: "${INPUT_SUITE:=}" "${INPUT_BASELINE:=}" "${INPUT_CANDIDATE:=}" "${INPUT_FORCE:=false}"

# fail MESSAGE ends the step. The message has no text from outside.
fail() {
  printf '::error title=Autoloop::%s\n' "$1"
  exit 2
}

# wants INPUT PATTERN FORM VALUE holds a value against the whole of a pattern.
wants() {
  local LC_ALL=C
  [[ -z $4 || $4 =~ ^($2)$ ]] || fail "the input $1 is not $3; see docs/reference/action.md"
}

# path INPUT VALUE
path() {
  case $2 in
  -* | *[[:cntrl:]]*) fail "the input $1 is not a path: it may not begin with - nor have line breaks" ;;
  esac
}

check_inputs() {
  case $INPUT_MODE in
  schedule | begin | iterate | run | propose | publish | compare | steer | validate | page) ;;
  *) fail "the input mode is not one of schedule, begin, iterate, run, propose, publish, compare, steer, validate and page" ;;
  esac
  case $INPUT_DRY_RUN in
  true | false) ;;
  *) fail "the input dry-run is neither true nor false" ;;
  esac
  case $INPUT_FORCE in
  '' | true | false) ;;
  *) fail "the input force is neither true nor false" ;;
  esac
  wants iterations '[1-9][0-9]{0,3}' "a number from 1 to 9999" "$INPUT_ITERATIONS"
  wants max-programs '[1-9][0-9]{0,3}' "a number from 1 to 9999" "$INPUT_MAX_PROGRAMS"
  wants program '[a-z0-9][a-z0-9._-]{0,63}' "the name of a program" "$INPUT_PROGRAM"
  wants agent '[a-z][a-z0-9-]{0,63}' "the name of an agent" "$INPUT_AGENT"
  wants model '[A-Za-z0-9][][A-Za-z0-9._:/@+-]{0,199}' "the name of a model" "$INPUT_MODEL"
  wants ci-workflow '[A-Za-z0-9_][A-Za-z0-9._-]{0,199}[.]ya?ml' "the file name of a workflow, such as ci.yml" "$INPUT_CI_WORKFLOW"
  wants budget-usd '[0-9]{1,9}([.][0-9]{1,9})?' "a number of dollars, such as 2.50" "$INPUT_BUDGET_USD"
  wants version "source|$semver(@sha256:[0-9a-f]{64})?" "a release such as v1.2.3, v1.2.3@sha256:DIGEST or source" "$INPUT_VERSION"
  path programs-dir "$INPUT_PROGRAMS_DIR"
  path working-directory "$INPUT_WORKING_DIRECTORY"
  path bundle "$INPUT_BUNDLE"
  path suite "$INPUT_SUITE"
  path baseline "$INPUT_BASELINE"
  path candidate "$INPUT_CANDIDATE"
  case $INPUT_MODE in
  begin | propose | publish)
    [ "$INPUT_ITERATIONS" = 1 ] || fail "the input iterations is for the modes iterate and run: a bundle has one"
    [ "$INPUT_DRY_RUN" = false ] || fail "the input dry-run is for the modes iterate and run: proposing writes nothing but the bundle"
    ;;
  compare)
    [ -n "$INPUT_BASELINE" ] || fail "the mode compare needs the input baseline"
    [ -n "$INPUT_CANDIDATE" ] || fail "the mode compare needs the input candidate"
    ;;
  esac
}

semver='v?[0-9]{1,9}[.][0-9]{1,9}[.][0-9]{1,9}(-[0-9A-Za-z.-]{1,64})?'

sha256() {
  if command -v sha256sum >/dev/null; then
    sha256sum <"$1" | cut -d ' ' -f 1
  else
    shasum -a 256 <"$1" | cut -d ' ' -f 1
  fi
}

# output NAME VALUE sets an output of a value that is ours.
output() {
  printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"
}

# own_version prints the version that the action's source is, as its changelog
# says: nothing between two releases.
own_version() {
  sed -n -e 's/^## \[\(.*\)\].*/\1/p' "$GITHUB_ACTION_PATH/CHANGELOG.md" | head -n 1
}

# identify sets repository and ref, those of the action. One that is used by
# another action is told of that one; where the runner put it says it right.
identify() {
  local LC_ALL=C place=${GITHUB_ACTION_PATH//\\//}
  repository=${ACTION_REPOSITORY:-} ref=${ACTION_REF:-}
  if [[ $place =~ /_actions/([^/]+/[^/]+)/([^/]+)/?$ ]]; then
    repository=${BASH_REMATCH[1]} ref=${BASH_REMATCH[2]}
  fi
  [[ $repository =~ ^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$ ]] || repository=org/autoloop
}

# choose_release sets tag, nothing for the source, and the digest of its
# checksums, where one is given.
choose_release() {
  tag='' digest=''
  local LC_ALL=C own
  case $INPUT_VERSION in
  source) return ;;
  *@sha256:*) digest=${INPUT_VERSION#*@sha256:} ;;
  esac
  own=${INPUT_VERSION%@*}
  if [ -z "$own" ]; then
    # A commit is its source and nothing else; a tag is its release. The moving
    # tag is the release that its source says.
    if [[ $ref =~ ^v$semver$ ]]; then
      own=$ref
    elif [[ $ref =~ ^v[0-9]+$ ]]; then
      own=$(own_version)
      [[ v$own =~ ^$semver$ && v$own == "$ref".* ]] || return 0
    else
      return 0
    fi
  fi
  tag=v${own#v}
}

# platform sets os, arch and exe as the names of the archives have them.
platform() {
  exe=''
  case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  MINGW* | MSYS* | CYGWIN*) os=windows exe=.exe ;;
  *) os=other ;;
  esac
  case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) arch=other ;;
  esac
}

# fetch URL FILE MOST sets code to the answer's status, or to 000 without an answer.
# No configuration of curl is read: it could be a program's.
fetch() {
  local secure='=https'
  case $GITHUB_SERVER_URL in http://*) secure='=http,https' ;; esac
  code=$(curl -q --silent --location --proto "$secure" --max-redirs 5 --retry 2 --connect-timeout 20 --max-time 300 \
    --max-filesize "$3" --output "$2" --write-out '%{http_code}' -- "$1") || [ "$code" != 200 ] || code=000
}

# missing MESSAGE ends the step when that release was asked for. Otherwise the
# action's own source is as good, and the log says so.
missing() {
  [ -z "$INPUT_VERSION" ] || fail "$1; leave the input version empty to build the action's own source"
  printf '%s: the action is built from its own source\n' "$1"
  return 1
}

# download gets the release and holds it against its checksums. It returns 1 when
# no release exists; what does not have its checksum ends the step.
download() {
  local base sums=$work/checksums.txt name found
  base=$GITHUB_SERVER_URL/$repository/releases/download/$tag
  command -v curl >/dev/null || missing "curl is not installed" || return
  fetch "$base/checksums.txt" "$sums" 1000000
  case $code in
  200) ;;
  404) missing "there is no release $tag" || return ;;
  *) missing "the release $tag cannot be reached (status $code)" || return ;;
  esac
  if [ -n "$digest" ] && [ "$(sha256 "$sums")" != "$digest" ]; then
    fail "checksums.txt of $tag does not have the digest that the input version gives: nothing of it is used"
  fi
  platform
  name=autoloop_${tag#v}_${os}_$arch.tar.gz
  found=$(awk -v name="$name" '$2 == name || $2 == "*" name { print $1 }' "$sums")
  [ -n "$found" ] || missing "the release $tag has nothing for $os/$arch" || return
  fetch "$base/$name" "$work/$name" 200000000
  [ "$code" = 200 ] || missing "$name of the release $tag cannot be reached (status $code)" || return
  [ "$(sha256 "$work/$name")" = "$found" ] || fail "$name does not have the checksum of its release: it is not used; run the job again, and report it if it stays so"
  tar -xzf - -C "$bin" "scheduler$exe" "iterate$exe" <"$work/$name" || fail "$name is no archive of Autoloop"
  rm -f "$work/$name"
}

get() {
  check_inputs
  identify
  choose_release
  rm -rf "$bin"
  mkdir -p "$bin"
  echo "::group::Get Autoloop"
  if [ -n "$tag" ] && download; then
    "$bin/iterate$exe" --version
  else
    output source true
    output modules "$work/modules"
    output modules-key "autoloop-modules-$(sha256 "$GITHUB_ACTION_PATH/go.sum")"
  fi
  echo "::endgroup::"
}

build() {
  echo "::group::Build Autoloop"
  # Modules come from the cache as from a proxy: go holds each against go.sum.
  # The compiled packages stay apart from those of evaluations, unless the machine
  # says where it keeps them.
  local modules=file://$work/modules
  if command -v cygpath >/dev/null; then
    modules=file:///$(cygpath -m "$work/modules")
  fi
  GOPROXY=$modules,$(go env GOPROXY) GOMODCACHE=${GOMODCACHE:-$work/mod} GOCACHE=${GOCACHE:-$work/gocache} \
    GOWORK=off GOFLAGS='-modcacherw -buildvcs=false -trimpath' CGO_ENABLED=0 \
    go -C "$GITHUB_ACTION_PATH" build -o "$bin/" ./cmd/... ||
    fail "the action's source was not built; the log says why"
  if [ -d "$work/mod" ] && [ ! -d "$work/modules" ]; then
    mkdir -p "$work/modules"
    cp -R "$work/mod/cache/download/." "$work/modules/"
  fi
  rm -rf "$work/mod" "$work/gocache"
  "$bin/iterate" --version
  echo "::endgroup::"
}

token() {
  od -An -N16 -tx1 /dev/urandom | tr -d ' \n'
}

# supervised COMMAND… hands a signal on, so that a cancelled job ends in order.
supervised() {
  local status=0 child
  "$@" >"$work/printed" &
  child=$!
  trap 'kill -TERM "$child" 2>/dev/null || true' INT TERM
  wait "$child" || status=$?
  while kill -0 "$child" 2>/dev/null; do
    status=0
    wait "$child" || status=$?
  done
  trap - INT TERM
  return "$status"
}

# tell TITLE COMMAND… shows the progress of a command in a group, and its results
# after that. Both have text of files and issues in them: no line is a command.
# Annotations come in a file of their own.
tell() {
  local title=$1 status=0 stop
  shift
  export AUTOLOOP_ANNOTATIONS=$work/annotations
  rm -f "$AUTOLOOP_ANNOTATIONS"
  stop=$(token)
  printf '::group::%s\n::stop-commands::%s\n' "$title" "$stop"
  supervised "$@" || status=$?
  printf '\n::%s::\n::endgroup::\n::stop-commands::%s\n' "$stop" "$stop"
  awk 1 "$work/printed"
  printf '::%s::\n' "$stop"
  if [ -f "$AUTOLOOP_ANNOTATIONS" ]; then
    grep -E '^::(error|warning|notice) [^:]*::' "$AUTOLOOP_ANNOTATIONS" | head -n 30 || true
  fi
  return "$status"
}

# comparison runs the suite on both sides, or reads what it came to.
comparison() {
  local program=${INPUT_PROGRAMS_DIR:-.autoloop/programs}/$INPUT_PROGRAM flags=()
  if [ -n "$INPUT_PROGRAM" ]; then
    [ -f "$program/program.md" ] && program=$program/program.md || program=$program.md
    flags+=("--settings=$program")
  fi
  if [ -f "$INPUT_BASELINE" ] && [ -f "$INPUT_CANDIDATE" ]; then
    tell "Compare" "$bin/iterate" compare ${flags[@]+"${flags[@]}"} -- "$INPUT_BASELINE" "$INPUT_CANDIDATE"
    return
  fi
  [ -z "$INPUT_AGENT" ] || flags+=("--agent=$INPUT_AGENT")
  [ -z "$INPUT_MODEL" ] || flags+=("--model=$INPUT_MODEL")
  [ -z "$INPUT_BUDGET_USD" ] || flags+=("--budget-usd=$INPUT_BUDGET_USD")
  tell "Compare" "$bin/iterate" eval "--against=$INPUT_BASELINE" "--candidate=$INPUT_CANDIDATE" \
    "--out=$work/comparison" ${flags[@]+"${flags[@]}"} -- ${INPUT_SUITE:+"$INPUT_SUITE"}
}

userns=kernel.apparmor_restrict_unprivileged_userns

# isolate lets commands be isolated, which Ubuntu's runners forbid, and says in one
# line what came of it. GitHub's machine ends with the job; any other is somebody's.
isolate() {
  local now
  [ "$(uname -s)" = Linux ] && [ "${AUTOLOOP_ISOLATION:-auto}" != off ] || return 0
  now=$(sysctl -n "$userns" 2>/dev/null) || return 0
  if [ "$now" != 1 ]; then
    echo "Isolation: this machine allows it"
  elif [ "${RUNNER_ENVIRONMENT:-}" != github-hosted ]; then
    echo "Isolation: this machine forbids it, and is not GitHub's: sudo sysctl $userns=0 allows it"
  elif sudo -n sysctl -q -w "$userns=0" >/dev/null 2>&1; then
    echo "Isolation: allowed for this job ($userns=0)"
  else
    echo "Isolation: this machine forbids it, and sudo may not change that"
  fi
}

run() {
  local chosen=() agent=() bundle=${INPUT_BUNDLE:-$work/bundle}
  check_inputs
  platform
  [ -x "$bin/iterate$exe" ] || fail "Autoloop was not fetched: the step that gets it did not run"
  export AUTOLOOP_DIR=$work/run
  cd -- "${INPUT_WORKING_DIRECTORY:-$GITHUB_WORKSPACE}" || fail "the input working-directory is no directory"
  [ -z "$INPUT_PROGRAM" ] || chosen+=("--program=$INPUT_PROGRAM")
  [ -z "$INPUT_PROGRAMS_DIR" ] || chosen+=("--programs=$INPUT_PROGRAMS_DIR")
  case $INPUT_MODE in
  schedule | run)
    tell "Find what is due" "$bin/scheduler" "--max=$INPUT_MAX_PROGRAMS" ${chosen[@]+"${chosen[@]}"}
    [ "$INPUT_MODE" = run ] || return 0
    ;;
  page)
    rm -rf "$work/page"
    tell "Draw the page" "$bin/iterate" ${INPUT_PROGRAMS_DIR:+"--programs=$INPUT_PROGRAMS_DIR"} page "--out=$work/page"
    return
    ;;
  validate)
    if [ "${GITHUB_EVENT_NAME:-}" = issues ]; then
      tell "Validate" "$bin/iterate" validate --comment ${INPUT_PROGRAMS_DIR:+"--programs=$INPUT_PROGRAMS_DIR"}
    else
      tell "Validate" "$bin/iterate" validate ${INPUT_PROGRAMS_DIR:+"--programs=$INPUT_PROGRAMS_DIR"}
    fi
    return
    ;;
  steer)
    tell "Read what was said" "$bin/iterate" job steer ${chosen[@]+"${chosen[@]}"}
    return
    ;;
  compare)
    isolate
    comparison
    return
    ;;
  esac
  [ "$INPUT_FORCE" != true ] || chosen+=(--force)
  if [ "$INPUT_MODE" = begin ]; then
    tell "Begin" "$bin/iterate" job begin ${chosen[@]+"${chosen[@]}"}
    return
  fi
  [ "$INPUT_MODE" = publish ] || isolate
  [ -z "$INPUT_CI_WORKFLOW" ] || chosen+=("--ci-workflow=$INPUT_CI_WORKFLOW")
  [ -z "$INPUT_AGENT" ] || agent+=("--agent=$INPUT_AGENT")
  [ -z "$INPUT_MODEL" ] || agent+=("--model=$INPUT_MODEL")
  [ -z "$INPUT_BUDGET_USD" ] || agent+=("--budget-usd=$INPUT_BUDGET_USD")
  [ "$INPUT_DRY_RUN" = false ] || agent+=(--dry-run)
  case $INPUT_MODE in
  propose) tell "Propose" "$bin/iterate" job propose "--out=$bundle" ${chosen[@]+"${chosen[@]}"} ${agent[@]+"${agent[@]}"} ;;
  publish)
    # Without a bundle nothing was proposed: what waits is done, or the start is given back.
    [ -z "$INPUT_BUNDLE" ] && [ ! -e "$bundle" ] || chosen+=(-- "$bundle")
    tell "Publish" "$bin/iterate" job publish ${chosen[@]+"${chosen[@]}"}
    ;;
  *) tell "Iterate" "$bin/iterate" "--iterations=$INPUT_ITERATIONS" ${chosen[@]+"${chosen[@]}"} ${agent[@]+"${agent[@]}"} ;;
  esac
}

case ${1:-} in
get | build | run) "$1" ;;
*) fail "action.sh is called with get, build or run" ;;
esac
