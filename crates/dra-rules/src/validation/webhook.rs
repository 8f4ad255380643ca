//! Admission webhooks that the API server cannot call.

use dra_model::{Key, Str};

/// An admission webhook that the API server could not call, so that it refused what the webhook was to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Name of the webhook in its configuration.
    pub name: Str,
    /// The service that it is reached by, if it is one.
    pub service: Option<Key>,
    /// True if nothing answers for the service: its pods do not run, or are not ready.
    pub is_down: bool,
}

impl Webhook {
    /// Returns the webhook that a refusal names. Mirrors `util/webhook/error.go`, `ErrCallingWebhook.Error`, v1.37.2, and
    /// `util/webhook/serviceresolver.go`, `ResolveEndpoint`.
    pub fn uncallable(message: &str) -> Option<Self> {
        let (_, rest) = message.split_once("failed calling webhook \"")?;
        let (name, why) = rest.split_once('"')?;
        let host = why.split_once("\"https://").map_or("", |(_, address)| address);
        let host = host.split([':', '/', '?']).next().unwrap_or_default();
        let service = host.strip_suffix(".svc").and_then(|host| host.split_once('.'));
        Some(Self {
            name: name.into(),
            service: service.map(|(name, namespace)| Key::new(namespace, name)),
            is_down: ["no endpoints available", "connection refused"]
                .iter()
                .any(|words| why.contains(words)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_webhook_that_cannot_be_called() {
        let down = "Error creating: Internal error occurred: failed calling webhook \"v.kyverno.svc-fail\": failed to call webhook: \
                    Post \"https://kyverno-svc.kyverno.svc:443/validate/fail?timeout=10s\": no endpoints available for service \"kyverno-svc\"";
        let expired = "failed calling webhook \"w.example.com\": failed to call webhook: Post \"https://w.example.com/check\": \
                       tls: failed to verify certificate: x509: certificate has expired";
        for (message, found) in [
            (
                down,
                Some((
                    "v.kyverno.svc-fail",
                    Some(Key::new("kyverno", "kyverno-svc")),
                    true,
                )),
            ),
            (expired, Some(("w.example.com", None, false))),
            ("admission webhook \"w.example.com\" denied the request: no", None),
        ] {
            let found = found.map(|(name, service, is_down)| Webhook {
                name: name.into(),
                service,
                is_down,
            });
            assert_eq!(Webhook::uncallable(message), found, "{message}");
        }
    }
}
