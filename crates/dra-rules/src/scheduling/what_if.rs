//! Hypothetical changes of a cluster: taints, nodes, released claims.

use std::str::FromStr;
use std::sync::Arc;

use super::placement::release;
use crate::reservation::claim_names;
use dra_allocator::devices::rule_matches;
use dra_model::{
    Change, Claim, Cluster, Device, DeviceId, Gap, Key, Kind, NO_EFFECT, NO_EXECUTE, NO_SCHEDULE, Object,
    Pod, Slice, Str, Taint, TaintRule,
};

/// Devices as `DRIVER/POOL/DEVICE`, where `*` stands for any.
#[derive(Clone, Debug, PartialEq, Eq, derive_more::Display)]
#[display("{}/{}/{}", driver.as_deref().unwrap_or("*"), pool.as_deref().unwrap_or("*"), device.as_deref().unwrap_or("*"))]
pub struct DevicePattern {
    /// Of this driver.
    pub driver: Option<Str>,
    /// Of this pool.
    pub pool: Option<Str>,
    /// Of this name.
    pub device: Option<Str>,
}

/// A taint that drivers give to devices that they publish: `DRIVER/POOL/DEVICE=KEY[=VALUE]:EFFECT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaintDevices {
    /// Devices.
    pub devices: DevicePattern,
    /// The taint.
    pub taint: Taint,
}

/// Taints to lift: `DRIVER/POOL/DEVICE=KEY[:EFFECT]`, or `rule/NAME` for a DeviceTaintRule.
#[derive(Clone, Debug, PartialEq, Eq, derive_more::Display)]
pub enum Untaint {
    /// The rule goes.
    #[display("rule/{_0}")]
    Rule(Str),
    /// Taints of slices and of rules that are about one of these devices go from the devices.
    #[display("{devices}={key}{}{effect}", if effect.is_empty() { "" } else { ":" })]
    Devices {
        /// Devices.
        devices: DevicePattern,
        /// Key of the taint.
        key: Str,
        /// Its effect; empty for any.
        effect: Str,
    },
}

/// A considered change.
#[derive(Clone, Debug)]
pub enum WhatIf {
    /// The claim is deallocated.
    Release(Key),
    /// Devices get a taint.
    Taint(TaintDevices),
    /// Devices lose one.
    Untaint(Untaint),
    /// An object, a node or a slice, is there.
    Add(Object),
    /// A node is not there, nor are its slices.
    RemoveNode(Str),
    /// The pod has no node yet, and no devices but those that it shares.
    Unplace(Key),
}

/// The reason why a change is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WhatIfError {
    /// There is no such object.
    #[error("{0} not found")]
    NotFound(String),
    /// Objects of its kind could not be read, so that it is unknown whether it exists.
    #[error("whether {what} exists is unknown: {}", gap.reason)]
    Unread {
        /// The object.
        what: String,
        /// The reason why not.
        gap: Gap,
    },
    /// The claim has no allocation.
    #[error("claim/{0} is not allocated")]
    NotAllocated(Key),
    /// A slice can only taint what it publishes.
    #[error("no slice publishes device {0}, so its driver cannot taint it")]
    NotPublished(DevicePattern),
    /// No device has the taint.
    #[error("no device has a taint `{0}`")]
    NoTaint(Str),
}

impl WhatIf {
    /// Makes the change.
    ///
    /// # Errors
    /// The change has no effect, which is not what the user expects.
    pub fn apply(&self, cluster: &mut Cluster) -> Result<(), WhatIfError> {
        match self {
            Self::Release(key) => {
                if cluster.claim(key).is_none() {
                    return Err(absent(
                        cluster,
                        Kind::ResourceClaim,
                        &key.namespace,
                        format!("claim/{key}"),
                    ));
                }
                if !release(cluster, key) {
                    return Err(WhatIfError::NotAllocated(key.clone()));
                }
            }
            Self::Taint(taint) => {
                let changes = taint.changes(cluster).map_err(|why| match why {
                    WhatIfError::NotPublished(devices) if cluster.gap(Kind::ResourceSlice, "").is_some() => {
                        absent(cluster, Kind::ResourceSlice, "", format!("device {devices}"))
                    }
                    why => why,
                })?;
                for change in changes {
                    cluster.apply(change);
                }
            }
            Self::Untaint(Untaint::Rule(name)) => {
                let change = Change::Delete(Kind::DeviceTaintRule, Key::new("", name.clone()));
                if cluster.apply(change).is_none() {
                    let what = format!("devicetaintrule/{name}");
                    return Err(absent(cluster, Kind::DeviceTaintRule, "", what));
                }
            }
            Self::Untaint(Untaint::Devices { devices, key, effect }) => {
                if !lift(cluster, devices, key, effect) {
                    for kind in [Kind::ResourceSlice, Kind::DeviceTaintRule] {
                        if let Some(gap) = cluster.gap(kind, "") {
                            let what = format!("the taint `{key}`");
                            return Err(WhatIfError::Unread {
                                what,
                                gap: gap.clone(),
                            });
                        }
                    }
                    return Err(WhatIfError::NoTaint(key.clone()));
                }
            }
            Self::Add(object) => {
                cluster.apply(Change::Put(object.clone()));
            }
            Self::Unplace(key) => unplace(cluster, key)?,
            Self::RemoveNode(name) => {
                if cluster
                    .apply(Change::Delete(Kind::Node, Key::new("", name.clone())))
                    .is_none()
                {
                    return Err(absent(cluster, Kind::Node, "", format!("node/{name}")));
                }
                let of_node = |slice: &&Arc<Slice>| slice.spec.node_name.as_ref() == Some(name);
                let slices: Vec<Key> = cluster
                    .slices()
                    .filter(of_node)
                    .map(|slice| slice.metadata.key())
                    .collect();
                for slice in slices {
                    cluster.apply(Change::Delete(Kind::ResourceSlice, slice));
                }
            }
        }
        Ok(())
    }
}

/// Takes the pod from its node, and from it the claims that are reserved for no consumer but the pod.
fn unplace(cluster: &mut Cluster, key: &Key) -> Result<(), WhatIfError> {
    let Some(pod) = cluster.pod(key).cloned() else {
        return Err(absent(cluster, Kind::Pod, &key.namespace, format!("pod/{key}")));
    };
    let is_alone = |claim: &Claim| {
        let mut consumers = claim.status.reserved_for.iter();
        consumers.all(|consumer| consumer.uid == pod.metadata.uid)
    };
    let known: &Cluster = cluster;
    let own: Vec<Key> = claim_names(&pod)
        .filter_map(|name| name.find(known))
        .filter(|claim| is_alone(claim))
        .map(|claim| claim.key())
        .collect();
    for claim in own {
        release(cluster, &claim);
    }
    let mut unplaced = Pod::clone(&pod);
    unplaced.spec.node_name = None;
    cluster.apply(Change::Put(Object::Pod(Arc::new(unplaced))));
    Ok(())
}

/// Returns what to say of an object that is not among those that were read.
fn absent(cluster: &Cluster, kind: Kind, namespace: &str, what: String) -> WhatIfError {
    match cluster.gap(kind, namespace) {
        Some(gap) => WhatIfError::Unread {
            what,
            gap: gap.clone(),
        },
        None => WhatIfError::NotFound(what),
    }
}

/// Takes a taint from all devices that `devices` describes. Rules that are about more devices stay for the others.
fn lift(cluster: &mut Cluster, devices: &DevicePattern, key: &str, effect: &str) -> bool {
    let is_meant = |taint: &Taint| taint.key == key && (effect.is_empty() || taint.effect == effect);
    let mut found = false;
    let rules: Vec<Arc<TaintRule>> = cluster
        .rules()
        .filter(|rule| is_meant(&rule.spec.taint))
        .cloned()
        .collect();
    let slices: Vec<Arc<Slice>> = cluster.slices().cloned().collect();
    for slice in slices {
        let mut changed = Slice::clone(&slice);
        let mut any = false;
        for device in &mut changed.spec.devices {
            let id = slice.pool_id().device(&device.name);
            if devices.matches(&id) {
                let before = device.taints.len();
                device.taints.retain(|taint| !is_meant(taint));
                any |= device.taints.len() != before;
            } else {
                // What a rule that goes meant for other devices becomes their own taint.
                for rule in rules.iter().filter(|rule| rule_matches(rule, &id)) {
                    device.taints.push(rule.spec.taint.clone());
                    any = true;
                }
            }
        }
        if any {
            cluster.apply(Change::Put(Object::ResourceSlice(Arc::new(changed))));
            found = true;
        }
    }
    for rule in rules {
        cluster.apply(Change::Delete(Kind::DeviceTaintRule, rule.metadata.key()));
        found = true;
    }
    found
}

impl TaintDevices {
    /// The slices with the taint on those of their devices, as their drivers would publish them. A device that has a taint with the
    /// same key and effect has both then, as the API server does not mind.
    ///
    /// # Errors
    /// No slice publishes such a device.
    pub fn changes(&self, cluster: &Cluster) -> Result<Vec<Change>, WhatIfError> {
        let mut changes = Vec::new();
        for pool in cluster.pools() {
            for slice in &pool.slices {
                let is_meant = |device: &Device| self.devices.matches(&pool.device_id(&device.name));
                if !slice.spec.devices.iter().any(is_meant) {
                    continue;
                }
                let mut changed = Slice::clone(slice);
                for device in changed.spec.devices.iter_mut().filter(|device| is_meant(device)) {
                    device.taints.push(self.taint.clone());
                }
                changes.push(Change::Put(Object::ResourceSlice(Arc::new(changed))));
            }
        }
        if changes.is_empty() {
            return Err(WhatIfError::NotPublished(self.devices.clone()));
        }
        Ok(changes)
    }
}

impl DevicePattern {
    /// Returns whether every device is meant.
    pub fn is_any(&self) -> bool {
        let Self { driver, pool, device } = self;
        driver.is_none() && pool.is_none() && device.is_none()
    }

    /// All devices of a driver.
    pub fn of_driver(driver: Str) -> Self {
        Self {
            driver: Some(driver),
            pool: None,
            device: None,
        }
    }

    /// Returns whether the device is one of these.
    pub fn matches(&self, id: &DeviceId) -> bool {
        let agrees = |wanted: &Option<Str>, is: &Str| wanted.as_ref().is_none_or(|wanted| wanted == is);
        agrees(&self.driver, &id.driver) && agrees(&self.pool, &id.pool) && agrees(&self.device, &id.device)
    }
}

impl FromStr for DevicePattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split('/').collect();
        let [driver, pool @ .., device] = parts.as_slice() else {
            return Err(format!("invalid device `{text}`: expected DRIVER/POOL/DEVICE"));
        };
        // Names of pools may have slashes in them, those of drivers and devices not.
        let pool = pool.join("/");
        if [*driver, &pool, device].iter().any(|part| part.is_empty()) {
            return Err(format!("invalid device `{text}`: expected DRIVER/POOL/DEVICE"));
        }
        let part = |text: &str| (text != "*").then(|| Str::from(text));
        Ok(Self {
            driver: part(driver),
            pool: part(&pool),
            device: part(device),
        })
    }
}

impl FromStr for TaintDevices {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || format!("invalid taint `{text}`: expected DRIVER/POOL/DEVICE=KEY[=VALUE]:EFFECT");
        let (devices, taint) = text.split_once('=').ok_or_else(form)?;
        let (taint, effect) = taint.rsplit_once(':').ok_or_else(form)?;
        let (key, value) = taint.split_once('=').unwrap_or((taint, ""));
        if key.is_empty() {
            return Err(form());
        }
        Ok(Self {
            devices: devices.parse()?,
            taint: Taint {
                key: key.into(),
                value: value.into(),
                effect: known_effect(effect)?,
                ..Taint::default()
            },
        })
    }
}

impl FromStr for Untaint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(name) = text.strip_prefix("rule/").filter(|name| !name.contains('=')) {
            return Ok(Self::Rule(name.into()));
        }
        let form =
            || format!("invalid taint `{text}`: expected DRIVER/POOL/DEVICE=KEY[:EFFECT] or rule/NAME");
        let (devices, taint) = text.split_once('=').ok_or_else(form)?;
        let (key, effect) = match taint.rsplit_once(':') {
            Some((key, effect)) => (key, known_effect(effect)?),
            None => (taint, Str::default()),
        };
        if key.is_empty() {
            return Err(form());
        }
        Ok(Self::Devices {
            devices: devices.parse()?,
            key: key.into(),
            effect,
        })
    }
}

fn known_effect(effect: &str) -> Result<Str, String> {
    match effect {
        NO_SCHEDULE | NO_EXECUTE | NO_EFFECT => Ok(effect.into()),
        _ => Err(format!(
            "invalid effect `{effect}`: expected NoSchedule, NoExecute or None"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::{ClusterBuilder, Environment};

    #[test]
    fn taints_are_written_as_devices_and_taint() {
        let taint: TaintDevices = "gpu.example.com/node-1/*=broken=yes:NoExecute".parse().unwrap();
        assert_eq!(taint.devices.driver.as_deref(), Some("gpu.example.com"));
        assert_eq!(taint.devices.device, None);
        let Taint {
            key, value, effect, ..
        } = &taint.taint;
        assert_eq!(
            (key.as_str(), value.as_str(), effect.as_str()),
            ("broken", "yes", "NoExecute")
        );
        for wrong in [
            "d/p/x",
            "d/p/x=k",
            "d/x=k:NoSchedule",
            "d/p/x=:NoSchedule",
            "d/p/x=k:Never",
            "//=k:None",
        ] {
            assert!(wrong.parse::<TaintDevices>().is_err(), "{wrong}");
        }
        assert_eq!("rule/drain".parse(), Ok(Untaint::Rule("drain".into())));
        let Untaint::Devices { key, effect, .. } = "*/*/*=example.com/broken".parse().unwrap() else {
            panic!("not devices");
        };
        assert_eq!((key.as_str(), effect.as_str()), ("example.com/broken", ""));
    }

    #[test]
    fn drivers_taint_what_they_publish() {
        let mut builder = ClusterBuilder::default();
        for (name, pool, generation) in [("old", "p", 1), ("new", "p", 2), ("other", "q", 1)] {
            let spec = serde_json::json!({"driver": "d", "pool": {"name": pool, "generation": generation},
                "devices": [{"name": "a"}, {"name": "b"}]});
            let json = serde_json::json!({"metadata": {"name": name}, "spec": spec});
            builder.add(Object::from_json(Kind::ResourceSlice, json.to_string().as_bytes()).unwrap());
        }
        let cluster = builder.build(Environment::default()).0;
        let tainted = |text: &str| {
            let taint: TaintDevices = text.parse().unwrap();
            let mut changed = cluster.clone();
            WhatIf::Taint(taint).apply(&mut changed)?;
            let mut found = Vec::new();
            for slice in changed.slices() {
                for device in slice
                    .spec
                    .devices
                    .iter()
                    .filter(|device| !device.taints.is_empty())
                {
                    found.push(format!("{} {}", slice.metadata.name, device.name));
                }
            }
            Ok::<_, WhatIfError>(found)
        };
        assert_eq!(tainted("d/p/b=k:NoExecute"), Ok(vec!["new b".to_owned()]));
        assert_eq!(
            tainted("d/*/a=k:NoExecute"),
            Ok(vec!["new a".to_owned(), "other a".to_owned()])
        );
        assert_eq!(
            tainted("d/p/gone=k:NoExecute").unwrap_err().to_string(),
            "no slice publishes device d/p/gone, so its driver cannot taint it"
        );
    }
}
