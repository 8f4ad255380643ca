//! Which objects of a kind a report is about.

use std::collections::BTreeSet;
use std::sync::Arc;

use dra_model::{Claim, Cluster, Key, LabelSelector, Meta, Str};

/// Namespace, names and labels, as the command line gives them. The default selects everything.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Only this namespace. Names decide for themselves.
    pub namespace: Option<Str>,
    /// Only these; empty means all.
    pub names: BTreeSet<Key>,
    /// Only objects with these labels.
    pub labels: LabelSelector,
}

impl Selection {
    /// Whether the labels are those asked for.
    pub fn has_labels(&self, metadata: &Meta) -> bool {
        self.labels.is_empty()
            || self
                .labels
                .matches(|key| metadata.label(key).map(|value| value.as_str()))
    }

    /// Whether an object is selected.
    pub fn includes(&self, metadata: &Meta) -> bool {
        let named = if self.names.is_empty() {
            self.namespace
                .as_ref()
                .is_none_or(|namespace| *namespace == metadata.namespace)
        } else {
            self.names.contains(&metadata.key())
        };
        named && self.has_labels(metadata)
    }

    /// The claims that are selected, by namespace and name.
    pub fn claims<'a>(&self, cluster: &'a Cluster) -> Vec<&'a Arc<Claim>> {
        let mut claims: Vec<_> = match &self.namespace {
            _ if !self.names.is_empty() => self.names.iter().filter_map(|name| cluster.claim(name)).collect(),
            Some(namespace) => cluster.claims_in(namespace).collect(),
            None => cluster.claims().collect(),
        };
        if !self.labels.is_empty() {
            claims.retain(|claim| self.has_labels(&claim.metadata));
        }
        claims
    }
}
