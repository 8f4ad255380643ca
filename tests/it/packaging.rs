//! What the program is shipped with: the krew manifest.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

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
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("krew-manifest.yaml");
    let text = std::fs::read_to_string(file).expect("the manifest is there");
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
    let version = concat!("v", env!("CARGO_PKG_VERSION"));
    assert_eq!(spec["version"], version);
    for (field, longest) in [("shortDescription", 80), ("description", 4000), ("homepage", 200)] {
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
            files.iter().any(|file| file["from"] == "LICENSE"),
            "krew's index wants the licence installed"
        );
        assert!(platforms.insert((os, arch)), "a platform is there twice");
    }
    let expected: BTreeSet<_> = PLATFORMS
        .map(|(os, arch)| (os.to_owned(), arch.to_owned()))
        .into();
    assert_eq!(platforms, expected);
}
