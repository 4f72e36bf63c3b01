#!/usr/bin/env bash
# The work of action.yml. Its inputs come as INPUT_ variables and are only ever
# arguments, so nothing in them is run.
set -euo pipefail

fail() {
  printf '::error title=Autoloop::%s\n' "$1"
  exit 2
}

case $INPUT_MODE in
schedule | iterate | run) ;;
*) fail "the input mode is none of schedule, iterate and run" ;;
esac
case $INPUT_DRY_RUN in
true | false) ;;
*) fail "the input dry-run is neither true nor false" ;;
esac

work=$RUNNER_TEMP/autoloop
bin=$work/bin
mkdir -p "$bin"
echo "::group::Build Autoloop"
# The token is not for the build.
(unset GITHUB_TOKEN && GOWORK=off GOFLAGS=-buildvcs=false CGO_ENABLED=0 go -C "$GITHUB_ACTION_PATH" build -o "$bin/" ./cmd/...)
echo "::endgroup::"

export AUTOLOOP_DIR=$work/run
cd "${INPUT_WORKING_DIRECTORY:-$GITHUB_WORKSPACE}"

common=()
[ -z "$INPUT_PROGRAM" ] || common+=("--program=$INPUT_PROGRAM")
[ -z "$INPUT_PROGRAMS_DIR" ] || common+=("--programs=$INPUT_PROGRAMS_DIR")

if [ "$INPUT_MODE" != iterate ]; then
  echo "::group::Find what is due"
  # What is printed comes from files and issues: no line of it is a command.
  stop=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  printf '::stop-commands::%s\n' "$stop"
  status=0
  "$bin/scheduler" "--max=$INPUT_MAX_PROGRAMS" "${common[@]}" || status=$?
  printf '::%s::\n' "$stop"
  echo "::endgroup::"
  [ "$status" -eq 0 ] || exit "$status"
fi
[ "$INPUT_MODE" != schedule ] || exit 0

flags=("--iterations=$INPUT_ITERATIONS" --json)
[ -z "$INPUT_AGENT" ] || flags+=("--agent=$INPUT_AGENT")
[ -z "$INPUT_MODEL" ] || flags+=("--model=$INPUT_MODEL")
[ "$INPUT_DRY_RUN" = false ] || flags+=(--dry-run)

echo "::group::Iterate"
stop=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
printf '::stop-commands::%s\n' "$stop"
status=0
"$bin/iterate" "${flags[@]}" "${common[@]}" >"$work/results.json" || status=$?
cat "$work/results.json"
printf '::%s::\n' "$stop"
echo "::endgroup::"
printf 'report=%s\n' "$work/results.json" >>"$GITHUB_OUTPUT"
exit "$status"
