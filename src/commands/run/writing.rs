//! The flags that a take-over and a supplement have in common.

use dra_model::Key;
use dra_runner::Writing;

const HEADING: &str = "Take-over and supplement";

/// The namespace of the default leases.
const NAMESPACE: &str = "kube-system";

/// The flags of modes that write.
#[derive(Debug, clap::Args)]
#[group(id = "writing")]
pub(super) struct Flags {
    /// Run only while holding this Lease
    ///
    /// Allows several replicas. By default `kube-system/kubectl-dra-run`, and for a supplement `kube-system/kubectl-dra-supplement`.
    #[arg(long, value_name = "NAMESPACE/NAME", value_parser = lease, requires = "writes", help_heading = HEADING)]
    lease: Option<Key>,

    /// Run without a Lease: no other replica runs
    #[arg(long, requires = "writes", conflicts_with = "lease", help_heading = HEADING)]
    no_lease: bool,

    /// Send each write once as a dry run
    ///
    /// The API server validates it without persisting it.
    #[arg(long, requires = "writes", help_heading = HEADING)]
    pub(super) dry_run: bool,

    /// Requests per second; 0: no limit
    ///
    /// For each controller, or for the supplement.
    #[arg(long, value_name = "NUMBER", default_value_t = 200, requires = "writes", help_heading = HEADING)]
    kube_api_qps: u32,

    /// Burst of requests
    ///
    /// Requests that each controller or the supplement may send beyond the rate.
    #[arg(long, value_name = "NUMBER", default_value_t = 400, requires = "writes", help_heading = HEADING)]
    kube_api_burst: u32,
}

impl Flags {
    /// The options to write with, and with the lease `default` unless another one is named. A dry run needs none, as nothing that it writes
    /// is kept.
    pub(super) fn writing(&self, default: &str) -> Writing {
        let named = self.lease.clone();
        let lease = named.unwrap_or_else(|| Key::new(NAMESPACE, default));
        Writing {
            qps: self.kube_api_qps,
            burst: self.kube_api_burst,
            lease: (!self.no_lease && !self.dry_run).then_some(lease),
            dry_run: self.dry_run,
        }
    }
}

pub(in crate::commands) fn lease(text: &str) -> Result<Key, String> {
    match text.split_once('/') {
        Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() && !name.contains('/') => {
            Ok(Key::new(namespace, name))
        }
        _ => Err("expected NAMESPACE/NAME, as in kube-system/kubectl-dra-run".to_owned()),
    }
}
