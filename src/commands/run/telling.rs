//! What `kubectl dra run` tells while it goes on: to people in lines, to collectors in objects.

use super::view::Viewing;
use crate::context::Ctx;
use crate::output::{LogFormat, counted};
use dra_reports::{ShadowItem, object_of};
use dra_rules::controllers::ControllerName;
use dra_runner::{Happening, News, Report, Standing, Trouble};

/// Who is told, and how.
#[derive(Clone, Copy)]
pub(super) struct Telling<'a> {
    pub(super) ctx: &'a Ctx,
    pub(super) format: LogFormat,
    /// What the cluster is called.
    pub(super) cluster: &'a str,
    /// What is seen of it on a terminal.
    pub(super) viewing: &'a Viewing<'a>,
}

impl Telling<'_> {
    /// Tells what happens in the shadow.
    pub(super) fn happening(self, happening: Happening) {
        let Self {
            ctx,
            format,
            cluster,
            viewing,
        } = self;
        if let Happening::Found(_) = happening {
            viewing.count();
        }
        match (format, happening) {
            (_, Happening::Glance(glance)) => viewing.show(&glance),
            (_, Happening::News(news)) => self.news(news),
            (LogFormat::Text, Happening::Started(counts)) => ctx.printer().note(&format!(
                "watching {cluster}: {} wanted now",
                counted(counts.open, "write", "writes")
            )),
            (LogFormat::Json, Happening::Started(counts)) => {
                tracing::info!(cluster, wanted = counts.open, "watching");
            }
            (LogFormat::Text, Happening::Found(found)) => {
                let item = ShadowItem::of(&found);
                ctx.printer().note(&format!(
                    "{}: {}, since {}",
                    item.finding.text(),
                    item.meaning(),
                    item.since
                ));
            }
            (LogFormat::Json, Happening::Found(found)) => {
                let item = ShadowItem::of(&found);
                tracing::warn!(
                    controller = item.controller,
                    finding = item.finding.text(),
                    write = %item.write,
                    object = %item.object,
                    since = %item.since,
                    "{}",
                    item.meaning()
                );
            }
            (
                _,
                Happening::LookupFailed {
                    controller,
                    lookup,
                    why,
                },
            ) => {
                let object = format!("{}/{}", lookup.kind.name(), lookup.key);
                self.trouble(controller, &object, &why);
            }
        }
    }

    /// Tells what happens where these controllers, or parts of a supplement, are at work.
    pub(super) fn report(self, report: Report, names: &[&str], dry_run: bool) {
        match report {
            Report::Supplied(wishes) => {
                for wish in wishes {
                    let (write, object) = (wish.write(), object_of(&wish.object()));
                    match self.format {
                        LogFormat::Text => self.ctx.printer().note(&format!(
                            "{}{write} for {object}, which was overdue",
                            if dry_run { "would " } else { "" }
                        )),
                        LogFormat::Json => {
                            let controller = wish.controller().as_str();
                            tracing::info!(controller, write, object, dry_run, "written, as it was overdue");
                        }
                    }
                }
            }
            Report::Started => {
                let names = names.join(" and ");
                match self.format {
                    LogFormat::Text => self.ctx.printer().note(&format!(
                        "{names} for {}{}",
                        self.cluster,
                        if dry_run { ", as a dry run" } else { "" }
                    )),
                    LogFormat::Json => {
                        tracing::info!(cluster = self.cluster, controllers = names, dry_run, "at work");
                    }
                }
            }
            Report::Standby(Standing::Waiting { holder, trouble }) => {
                let why = match (&trouble, holder.as_str()) {
                    (Some(trouble), _) => trouble.clone(),
                    (None, "") => "nobody holds the lease yet".to_owned(),
                    (None, holder) => format!("{holder} holds the lease"),
                };
                match self.format {
                    LogFormat::Text => self.ctx.printer().note(&format!("standing by: {why}")),
                    LogFormat::Json => tracing::info!(cluster = self.cluster, holder, "standing by: {why}"),
                }
            }
            Report::Glance(glance) => self.viewing.show(&glance),
            Report::Standby(Standing::Held | Standing::Lost) => {}
            Report::News(news) => self.news(news),
            Report::Trouble(Trouble {
                controller,
                subject,
                why,
            }) => self.trouble(controller, &subject.to_string(), &why),
        }
    }

    fn trouble(self, controller: ControllerName, object: &str, why: &str) {
        match self.format {
            LogFormat::Text => self.ctx.warn(format!("{object}: {why}")),
            LogFormat::Json => tracing::warn!(controller = controller.as_str(), object, "{why}"),
        }
    }

    fn news(self, news: News) {
        match (self.format, news) {
            (LogFormat::Text, News::Interrupted(trouble)) => self.ctx.warn(trouble.message),
            (LogFormat::Json, News::Interrupted(trouble)) => {
                tracing::warn!(
                    resource = trouble.kind.plural(),
                    refused = trouble.refused,
                    "{}",
                    trouble.message
                );
            }
            (LogFormat::Text, News::Unreadable(object)) => self.ctx.warn(object.to_string()),
            (LogFormat::Json, News::Unreadable(object)) => {
                tracing::warn!(
                    resource = object.kind.plural(),
                    object = object.name.as_deref().unwrap_or_default(),
                    "{}",
                    object.reason
                );
            }
            (LogFormat::Text, News::Changed(change)) => self.ctx.printer().note(&change),
            (LogFormat::Json, News::Changed(change)) => tracing::info!("{change}"),
            (LogFormat::Text, News::ClockStrays(clock) | News::ClockSet(clock)) => self.ctx.warn(clock),
            (LogFormat::Json, News::ClockStrays(clock) | News::ClockSet(clock)) => {
                tracing::warn!("{clock}");
            }
            (LogFormat::Text, News::InStep(kind)) => {
                tracing::debug!(resource = kind.plural(), "the watch is open");
            }
            (LogFormat::Json, News::InStep(kind)) => {
                tracing::info!(resource = kind.plural(), "the watch is open");
            }
        }
    }
}
