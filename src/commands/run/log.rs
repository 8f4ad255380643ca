//! The log of `kubectl dra run`: lines for people, or JSON objects for collectors.

use super::status_line::StatusLine;
use crate::context::Ctx;
use crate::output::{LogFormat, counted};
use dra_reports::{ShadowItem, object_of};
use dra_runner::Message;

/// Logs messages.
#[derive(Clone, Copy)]
pub(in crate::commands) struct Log<'a> {
    pub(in crate::commands) ctx: &'a Ctx,
    pub(in crate::commands) format: LogFormat,
    /// Name of the cluster.
    pub(in crate::commands) cluster: &'a str,
    pub(in crate::commands) status_line: &'a StatusLine<'a>,
    /// Names of the controllers, or of the parts of a supplement, that write.
    pub(in crate::commands) names: &'a [&'a str],
    pub(in crate::commands) dry_run: bool,
}

impl Log<'_> {
    /// Logs a message, or shows the status.
    pub(in crate::commands) fn message(self, message: Message) {
        use LogFormat::{Json, Text};
        let (ctx, cluster, dry_run) = (self.ctx, self.cluster, self.dry_run);
        if let Message::Found(_) = message {
            self.status_line.count();
        }
        match (self.format, message) {
            (_, Message::Status(status)) => self.status_line.show(&status),
            (Text, Message::Watching(counts)) => ctx.printer().note(&format!(
                "watching {cluster}: {} wanted now",
                counted(counts.open, "write", "writes")
            )),
            (Json, Message::Watching(counts)) => {
                tracing::info!(cluster, wanted = counts.open, "watching");
            }
            (Text, Message::Started) => ctx.printer().note(&format!(
                "{} for {cluster}{}",
                self.names.join(" and "),
                if dry_run { ", as a dry run" } else { "" }
            )),
            (Json, Message::Started) => {
                let controllers = self.names.join(" and ");
                tracing::info!(cluster, controllers, dry_run, "running");
            }
            (format, Message::Standby { holder, trouble }) => {
                let why = match (trouble, holder.as_str()) {
                    (Some(trouble), _) => trouble,
                    (None, "") => "no process holds the lease yet".to_owned(),
                    (None, holder) => format!("{holder} holds the lease"),
                };
                match format {
                    Text => ctx.printer().note(&format!("standing by: {why}")),
                    Json => tracing::info!(cluster, holder, "standing by: {why}"),
                }
            }
            (Text, Message::Found(found)) => {
                let item = ShadowItem::of(&found);
                ctx.printer().note(&format!(
                    "{}: {}, since {}",
                    item.finding,
                    item.meaning(),
                    item.since
                ));
            }
            (Json, Message::Found(found)) => {
                let item = ShadowItem::of(&found);
                tracing::warn!(
                    controller = item.controller,
                    finding = <&str>::from(item.finding),
                    write = %item.write,
                    object = %item.object,
                    since = %item.since,
                    "{}",
                    item.meaning()
                );
            }
            (format, Message::Supplied(wishes)) => {
                for wish in wishes {
                    let (write, object) = (wish.write(), object_of(&wish.object()));
                    let controller: &str = wish.controller().into();
                    match format {
                        Text => ctx.printer().note(&format!(
                            "{}{write} for {object} (overdue)",
                            if dry_run { "would " } else { "" }
                        )),
                        Json => {
                            tracing::info!(
                                controller,
                                write,
                                object,
                                dry_run,
                                "written because it was overdue"
                            );
                        }
                    }
                }
            }
            (Text, Message::Failed { object, why, .. }) => ctx.warn(format!("{object}: {why}")),
            (
                Json,
                Message::Failed {
                    controller,
                    object,
                    why,
                },
            ) => tracing::warn!(controller = <&str>::from(controller), object, "{why}"),
            (Text, Message::WatchInterrupted(trouble)) => ctx.warn(trouble.message),
            (Json, Message::WatchInterrupted(trouble)) => tracing::warn!(
                resource = trouble.kind.plural(),
                refused = trouble.refused,
                "{}",
                trouble.message
            ),
            (Text, Message::WatchOpen(kind)) => {
                tracing::debug!(resource = kind.plural(), "watch established");
            }
            (Json, Message::WatchOpen(kind)) => {
                tracing::info!(resource = kind.plural(), "watch established");
            }
            (Text, Message::Unreadable(object)) => ctx.warn(object.to_string()),
            (Json, Message::Unreadable(object)) => tracing::warn!(
                resource = object.kind.plural(),
                object = object.name.as_deref().unwrap_or_default(),
                "{}",
                object.reason
            ),
            (Text, Message::NotRead(fields)) => fields.warnings().for_each(|warning| ctx.warn(warning)),
            (Json, Message::NotRead(fields)) => {
                fields.warnings().for_each(|warning| tracing::warn!("{warning}"));
            }
            (Text, Message::Clock(skew)) => ctx.warn(skew),
            (Json, Message::Clock(skew)) => tracing::warn!("{skew}"),
            (Text, Message::ClusterChanged(change)) => ctx.printer().note(&change),
            (Json, Message::ClusterChanged(change)) => tracing::info!("{change}"),
        }
    }
}
