//! Packaging: the krew manifest, and the deployments.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::command::dra;
use crate::support::generated;

/// The platforms that releases are built for, in krew's words.
const PLATFORMS: [(&str, &str); 6] = [
    ("darwin", "amd64"),
    ("darwin", "arm64"),
    ("linux", "amd64"),
    ("linux", "arm64"),
    ("windows", "amd64"),
    ("windows", "arm64"),
];

/// The rules are those of krew `internal/index/validation/validate.go`, and of the index for plugins that want in.
#[test]
fn the_krew_manifest_is_one_that_krew_takes() {
    let version = concat!("v", env!("CARGO_PKG_VERSION"));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(".krew.yaml");
    let template = std::fs::read_to_string(file).expect("the manifest is there");
    // As krew-release-bot fills it in, for archives that do not exist yet: zeros are well formed and match nothing.
    let checksum = format!("\n    sha256: \"{}\"", "0".repeat(64));
    let text = template
        .replace("{{ .TagName }}", version)
        .replace("{{addURIAndSha \"", "uri: ")
        .replace("\" .TagName }}", &checksum);
    let (_, filled) = text
        .split_once("\napiVersion")
        .expect("a comment, then the manifest");
    let about = "# The manifest for krew (https://krew.sigs.k8s.io), made from .krew.yaml. A release fills in the checksums.";
    generated::check("krew-manifest.yaml", &format!("{about}\napiVersion{filled}"));
    let manifest: Value = serde_saphyr::from_str(&text).expect("the manifest is YAML");
    assert_eq!(
        manifest["apiVersion"],
        "krew.googlecontainertools.github.com/v1alpha2"
    );
    assert_eq!(manifest["kind"], "Plugin");
    assert_eq!(
        manifest["metadata"]["name"], "dra",
        "the plugin is called as `kubectl dra`"
    );
    let spec = &manifest["spec"];
    assert_eq!(spec["version"], version);
    for (field, longest) in [("shortDescription", 50), ("description", 4000), ("homepage", 200)] {
        let value = spec[field].as_str().unwrap_or_else(|| panic!("no {field}"));
        assert!(!value.is_empty() && value.len() <= longest, "{field}: {value:?}");
    }
    let mut platforms = BTreeSet::new();
    for platform in spec["platforms"].as_array().expect("platforms") {
        let labels = &platform["selector"]["matchLabels"];
        let label = |name: &str| {
            labels[name]
                .as_str()
                .unwrap_or_else(|| panic!("no {name}"))
                .to_owned()
        };
        let (os, arch) = (label("os"), label("arch"));
        let archive = if os == "windows" { "zip" } else { "tar.gz" };
        let program = if os == "windows" {
            "kubectl-dra.exe"
        } else {
            "kubectl-dra"
        };
        let uri = platform["uri"].as_str().expect("a uri");
        let expected = format!("/releases/download/{version}/kubectl-dra-{os}-{arch}.{archive}");
        assert!(uri.starts_with("https://") && uri.ends_with(&expected), "{uri}");
        let sha256 = platform["sha256"].as_str().expect("a checksum");
        assert!(
            sha256.len() == 64 && sha256.bytes().all(|b| b.is_ascii_hexdigit()),
            "{sha256}"
        );
        assert_eq!(platform["bin"], program);
        let files = platform["files"].as_array().expect("files");
        assert!(
            files
                .iter()
                .any(|file| file["from"] == program && file["to"] == "."),
            "{files:?}"
        );
        assert!(
            ["LICENSE", "THIRD-PARTY.txt"]
                .iter()
                .all(|text| files.iter().any(|file| file["from"] == *text)),
            "krew's index wants the licenses installed"
        );
        assert!(platforms.insert((os, arch)), "a platform is there twice");
    }
    let expected: BTreeSet<_> = PLATFORMS
        .map(|(os, arch)| (os.to_owned(), arch.to_owned()))
        .into();
    assert_eq!(platforms, expected);
}

/// A tag can be moved to another commit, and with it what runs with the rights of a release.
#[test]
fn each_action_in_a_workflow_is_pinned_to_a_commit_and_names_its_version() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/.github/workflows");
    let mut pinned = 0;
    for file in std::fs::read_dir(folder).expect("the folder is there") {
        let file = file.expect("a file").path();
        let text = std::fs::read_to_string(&file).expect("a workflow");
        for line in text.lines() {
            let Some((_, action)) = line.split_once("uses: ") else {
                continue;
            };
            let place = format!("{}: {action}", file.display());
            let (_, commit) = action.split_once('@').expect(&place);
            let (commit, version) = commit.split_once(" # v").expect(&place);
            assert!(
                commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit()),
                "{place}"
            );
            assert!(version.starts_with(|c: char| c.is_ascii_digit()), "{place}");
            pinned += 1;
        }
    }
    assert!(pinned > 5);
}

fn deployed(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The arguments are understood: what is missing is the cluster.
fn assert_understood<'a>(file: &str, args: impl IntoIterator<Item = &'a str>) {
    let args: Vec<&str> = args.into_iter().collect();
    let run = dra(&args).run();
    assert_eq!(run.code, Some(3), "{file}: {}", run.stderr);
}

#[test]
fn the_arguments_in_what_is_deployed_are_understood_and_probes_ask_where_it_listens() {
    for file in [
        "check/cronjob.yaml",
        "export/deployment.yaml",
        "snapshot/cronjob.yaml",
        "shadow/deployment.yaml",
        "supplement/deployment.yaml",
        "take-over/deployment.yaml",
        "static-pod/kubectl-dra-take-over.yaml",
    ] {
        let objects: Vec<Value> = serde_saphyr::from_multiple(&deployed(file)).expect("YAML");
        let specs = objects.iter().filter_map(|object| match object["kind"].as_str() {
            Some("Deployment") => Some(&object["spec"]["template"]["spec"]),
            Some("CronJob") => Some(&object["spec"]["jobTemplate"]["spec"]["template"]["spec"]),
            Some("Pod") => Some(&object["spec"]),
            _ => None,
        });
        let specs: Vec<&Value> = specs.collect();
        let [spec] = &specs[..] else {
            panic!("{file} has one workload");
        };
        let container = &spec["containers"][0];
        assert_eq!(
            container["image"],
            concat!("ghcr.io/kubectl-dra/kubectl-dra:v", env!("CARGO_PKG_VERSION")),
            "{file}"
        );
        let args: Vec<&str> = container["args"]
            .as_array()
            .expect("arguments")
            .iter()
            .map(|arg| arg.as_str().expect("text"))
            .collect();
        assert_understood(file, args.iter().copied());
        if ["check", "snapshot"].contains(&args[0]) {
            continue;
        }
        let port = args
            .iter()
            .find_map(|arg| arg.strip_prefix("--metrics-address=")?.rsplit(':').next())
            .expect("it can be asked");
        for (probe, path) in [("readinessProbe", "/readyz"), ("livenessProbe", "/healthz")] {
            let get = &container[probe]["httpGet"];
            assert_eq!(get["path"], path, "{file}");
            let asked = match get["port"].as_str() {
                Some(name) => {
                    let ports = container["ports"].as_array().expect("ports");
                    let named = ports.iter().find(|port| port["name"] == name);
                    named.expect("the port has a name")["containerPort"].to_string()
                }
                None => get["port"].to_string(),
            };
            assert_eq!(asked, port, "{file}: {probe}");
        }
    }
}

/// The unit starts what there is, and where systemd is, it finds nothing wrong with it.
#[test]
fn the_systemd_unit_is_one_that_systemd_takes() {
    let file = "systemd/kubectl-dra-take-over.service";
    let unit = deployed(file);
    let start = unit
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart=/usr/local/bin/kubectl-dra "))
        .expect("it starts the program");
    assert_understood(file, start.split(' '));
    let folder = tempfile::tempdir().expect("a temporary directory");
    let copy = folder.path().join("kubectl-dra-take-over.service");
    std::fs::write(
        &copy,
        unit.replace("/usr/local/bin/kubectl-dra", env!("CARGO_BIN_EXE_kubectl-dra")),
    )
    .expect("a file");
    // It may not be installed.
    if let Ok(verified) = Command::new("systemd-analyze").arg("verify").arg(&copy).output() {
        let told = String::from_utf8_lossy(&verified.stderr);
        assert!(verified.status.success(), "{told}");
        assert!(!told.contains("kubectl-dra-take-over.service:"), "{told}");
    }
}
