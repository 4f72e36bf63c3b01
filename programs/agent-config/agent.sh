#!/bin/sh
# A scripted agent, so that the suite runs without a model. It solves the three
# tasks of this example as somebody would who does what the prompt says and
# what AGENTS.md asks for, and nothing besides.
set -e

prompt=$(cat)
asks() { grep -qi "$1" AGENTS.md 2>/dev/null; }

# replace FILE SED-SCRIPT edits a file in place.
replace() {
  sed "$2" "$1" >"$1.new"
  cat "$1.new" >"$1"
  rm "$1.new"
}

case $prompt in
  *--version*)
    replace greet.sh '/^  --help)/i\
  --version)\
    echo 1.2.0\
    ;;'
    if asks changelog; then
      replace CHANGELOG.md 's/^## Unreleased$/&\
\
- The option `--version` prints the version./'
      replace README.md '/--help/a\
- `--version` prints the version.'
    fi
    ;;
  *slug.sh*)
    replace slug.sh "s/tr ' ' '-'/tr 'A-Z ' 'a-z-'/"
    if asks 'fixed bug'; then
      replace test.sh "/^check 'abc'/a\\
check 'Hello World' 'hello-world'"
    fi
    ;;
  *max_retries*)
    if asks deprecated; then
      replace fetch.sh 's/^      retries) retries=$value ;;/      max_retries) retries=$value ;;\
      retries)\
        echo "fetch.sh: the setting retries is deprecated: write max_retries" >\&2\
        retries=$value\
        ;;/'
    else
      replace fetch.sh 's/^      retries)/      max_retries)/'
    fi
    replace README.md 's/`retries`/`max_retries`/'
    ;;
  *)
    echo "this script knows only the tasks of its own suite" >&2
    exit 1
    ;;
esac

if [ -f test.sh ]; then
  sh test.sh
fi
echo "done as asked"
