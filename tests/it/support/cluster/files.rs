//! The folder of one control plane: certificates, keys, kubeconfigs, logs, etcd's data.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The subject of the certificate authority.
const AUTHORITY: &str = "kubectl-dra-tests";

/// The key that the tokens of service accounts are signed with.
pub(super) const SIGNER: &str = "sa.key";

/// Where etcd listens.
pub(super) const ETCD_SOCKET: &str = "etcd.sock";

/// A locked temporary folder with a certificate authority in it.
pub(super) struct Files {
    authority: CertifiedIssuer<'static, KeyPair>,
    dir: TempDir,
    /// Held as long as the folder is in use, see [`sweep`].
    _in_use: File,
}

impl Files {
    /// Makes the folder with what the components need.
    pub(super) fn create() -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clusters");
        fs::create_dir_all(&root).expect("the target directory is writable");
        let guard = lock(&root.join("lock"));
        sweep(&root);
        let dir = tempfile::Builder::new()
            .prefix("c-")
            .tempdir_in(&root)
            .expect("the target directory is writable");
        let in_use = lock(&dir.path().join("in-use"));
        drop(guard);

        let mut params = named(AUTHORITY, None);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let authority = CertifiedIssuer::self_signed(params, key()).expect("the parameters are complete");
        let files = Self {
            authority,
            dir,
            _in_use: in_use,
        };
        files.write("ca.crt", &files.authority.pem());

        let mut server = named("server", None);
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        for name in ["127.0.0.1", "localhost"] {
            server
                .subject_alt_names
                .push(name.parse::<std::net::IpAddr>().map_or_else(
                    |_| rcgen::SanType::DnsName(name.try_into().expect("a DNS name")),
                    rcgen::SanType::IpAddress,
                ));
        }
        files.issue("server", &server);
        // With which the API server reaches kubelets.
        let mut client = named("system:apiserver", None);
        client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        files.issue("system-apiserver", &client);

        // Requests in one line each, when they are answered; those of watches when they begin.
        let policy = json!({"apiVersion": "audit.k8s.io/v1", "kind": "Policy",
            "omitStages": ["RequestReceived"], "rules": [{"level": "Metadata"}]});
        files.write("audit-policy.json", &policy.to_string());

        let signer = key();
        files.write(SIGNER, &signer.serialize_pem());
        files.write("sa.pub", &signer.public_key_pem());
        files
    }

    /// Returns where everything lies.
    pub(super) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The path of a file in it.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir().join(name)
    }

    /// Has a file of another control plane in this one's place.
    pub(super) fn link(&self, other: &Self, name: &str) {
        std::os::unix::fs::symlink(other.path(name), self.path(name))
            .expect("the temporary folder is writable");
    }

    /// A client certificate for a user, and a kubeconfig with it.
    pub(super) fn kubeconfig(&self, user: &str, group: Option<&str>, port: u16) -> PathBuf {
        let file = user.replace(':', "-");
        let mut params = named(user, group);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.issue(&file, &params);
        let credentials = json!({"client-certificate": self.path(&format!("{file}.crt")),
            "client-key": self.path(&format!("{file}.key"))});
        self.kubeconfig_with(user, &credentials, port)
    }

    /// A kubeconfig of a user with these credentials.
    pub(super) fn kubeconfig_with(&self, user: &str, credentials: &Value, port: u16) -> PathBuf {
        // JSON is YAML, too.
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {
                "server": format!("https://127.0.0.1:{port}"), "certificate-authority": self.path("ca.crt")}}],
            "users": [{"name": user, "user": credentials}],
            "contexts": [{"name": "test", "context": {
                "cluster": "test", "user": user, "namespace": "default"}}]});
        self.write(
            &format!("{}.kubeconfig", user.replace(':', "-")),
            &config.to_string(),
        )
    }

    /// Keeps the logs where the next run of the same test replaces them, and says where.
    pub(super) fn keep_logs(&self, test: &str) -> PathBuf {
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("cluster-logs")
            .join(test.replace("::", "."));
        let _ = fs::remove_dir_all(&kept);
        let _ = fs::create_dir_all(&kept);
        for entry in fs::read_dir(self.dir()).into_iter().flatten().flatten() {
            if entry
                .path()
                .extension()
                .is_some_and(|extension| extension == "log")
            {
                let _ = fs::copy(entry.path(), kept.join(entry.file_name()));
            }
        }
        kept
    }

    fn issue(&self, file: &str, params: &CertificateParams) {
        let key = key();
        let certificate = params
            .signed_by(&key, &self.authority)
            .expect("the parameters are complete");
        self.write(&format!("{file}.crt"), &certificate.pem());
        self.write(&format!("{file}.key"), &key.serialize_pem());
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).expect("the temporary folder is writable");
        path
    }
}

/// Removes the folders of tests that could not do it themselves: statics are never dropped, and a killed
/// process drops nothing. The kernel gives their locks back.
fn sweep(root: &Path) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let dir = entry.path();
        // A folder without the file is the rest of an earlier sweep: new ones get it under the outer lock.
        let abandoned = File::open(dir.join("in-use")).map_or(true, |lock| lock.try_lock().is_ok());
        if dir.is_dir() && abandoned {
            // Components that are still ending may write at the same time; the next sweep gets the rest.
            let _ = fs::remove_dir_all(&dir);
        }
    }
}

fn lock(path: &Path) -> File {
    let file = File::create(path).expect("the temporary folder is writable");
    file.lock().expect("files can be locked");
    file
}

fn key() -> KeyPair {
    KeyPair::generate().expect("the system has randomness")
}

fn named(common_name: &str, organization: Option<&str>) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    if let Some(organization) = organization {
        params
            .distinguished_name
            .push(DnType::OrganizationName, organization);
    }
    params
}
