#!/usr/bin/env bash
# Proves a release before there is one: release/check.sh [quick|full]
#
# Builds the last commit for the platforms that Debian's compilers reach, packs it, installs it with the real krew from a server on this
# machine, and runs it through the real kubectl. Needs Debian 12 as root, Rust and Go. All of it is below target/release-check.
#
# A release itself is built with Rust's own toolchains by .github/workflows/release.yml. The standard library of other targets does not come
# from crates.io, so here it is built from Debian's source. `quick`, the default, leaves out what only makes programs fast and small.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-quick} in
quick) export CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 ;;
full) ;;
*) sed -n '2,/^[^#]/{s/^# \?//p}' "$0" >&2 && exit 2 ;;
esac
root=$PWD/target/release-check
tools=$PWD/target/tools
dist=$root/dist
bin=$root/bin
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
# Those that are built here; of the others an archive shows nothing but its layout.
built=(linux-amd64 linux-arm64 windows-amd64)
others=(darwin-amd64 darwin-arm64 windows-arm64)

step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }

step "tools"
packages=(rustc-web cargo-web rust-web-src qemu-user wine64 gcc-mingw-w64-x86-64 binutils buildah mandoc ruby shellcheck python3-venv git)
missing=()
for package in "${packages[@]}"; do dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package"); done
if [ "${#missing[@]}" -gt 0 ]; then
  apt-get update -q
  apt-get install -qy --no-install-recommends "${missing[@]}"
fi
# What was built stays, for the next time.
rm -rf "${root:?}"/{bin,dist,*/dist,another/folder/dist,run,krew*,index,containers*}
mkdir -p "$bin" "$dist" "$tools"
tool() { cargo install --quiet --locked --root "$tools" "$1"; }
tool cargo-auditable@0.7.7
python=$tools/venv/bin/python
[ -x "$python" ] || python3 -m venv "$tools/venv"
"$tools/venv/bin/pip" install --quiet ziglang==0.17.1 'cyclonedx-python-lib[json-validation]==11.12.0'
for program in sigs.k8s.io/krew/cmd/{krew,validate-krew-manifest}@v0.5.0 github.com/rhysd/actionlint/cmd/actionlint@v1.7.12; do
  GOBIN=$tools/bin go install "$program"
done
(cd tests/go && go build -o "$bin/kubectl" ./cmd/kubectl)
ln -s "$tools/bin/krew" "$bin/kubectl-krew"
export PATH=$bin:$tools/bin:$PATH

# Linkers do not know Rust's names of targets, nor the objects of its runtime, which do nothing on these targets. Without -fno-sanitize, zig
# makes C trap on undefined behavior.
linker() {
  # shellcheck disable=SC2016
  printf '#!/usr/bin/env bash\nfor arg; do\n  shift\n  case $arg in --target=* | %s) ;; *) set -- "$@" "$arg" ;; esac\ndone\nexec %s "$@"\n' \
    'rsbegin.o | rsend.o' "$2" >"$bin/$1"
  chmod +x "$bin/$1"
}
linker x86_64-linux-musl-cc "$python -m ziglang cc -target x86_64-linux-musl -fno-sanitize=all"
linker aarch64-linux-musl-cc "$python -m ziglang cc -target aarch64-linux-musl -fno-sanitize=all"
linker x86_64-windows-cc x86_64-w64-mingw32-gcc

# Builds a platform from the clone in the folder, and packs it there.
build() {
  local clone=$1 platform=$2 target compiler flags=
  case $platform in
  linux-amd64) target=x86_64-unknown-linux-musl compiler=x86_64-linux-musl-cc flags=-Clink-self-contained=no ;;
  linux-arm64) target=aarch64-unknown-linux-musl compiler=aarch64-linux-musl-cc flags=-Clink-self-contained=no ;;
  windows-amd64) target=x86_64-pc-windows-gnu compiler=x86_64-windows-cc ;;
  esac
  step "$platform in $(basename "$clone")"
  env "CC_${target//-/_}=$compiler" "CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<<"$target")_LINKER=$compiler" "RUSTFLAGS=$flags" \
    CARGO=/usr/bin/cargo RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR="$clone/target" \
    "$clone/release/build.sh" "$target" --quiet --release -Zbuild-std=std,panic_abort
  local program=$clone/target/$target/release/kubectl-dra
  if [[ $platform = windows-* ]]; then program+=.exe; fi
  "$clone/release/package.py" archive "$platform" "$program" "$clone/dist"
}

step "commit $(git rev-parse HEAD), ${1:-quick}, $(/usr/bin/rustc --version)"
for clone in one another/folder; do
  git init --quiet "$root/$clone"
  git -C "$root/$clone" fetch --quiet "$PWD" HEAD
  git -C "$root/$clone" checkout --quiet --force --detach FETCH_HEAD
done
# Side by side, as the linker of a release uses one processor.
(
  build "$root/one" linux-amd64
  build "$root/one" linux-arm64
) &
one=$!
(
  build "$root/another/folder" linux-amd64
  build "$root/another/folder" windows-amd64
) &
another=$!
wait $one
wait $another
step "two builds of linux-amd64 have the same bytes"
sha256sum "$root"/{one,another/folder}/target/x86_64-unknown-linux-musl/release/kubectl-dra "$root"/{one,another/folder}/dist/kubectl-dra-linux-amd64.tar.gz
cmp "$root"/{one,another/folder}/dist/kubectl-dra-linux-amd64.tar.gz

step "archives"
cp "$root"/one/dist/* "$root"/another/folder/dist/*windows* "$dist"
for platform in "${others[@]}"; do
  echo "$platform: not built here; its archive has a stand-in for the program and proves the layout alone"
  echo "a stand-in for kubectl-dra on $platform" >"$root/stand-in"
  release/package.py archive "$platform" "$root/stand-in" "$dist"
done
(cd "$dist" && ls -l -- *.tar.gz *.zip && tar -tzf kubectl-dra-linux-amd64.tar.gz | grep -v '^man/kubectl-dra-')

step "each program says the same"
unpacked() { mkdir -p "$root/run/$1" && tar -xzf "$dist/kubectl-dra-$1.tar.gz" -C "$root/run/$1"; }
unpacked linux-amd64
unpacked linux-arm64
python3 -m zipfile -e "$dist/kubectl-dra-windows-amd64.zip" "$root/run/windows-amd64"
file "$root"/run/*/kubectl-dra* 2>/dev/null || true
# Wine 8 lacks a library of Windows 10. Rust uses one function of it.
x86_64-w64-mingw32-gcc -shared -o "$root/run/windows-amd64/bcryptprimitives.dll" release/prng.c -ladvapi32
export WINEPREFIX=$root/wine WINEDEBUG=-all
run() {
  local platform=$1
  shift
  case $platform in
  linux-amd64) "$root/run/linux-amd64/kubectl-dra" "$@" ;;
  linux-arm64) qemu-aarch64 "$root/run/linux-arm64/kubectl-dra" "$@" ;;
  windows-amd64) /usr/lib/wine/wine64 "$root/run/windows-amd64/kubectl-dra.exe" "$@" | tr -d '\r' ;;
  esac
}
for platform in "${built[@]}"; do
  run "$platform" version --client
done
for args in "status --from example:gpus" "explain pod/too-many --from example:pending" "check --from example:stale" "claims -A -o json --now 2026-11-01T00:00:00Z --from example:gpus"; do
  for platform in "${built[@]}"; do
    # The verdict is in the exit code, which is compared too.
    # shellcheck disable=SC2086
    { run "$platform" $args 2>"$root/run/$platform/messages" || echo "exit code $?"; } >"$root/run/$platform/answer"
    tr -d '\r' <"$root/run/$platform/messages" >>"$root/run/$platform/answer"
    cmp "$root/run/linux-amd64/answer" "$root/run/$platform/answer"
    echo "$platform: kubectl-dra $args: $(wc -l <"$root/run/$platform/answer") lines, as on linux-amd64"
  done
done

step "the dependencies in the program, and as CycloneDX"
objcopy --dump-section .dep-v0="$root/dep" "$root/run/linux-amd64/kubectl-dra" /dev/null
"$python" -c '
import json, sys, zlib
packages = json.loads(zlib.decompress(open(sys.argv[1], "rb").read()))["packages"]
assert any(package.get("root") and package["name"] == "kubectl-dra" for package in packages)
print(f"{len(packages)} crates are listed in the program")' "$root/dep"
tool cargo-cyclonedx@0.5.9
(cd "$root/one" && cargo cyclonedx --quiet --format json --spec-version 1.5 --override-filename kubectl-dra.cdx)
mv "$root/one/kubectl-dra.cdx.json" "$dist"
"$python" -c '
import json, sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
text = open(sys.argv[1]).read()
problem = JsonStrictValidator(SchemaVersion.V1_5).validate_str(text)
assert problem is None, problem
print(len(json.loads(text)["components"]), "components; valid by the schema of CycloneDX 1.5")' "$dist/kubectl-dra.cdx.json"

step "a Debian package"
tool cargo-deb@3.8.0
(cd "$root/one" && cargo deb --quiet --locked --no-build --no-strip --target x86_64-unknown-linux-musl --output "$dist")
dpkg-deb --info "$dist"/*.deb
dpkg-deb --contents "$dist"/*.deb | grep -v '/man1/kubectl-dra-'

step "man pages"
mandoc -T lint -W error man/*.1 && echo "mandoc finds nothing"

step "krew: each platform from http://127.0.0.1"
# The server says which port it got.
python3 -u - "$dist" >"$root/port" <<'SERVER' &
import functools, http.server, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
handler.func.translate_path, full = lambda self, path: full(self, "/" + path.rsplit("/", 1)[-1]), handler.func.translate_path
handler.func.log_message = lambda *_: None
server = http.server.HTTPServer(("127.0.0.1", 0), handler)
print(server.server_port, flush=True)
server.serve_forever()
SERVER
server=$!
trap 'kill "$server"' EXIT
until [ -s "$root/port" ]; do sleep 0.1; done
release/package.py manifests "$dist" "http://127.0.0.1:$(cat "$root/port")"
cat "$dist/checksums.txt"
"$python" -m json.tool "$dist/kubectl-dra.json" /dev/null
ruby -c "$dist/kubectl-dra.rb"
validate-krew-manifest -manifest "$dist/dra.yaml"
for platform in "${built[@]}" "${others[@]}"; do
  KREW_ROOT=$root/krew-$platform KREW_OS=${platform%-*} KREW_ARCH=${platform#*-} kubectl krew install --manifest="$dist/dra.yaml" </dev/null 2>&1 |
    grep -v '^.*|\|^[\\/]$'
  find "$root/krew-$platform/store/dra" -type f -printf "$platform: %P %s bytes\n"
done

step "krew: install, run, upgrade and uninstall, from an index"
export KREW_ROOT=$root/krew
mkdir -p "$root/index/plugins"
index() { git -C "$root/index" -c user.name=index -c user.email=index@example.com "$@"; }
index init --quiet --initial-branch=master
offer() {
  sed "s/^  version: .*/  version: $1/" "$dist/dra.yaml" >"$root/index/plugins/dra.yaml"
  index add plugins && index commit --quiet --message "dra $1"
}
offer v0.0.0
export KREW_DEFAULT_INDEX_URI=$root/index
export PATH=$KREW_ROOT/bin:$PATH
kubectl krew update
kubectl krew install dra </dev/null
kubectl krew list
kubectl dra status --from example:gpus
offer "v$version"
kubectl krew update
kubectl krew upgrade dra
kubectl dra version --client
kubectl krew uninstall dra
if kubectl dra version --client 2>/dev/null; then echo "it is still there" >&2 && exit 1; fi
echo "kubectl finds it no more"

step "the image"
release/package.py image "$dist"
store=(--root "$root/containers" --runroot "$root/containers-run" --storage-driver vfs)
for arch in amd64 arm64; do
  buildah "${store[@]}" bud --quiet --isolation chroot --platform "linux/$arch" --file deploy/Containerfile --tag "kubectl-dra:$arch" "$dist/image"
done
buildah "${store[@]}" images
buildah "${store[@]}" inspect --type image --format '{{.OCIv1.Architecture}}: user {{.OCIv1.Config.User}}, {{.OCIv1.Config.Entrypoint}}{{println}}' kubectl-dra:amd64
mounted=$(buildah "${store[@]}" mount "$(buildah "${store[@]}" from kubectl-dra:amd64)")
find "$mounted" -type f -printf '%P %s bytes\n'
# No container runtime is needed for what matters: its root and nothing else, read-only, as its user.
# shellcheck disable=SC2016
unshare --mount bash -c 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && exec chroot --userspec=65532:65532 "$1" /kubectl-dra status --from example:gpus' - "$mounted"

step "workflows, licenses"
actionlint && echo "actionlint finds nothing"
shellcheck release/*.sh && echo "shellcheck finds nothing"
tool cargo-deny@0.20.2
if cargo deny --locked fetch db >"$root/deny.log" 2>&1; then checks=(); else
  echo "the database of advisories cannot be reached: advisories were NOT checked"
  checks=(bans licenses sources)
fi
cargo deny --locked check "${checks[@]}"

step "done"
