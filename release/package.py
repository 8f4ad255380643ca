#!/usr/bin/env python3
"""Packs what a release consists of. The same files give the same bytes.

    release/package.py archive OS-ARCH PROGRAM DIST   kubectl-dra-OS-ARCH.tar.gz, or .zip for Windows
    release/package.py manifests DIST [URL]           checksums and manifests of the archives, which will be below URL
    release/package.py image DIST                     the build context of deploy/Containerfile
"""

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
VERSION = CARGO["version"]
RELEASES = f"{CARGO['repository']}/releases/download"
# Certificates for TLS with what has no certificate of the cluster's authority, such as a provider of tokens.
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")

# How files with the terms of a license are called.
LICENSES = re.compile("licen[cs]e|copying|notice|copyright|unlicense", re.IGNORECASE)


def time():
    """The time of the commit, which is the same for every build."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    return int(epoch or subprocess.check_output(["git", "-C", ROOT, "log", "-1", "--format=%ct"]))


def name(platform):
    return f"kubectl-dra-{platform}" + (".zip" if platform.startswith("windows-") else ".tar.gz")


def third_party():
    """The licenses of the crates in the program, on whatever platform, each text once."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", ROOT / "Cargo.toml"]
    metadata = json.loads(subprocess.check_output(command))
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    linked, left = set(), [metadata["resolve"]["root"]]
    while left:
        if (package := left.pop()) not in linked:
            linked.add(package)
            kinds = ((d["pkg"], [kind["kind"] for kind in d["dep_kinds"]]) for d in nodes[package]["deps"])
            left += [dependency for dependency, kinds in kinds if None in kinds]
    crates = {}
    for package in sorted((packages[id] for id in linked), key=lambda package: (package["name"], package["version"])):
        if package["source"] is None:
            continue
        folder = Path(package["manifest_path"]).parent
        files = sorted(file for file in folder.iterdir() if file.is_file() and LICENSES.match(file.name))
        texts = [file.read_text("utf-8", "replace").strip() for file in files]
        if not texts and "Apache-2.0" not in package["license"]:
            raise SystemExit(f"{package['name']}: its crate has no text of {package['license']}: add it")
        for text in texts or ["Apache License 2.0: see LICENSE"]:
            crates.setdefault(text, []).append(f"{package['name']} {package['version']} ({package['license']})")
    return "\n\n".join(f"{'=' * 80}\n{chr(10).join(names)}\n{'=' * 80}\n\n{text}" for text, names in crates.items()) + "\n"


def archive(platform, program, dist):
    is_windows = platform.startswith("windows-")
    files = {"kubectl-dra.exe" if is_windows else "kubectl-dra": Path(program).read_bytes()}
    files |= {"LICENSE": (ROOT / "LICENSE").read_bytes(), "THIRD-PARTY.txt": third_party().encode()}
    for folder in ["completions", "man"]:
        files |= {f"{folder}/{file.name}": file.read_bytes() for file in (ROOT / folder).iterdir()}
    packed = io.BytesIO()
    if is_windows:
        date = datetime.fromtimestamp(time(), timezone.utc).timetuple()[:6]
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as zipped:
            for inside, content in sorted(files.items()):
                zipped.writestr(zipfile.ZipInfo(inside, date), content, zipfile.ZIP_DEFLATED)
    else:
        with gzip.GzipFile("", "wb", fileobj=packed, mtime=time()) as zipped, tarfile.open(fileobj=zipped, mode="w") as tar:
            for inside, content in sorted(files.items()):
                info = tarfile.TarInfo(inside)
                info.size, info.mtime = len(content), time()
                info.mode = 0o755 if inside in ["kubectl-dra", "completions/kubectl_complete-dra"] else 0o644
                tar.addfile(info, io.BytesIO(content))
    dist = Path(dist)
    dist.mkdir(parents=True, exist_ok=True)
    (dist / name(platform)).write_bytes(packed.getvalue())


def sha256(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def manifests(dist, releases=RELEASES):
    dist = Path(dist)

    def filled(template):
        text = template.read_text()
        # What krew-release-bot fills in.
        text = text.replace("{{ .TagName }}", f"v{VERSION}")
        text = re.sub(
            r'\{\{addURIAndSha "\S+/(\S+)" \.TagName }}',
            lambda m: f"uri: {releases}/v{VERSION}/{m[1]}\n    sha256: {sha256(dist / m[1])}",
            text,
        )
        text = text.replace("@version@", VERSION).replace("@releases@", f"{releases}/v{VERSION}")
        return re.sub(r"@sha256 (\S+)@", lambda m: sha256(dist / name(m[1])), text)

    (dist / "dra.yaml").write_text(filled(ROOT / ".krew.yaml"))
    for template in (ROOT / "release/templates").iterdir():
        (dist / template.name).write_text(filled(template))
    archives = sorted(file for file in dist.iterdir() if file.name.endswith((".tar.gz", ".zip", ".deb", ".cdx.json")))
    (dist / "checksums.txt").write_text("".join(f"{sha256(file)}  {file.name}\n" for file in archives))


def image(dist):
    context = Path(dist) / "image"
    for arch in ["amd64", "arm64"]:
        with tarfile.open(Path(dist) / name(f"linux-{arch}")) as tar:
            tar.extract("kubectl-dra", context / arch, filter="data")
    shutil.copyfile(CERTIFICATES, context / "ca-certificates.crt")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["archive", platform, program, dist]:
            archive(platform, program, dist)
        case ["manifests", dist, *releases] if len(releases) < 2:
            manifests(dist, *releases)
        case ["image", dist]:
            image(dist)
        case _:
            sys.exit(__doc__)
