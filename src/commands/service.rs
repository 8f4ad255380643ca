//! Commands that run for long, `run` and `export`: the flags that both have, and their probes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;

use super::duration;
use crate::context::Ctx;
use crate::output::LogFormat;
use dra_runner::{Endpoint, Options, Probes, Recheck, Telemetry};

/// `--recheck` unless it is given.
const RECHECK: Duration = Duration::from_secs(60);

/// The flags of both.
#[derive(Debug, clap::Args)]
#[group(id = "service")]
pub(super) struct Flags {
    /// Recheck the cluster this often [default: 1m]
    ///
    /// If its versions, served kinds or gates have changed, the command exits, so that the next start uses the new state. `0s` disables it.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(super) recheck: Option<Duration>,

    /// Log format: text or json
    #[arg(
        long,
        hide_possible_values = true,
        value_enum,
        default_value = "text",
        value_name = "FORMAT"
    )]
    pub(super) log_format: LogFormat,
}

impl Flags {
    /// The options of a run without an end that shows no status.
    pub(super) fn options(&self, ctx: &Ctx, telemetry: Arc<Telemetry>) -> Options {
        let every = self.recheck.unwrap_or(RECHECK);
        let versions = &ctx.settings().versions;
        Options {
            for_: None,
            interruption: ctx.interruption(),
            as_released: versions.kubernetes.is_some(),
            wall: ctx.wall(),
            telemetry,
            recheck: (!every.is_zero()).then(|| Recheck {
                every,
                versions: versions.clone(),
            }),
            shows_status: false,
        }
    }
}

/// The address to listen on; without a host, all interfaces.
pub(super) fn listening(text: &str) -> Result<SocketAddr, String> {
    let everywhere = text.strip_prefix(':').map(|port| format!("[::]:{port}"));
    let address = everywhere.as_deref().unwrap_or(text);
    address
        .parse()
        .map_err(|_| "expected an IP address with a port, as in `127.0.0.1:8080`".to_owned())
}

/// Serves health and metrics at `address` until the result is dropped.
pub(super) async fn probes(
    ctx: &Ctx,
    address: SocketAddr,
    endpoint: Arc<impl Endpoint>,
) -> anyhow::Result<Probes> {
    let probes = Probes::listen(address, endpoint)
        .await
        .with_context(|| format!("cannot listen on {address}"))?;
    ctx.printer()
        .note(&format!("serving metrics and probes on {}", probes.address()));
    Ok(probes)
}
