# Sourced by the other scripts: goes to the project's folder and defines their shared functions.

set -euo pipefail
called_in=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."

die() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}

# from_caller PATH: absolute; relative ones are those of the folder that the script was called in.
from_caller() {
  if [[ $1 == /* ]]; then echo "$1"; else echo "$called_in/$1"; fi
}

# stage TITLE: a heading with the time since the script was started.
stage() {
  printf '\n==> [%d:%02d] %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*"
}

# How many compilers run at once: one per core, and 2 GB of memory for each, which a file with LibTorch's headers needs.
job_count() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ {print int($2 / 2000000)}' /proc/meminfo)
  echo $((memory < 1 ? 1 : memory < cores ? memory : cores))
}

# build PRESET [TARGET...]: configures and builds; what is up to date is left alone.
build() {
  local preset=$1
  shift
  cmake --preset "$preset"
  cmake --build --preset "$preset" --parallel "$(job_count)" ${1:+--target "$@"}
}
