//! Outcomes of jobs that met an error of the API server.

use dra_rules::controllers::Outcome;
use dra_sources::live::Error;

/// Reports whether the API server as a whole failed, rather than the request.
pub(super) fn is_outage(error: &Error) -> bool {
    matches!(outcome_of(error), Outcome::Unreachable)
}

/// The outcome of a job that met this error.
pub(super) fn outcome_of(error: &Error) -> Outcome {
    match error.refusal() {
        // A response about the path rather than an object is no evidence about objects.
        Some((404, message)) if message.ends_with("\" not found") => Outcome::Gone,
        Some((409, _)) => Outcome::Conflict,
        // A failing webhook is no evidence about the API server.
        Some((500.., message)) if message.contains("failed calling webhook") => {
            Outcome::Refused(error.to_string())
        }
        Some((429 | 500.., _)) => Outcome::Unreachable,
        Some(_) => Outcome::Refused(error.to_string()),
        None if matches!(error, Error::Impossible { .. }) => Outcome::Refused(error.to_string()),
        None => Outcome::Unreachable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: u16, message: &str) -> Error {
        Error::Refused {
            what: "write".to_owned(),
            code,
            message: message.to_owned(),
            retry_after: None,
        }
    }

    #[test]
    fn only_refusals_of_its_own_are_held_against_an_item() {
        let of = |code, message| format!("{:?}", outcome_of(&refused(code, message)));
        for code in [429, 500, 502, 503, 504] {
            assert_eq!(of(code, "busy"), "Unreachable", "{code}");
        }
        for code in [400, 403, 422] {
            assert!(of(code, "no").starts_with("Refused"), "{code}");
        }
        assert!(of(500, "failed calling webhook \"x\"").starts_with("Refused"));
        assert_eq!(of(404, "resourceclaims.resource.k8s.io \"c\" not found"), "Gone");
        let unserved = of(404, "the server could not find the requested resource");
        assert!(unserved.starts_with("Refused"), "{unserved}");
        assert_eq!(of(409, "changed"), "Conflict");
        let cut = Error::Cut {
            what: "write".to_owned(),
            message: "end".to_owned(),
        };
        assert_eq!(format!("{:?}", outcome_of(&cut)), "Unreachable");
    }
}
