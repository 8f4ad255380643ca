//! How commands evaluate the selectors of classes.
//!
//! Until the CEL engine is there every selector is unknown.

use crate::inspect::Match;
use crate::model::{Class, Cluster, Device, Slice};

/// Evaluates all selectors of a class on a device.
pub(super) fn matcher(_cluster: &Cluster) -> impl Fn(&Class, &Slice, &Device) -> Match {
    |class, slice, _| {
        let expressions: Vec<_> = class
            .spec
            .selectors
            .iter()
            .filter_map(|selector| Some(selector.cel.as_ref()?.expression.as_str()))
            .collect();
        let mut all = true;
        for expression in expressions {
            let Some(driver) = expression
                .strip_prefix("device.driver == '")
                .and_then(|rest| rest.strip_suffix('\''))
            else {
                return Match::Error("CEL is not there yet".to_owned());
            };
            all &= slice.spec.driver == *driver;
        }
        if all { Match::Yes } else { Match::No }
    }
}

/// Compiles one expression.
pub(super) fn selector(_expression: &str) -> anyhow::Result<impl Fn(&Slice, &Device) -> bool> {
    anyhow::bail!("CEL is not there yet");
    #[expect(unreachable_code, reason = "provisional")]
    Ok(|_: &Slice, _: &Device| false)
}
