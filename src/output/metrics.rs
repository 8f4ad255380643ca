//! Metrics in the text format of OpenMetrics. The samples are gauges without units, so that Prometheus' own text format is the same but
//! for the last line, which is a comment there.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use dra_reports::metrics::Samples;

/// Returns samples as text, without the end that OpenMetrics demands.
pub(crate) fn metrics_text(samples: Samples) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Gauges(samples)));
    let mut text = String::new();
    // A string takes whatever is written.
    _ = encode_registry(&mut text, &registry);
    text
}

/// Returns `text` with the end that OpenMetrics demands.
pub(crate) fn ended_metrics(mut text: String) -> String {
    // A string takes whatever is written.
    _ = encode_eof(&mut text);
    text
}

#[derive(Debug)]
struct Gauges(Samples);

impl Collector for Gauges {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for (facts, samples) in self.0.iter() {
            // The registry ends its own in the same way.
            let help = format!("{}.", facts.help);
            let mut family = encoder.encode_descriptor(facts.name, &help, None, MetricType::Gauge)?;
            for (values, value) in samples {
                if values.is_empty() {
                    family.encode_gauge(value)?;
                    continue;
                }
                let values = values.iter().map(|value| value.as_str());
                let labels: Vec<(&str, &str)> = facts.labels.iter().copied().zip(values).collect();
                family.encode_family(&labels)?.encode_gauge(value)?;
            }
        }
        Ok(())
    }
}
