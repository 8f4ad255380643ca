#!/usr/bin/env bash
# Builds the program for a target of the release, with the list of its dependencies in it: release/build.sh TARGET [ARGUMENTS OF CARGO]
#
# Needs cargo-auditable. The same commit, compiler and arguments give the same bytes in any folder.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$1
shift

here=$PWD
home=${CARGO_HOME:-$HOME/.cargo}
flags=()
case $target in
*-windows-msvc)
  # Compilers on Windows know folders by other names than this shell.
  here=$(cygpath -w "$here")
  home=$(cygpath -w "$home")
  # No runtime to install, and a hash in place of the time.
  flags+=(-Ctarget-feature=+crt-static -Clink-arg=/Brepro)
  ;;
*-windows-gnu) flags+=('-Clink-arg=-Wl,--no-insert-timestamp') ;;
esac
flags+=("--remap-path-prefix=$home=/cargo" "--remap-path-prefix=$here=/kubectl-dra")
# The allocator has the time of its compilation in it.
if [[ $target = *-msvc ]]; then
  export CFLAGS="/Brepro ${CFLAGS:-}"
else
  no_time='-Wno-builtin-macro-redefined -D__DATE__="" -D__TIME__=""'
  export CFLAGS="-ffile-prefix-map=$home=/cargo -ffile-prefix-map=$here=/kubectl-dra $no_time ${CFLAGS:-}"
fi
# Flags with spaces in them stay whole.
CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && echo "${flags[*]}")${RUSTFLAGS:+$'\x1f'${RUSTFLAGS// /$'\x1f'}}
KUBECTL_DRA_COMMIT=$(git rev-parse HEAD)
export CARGO_ENCODED_RUSTFLAGS KUBECTL_DRA_COMMIT
"${CARGO:-cargo}" auditable build --locked --bin kubectl-dra --target "$target" "$@"
