#!/usr/bin/env bash
# Builds and releases the project.
set -euo pipefail

source ./lib/common.sh
. "$HOME/.env"

VERSION="1.2.3"
readonly LIMIT=10
declare -r NAME=tool
declare -A TABLE=([a]=1 [b]=2)
export PATH="$PATH:/opt/bin"
LIST=(one two three)
typeset -i COUNT=0

alias ll='ls -l'

# Prints a message
# to the standard error.
log() {
  local level="$1"
  shift
  printf '%s: %s\n' "$level" "$*" >&2
}

function die {
  log error "$@"
  exit 1
}

function check_tools() {
  local tool
  for tool in git make; do
    command -v "$tool" >/dev/null || die "no $tool"
  done
}

build::all() {
  inner_helper() {
    echo inner
  }
  inner_helper
  while read -r line; do
    echo "$line"
  done < <(find . -name '*.c')
}

subshell_function() (
  cd /
  pwd
)

one_line() { echo one; }

usage() {
  cat <<'HELP'
Usage: tool [options]

not_a_function() {
  echo nothing
}
HELP
}

if [[ "${DEBUG:-}" == 1 ]]; then
  trace() {
    set -x
  }
else
  trace() { :; }
fi

case "$VERSION" in
  1.*)
    legacy() {
      echo legacy
    }
    ;;
  *)
    die "unknown version"
    ;;
esac

with_redirect() {
  echo output
} > /dev/null 2>&1

parse_arguments() {
  while [[ $# -gt 0 ]]; do
    case "$1" in
      -h | --help)
        usage
        exit 0
        ;;
      -v)
        VERBOSE=1
        ;;
      *)
        break
        ;;
    esac
    shift
  done
}

RESULT=$(check_tools && echo yes)
: "${CACHE:=/var/cache}"

unset COUNT

arith() {
  local -i total=0
  ((total += 1))
  echo $((total * 2))
}

for i in 1 2 3; do
  in_loop() { echo "$i"; }
done

select_menu() {
  local options=("a" "b")
  select opt in "${options[@]}"; do
    break
  done
}

function with-dash() {
  echo dash
}

trap 'rm -rf "$TMP"' EXIT
TMP=$(mktemp -d)

deploy() {
  local host="$1" user="${2:-root}"
  ssh "$user@$host" <<EOS
    cd /srv
    restart
EOS
}

main() {
  parse_arguments "$@"
  check_tools
  build::all
  deploy example
}

main "$@"
