//! Builds the Go programs under `tests/go`, once for all test processes.
//!
//! A binary lies in `target/controlplane/PROGRAM-HASH/`, where the hash covers everything it is built from.
//! Building takes minutes with an empty Go cache and some 20 s with a full one.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The programs and what they are built from, besides the requirements in `go.mod`.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("controlplane", &["cmd/controlplane"]),
    ("oracle", &["cmd/oracle", "internal"]),
    (
        "older",
        &[
            "cmd/older",
            "internal/cases",
            "internal/stored",
            "internal/upstream",
        ],
    ),
    ("kubectl", &["cmd/kubectl"]),
    ("kubelet", &["cmd/kubelet"]),
    ("node", &["cmd/node"]),
    ("app", &["cmd/app"]),
    // Those of containerd, which are built from its module alone.
    ("containerd", &[]),
    ("containerd-shim-runc-v2", &[]),
    ("ctr", &[]),
];

/// The releases whose source is looked at, with the patch.
#[allow(dead_code, reason = "not every test program looks at source")]
pub(crate) const RELEASES: [(&str, &str); 4] = [
    ("1.34", "34.10"),
    ("1.35", "35.8"),
    ("1.36", "36.4"),
    ("1.37", "37.2"),
];

/// The folder of a module, downloaded if need be.
///
/// # Panics
/// When Go is missing or the module cannot be had.
#[allow(dead_code, reason = "not every test program looks at source")]
pub(crate) fn module(name: &str, version: &str) -> PathBuf {
    let output = Command::new("go")
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/go"))
        .args(["mod", "download", "-json", &format!("{name}@{version}")])
        .output()
        .unwrap_or_else(|error| panic!("go cannot be started: {error}"));
    let text = String::from_utf8_lossy(&output.stdout);
    let found: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let dir = found["Dir"].as_str();
    PathBuf::from(dir.unwrap_or_else(|| panic!("{name}@{version} cannot be had: {text}")))
}

/// The path of the program in `tests/go/cmd/PROGRAM`, built if need be.
///
/// `KUBECTL_DRA_TEST_CONTROLPLANE=PATH` (with the program's name in its place) names a binary built elsewhere.
///
/// # Panics
/// When Go is missing or the build fails, with what to do about it.
pub(crate) fn build(program: &str) -> PathBuf {
    build_tagged(program, "go.mod", "", program)
}

/// The same with the requirements of another file in `tests/go`, such as `releases/1.36.mod`, under a name of its own, which also names
/// the variable: `KUBECTL_DRA_TEST_CONTROLPLANE_1_36` for `controlplane_1.36`.
///
/// # Panics
/// As [`build`].
#[allow(dead_code, reason = "not every test program needs older releases")]
pub(crate) fn build_with(program: &str, requirements: &str, name: &str) -> PathBuf {
    build_tagged(program, requirements, "", name)
}

/// The allocator and CEL library of an older release, with the requirements in `releases/oracle-1.MINOR.mod` and the files that have its
/// build tag. `KUBECTL_DRA_TEST_ORACLE_1_36` names one built elsewhere.
///
/// # Panics
/// As [`build`].
#[allow(dead_code, reason = "not every test program needs older releases")]
pub(crate) fn older_oracle(minor: u32) -> PathBuf {
    build_tagged(
        "older",
        &format!("releases/oracle-1.{minor}.mod"),
        &format!("older,kube1{minor}"),
        &format!("oracle_1.{minor}"),
    )
}

/// A program that needs no library of its machine, and runs in an image with nothing else.
///
/// # Panics
/// As [`build`].
#[allow(dead_code, reason = "not every test program needs containers")]
pub(crate) fn build_static(program: &str) -> PathBuf {
    // `archive/tar` would look users up in the C library.
    build_tagged(program, "go.mod", "osusergo", program)
}

/// A program of containerd, with the requirements in `containerd.mod`, under a name that is not the beginning of another.
///
/// # Panics
/// As [`build`].
#[allow(dead_code, reason = "not every test program needs containers")]
pub(crate) fn containerd(program: &str, name: &str) -> PathBuf {
    build_tagged(program, "containerd.mod", "no_btrfs,no_zfs,no_devmapper", name)
}

fn build_tagged(program: &str, requirements: &str, tags: &str, name: &str) -> PathBuf {
    let Some((_, sources)) = PROGRAMS.iter().find(|(known, _)| *known == program) else {
        panic!("no sources are known for the Go program `{program}`");
    };
    let variable = format!("KUBECTL_DRA_TEST_{}", name.to_uppercase().replace('.', "_"));
    if let Some(path) = std::env::var_os(&variable) {
        let path = PathBuf::from(path);
        assert!(
            path.is_file(),
            "{variable} names {}, which is not a file",
            path.display()
        );
        return path;
    }
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/go");
    let flags = linker_flags(&module.join(requirements));
    let key = source_hash(&module, sources, requirements, &flags);
    let cache = target_dir().join("controlplane");
    let binary = cache.join(format!("{name}-{key:016x}")).join(program);
    if binary.is_file() {
        return binary;
    }

    fs::create_dir_all(&cache).expect("target directory is writable");
    let lock = File::create(cache.join(format!("{name}.lock"))).expect("lock file can be created");
    lock.lock().expect("lock file can be locked");
    // Another process may have built it meanwhile.
    if !binary.is_file() {
        compile(&module, program, requirements, tags, &flags, &binary);
        remove_old(name, &binary);
    }
    binary
}

/// Cargo's target directory, wherever it was moved to.
pub(crate) fn target_dir() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("the temporary folder lies in the target directory")
}

fn compile(module: &Path, program: &str, requirements: &str, tags: &str, flags: &str, binary: &Path) {
    // Straight to the stream, since the test harness hides what the print macros write, and a build of
    // minutes without a word looks like a hang.
    let _ = writeln!(
        io::stderr(),
        "building {} with Go (once; minutes with an empty Go cache)",
        binary.strip_prefix(target_dir()).unwrap_or(binary).display()
    );
    // Only a complete binary gets the final name.
    let package = if module.join("cmd").join(program).is_dir() {
        format!("./cmd/{program}")
    } else {
        format!("github.com/containerd/containerd/v2/cmd/{program}")
    };
    let unfinished = binary.with_file_name(format!("{program}.unfinished"));
    fs::create_dir_all(unfinished.parent().expect("it lies in a folder"))
        .expect("target directory is writable");
    let mut go = Command::new("go");
    // The release can need a newer Go than the installed one, which comes from where its modules come from.
    if std::env::var_os("GOTOOLCHAIN").is_none() {
        go.env("GOTOOLCHAIN", "auto");
    }
    let result = go
        .current_dir(module)
        .args([
            "build",
            "-buildvcs=false",
            "-modfile",
            requirements,
            "-tags",
            tags,
        ])
        .args(["-ldflags", flags, "-o"])
        .args([unfinished.as_os_str(), package.as_ref()])
        .output();
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => panic!(
            "Go is needed to build the programs in tests/go and is not in PATH: install Go \
             (https://go.dev/dl), or name a binary built elsewhere with KUBECTL_DRA_TEST_{}",
            program.to_uppercase()
        ),
        Err(error) => panic!("go build cannot be started: {error}"),
        Ok(output) if !output.status.success() => {
            let said = String::from_utf8_lossy(&output.stderr);
            let advice = if said.contains("requires go >=") {
                "Let Go fetch that toolchain with GOTOOLCHAIN=auto, or install it (https://go.dev/dl)"
            } else {
                ""
            };
            panic!(
                "go build {package} failed in {}:\n{said}{advice}",
                module.display()
            )
        }
        Ok(_) => fs::rename(&unfinished, binary).expect("the built binary can be renamed"),
    }
}

/// Removes builds of older sources, which are large, except the last: a test that began before may use it.
fn remove_old(name: &str, binary: &Path) {
    let (Some(current), Some(cache)) = (binary.parent(), binary.ancestors().nth(2)) else {
        return;
    };
    let mut builds: Vec<_> = fs::read_dir(cache)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().is_dir() && entry.path() != current)
        .filter(|entry| {
            entry
                .file_name()
                .to_string_lossy()
                .starts_with(&format!("{name}-"))
        })
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    builds.sort();
    builds.pop();
    for (_, build) in builds {
        let _ = fs::remove_dir_all(build);
    }
}

/// Leaves out debug information, which is a third of the binary, and sets the version that the components
/// report, which a release build gets from its tag.
fn linker_flags(requirements: &Path) -> String {
    let text = fs::read_to_string(requirements)
        .unwrap_or_else(|error| panic!("{}: {error}", requirements.display()));
    let mut flags = "-s -w".to_owned();
    let version = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("k8s.io/kubernetes v"));
    let Some(version) = version.map(str::trim) else {
        // The library alone has no component that would report a version.
        return flags;
    };
    let package = "k8s.io/component-base/version";
    flags = format!("{flags} -X {package}.gitVersion=v{version}");
    for (name, number) in ["gitMajor", "gitMinor"].iter().zip(version.split('.')) {
        flags = format!("{flags} -X {package}.{name}={number}");
    }
    flags
}

fn source_hash(module: &Path, sources: &[&str], requirements: &str, flags: &str) -> u64 {
    let requirements = module.join(requirements);
    let mut files = vec![requirements.with_extension("sum"), requirements];
    for source in sources {
        collect_files(&module.join(source), &mut files);
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    flags.hash(&mut hasher);
    for file in files {
        file.strip_prefix(module)
            .expect("files of the module")
            .hash(&mut hasher);
        fs::read(&file)
            .expect("sources under tests/go are readable")
            .hash(&mut hasher);
    }
    hasher.finish()
}

fn collect_files(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display())) {
        let path = entry.expect("directory entries are readable").path();
        if path.is_dir() {
            collect_files(&path, files);
        } else {
            files.push(path);
        }
    }
}
