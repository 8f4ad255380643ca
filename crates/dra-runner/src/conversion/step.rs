//! Next step for one claim after each response of the API server. Decides only; `worker` does it.
//!
//! Whatever was not clearly done or clearly refused is looked at again: the claim, and after it its pods, are read, and what is to be
//! done is planned anew. A write that took effect although the answer was an error is found that way, and none is sent twice.

use std::time::Duration;

use super::Trouble;
use dra_model::ConsumerReference;
use dra_rules::validation::is_of_policy;
use dra_sources::live::Error;

/// First pause before a claim is looked at again; doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(40);
/// Longest pause, unless the server asks for more.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Result of sending a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The claim has changed since it was read.
    Conflict,
    /// The claim does not exist any more.
    Gone,
    /// Not now: whether it took effect is open unless the server says when to come back.
    Unclear { said: Trouble, after: Option<Duration> },
    /// Not this write.
    Refused(String),
    /// No write at all: rights or credentials are missing.
    Forbidden(Trouble),
}

impl Answer {
    /// Returns what an error of the request means.
    pub(super) fn of(error: &Error) -> Self {
        let said = Trouble::from(error);
        // What helps who may not read is no advice here.
        let right = Trouble {
            hint: Some("ask for the missing permission".to_owned()),
            ..said.clone()
        };
        let Error::Refused {
            code,
            message,
            retry_after,
            ..
        } = error
        else {
            return match error {
                Error::Cut { .. }
                | Error::TimedOut { .. }
                | Error::Unreachable { .. }
                | Error::Foreign { .. } => Self::Unclear { said, after: None },
                _ => Self::Forbidden(said),
            };
        };
        match code {
            409 => Self::Conflict,
            404 => Self::Gone,
            408 | 429 | 500.. => Self::Unclear {
                said,
                after: *retry_after,
            },
            403 if is_of_policy(message) => Self::Refused(said.message),
            403 => Self::Forbidden(right),
            // The API server answers a missing right on `resourceclaims/binding` like an invalid value.
            _ if lacks_binding(message) => Self::Forbidden(right),
            _ => Self::Refused(said.message),
        }
    }
}

/// Returns whether a refusal is about the right to change who uses a claim. Mirrors `resourceclaim/strategy.go`, `ValidateUpdate`, v1.37.2.
pub(super) fn lacks_binding(message: &str) -> bool {
    message.contains("resourceclaims/binding") && message.contains("permission")
}

/// State of a claim at a later look.
#[derive(Clone, Debug)]
pub(super) enum Seen {
    /// It does not exist any more, or another one has its name.
    Gone,
    /// It has this list, and this is to be done.
    Claim {
        list: Vec<ConsumerReference>,
        wants: Wants,
    },
    /// It, its pods or groups could not be read.
    Unread(Answer),
}

/// Goal for a claim.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wants {
    /// This patch.
    Write,
    /// Nothing.
    Nothing,
    /// It cannot be done.
    Refused(String),
    /// It is unknown.
    Unknown(String),
}

/// Next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Send the patch that was planned last.
    Send,
    /// Wait, then look at the claim and its pods.
    Look(Duration),
    /// The claim is as it should be, after our write or another client's.
    Done { ours: bool },
    /// It does not exist any more.
    Gone,
    /// It cannot be done now.
    Refused(String),
    /// This claim failed.
    Fail(String),
    /// So will all others.
    Stop(Trouble),
}

/// The story of one claim.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    /// The list of each write that was sent.
    sent: Vec<Vec<ConsumerReference>>,
    pause: Duration,
    waited: Duration,
    /// Time to continue without a success.
    patience: Duration,
    trouble: Option<Trouble>,
    /// The last answer came from no server at all, so that other claims will fare no better.
    unreachable: bool,
    /// True if it is unknown whether the last write took effect.
    open: bool,
}

impl Attempt {
    /// `spread` differs between claims, so that those which met come apart.
    pub(super) fn new(patience: Duration, spread: u32) -> Self {
        Self {
            sent: Vec::new(),
            pause: FIRST_PAUSE + Duration::from_millis(u64::from(spread % 40)),
            waited: Duration::ZERO,
            patience,
            trouble: None,
            unreachable: false,
            open: false,
        }
    }

    /// A write that makes `list` the claim's list is about to be sent.
    pub(super) fn sends(&mut self, list: Vec<ConsumerReference>) {
        self.sent.push(list);
    }

    /// Returns whether a write was sent at all.
    pub(super) fn has_sent(&self) -> bool {
        !self.sent.is_empty()
    }

    /// Returns whether the last write was another one than the first.
    pub(super) fn was_replanned(&self) -> bool {
        self.sent.first() != self.sent.last()
    }

    /// Returns whether a write was sent whose result only the claim itself can show.
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// After the answer to a write.
    pub(super) fn answered(&mut self, answer: Answer) -> Next {
        self.open = matches!(answer, Answer::Unclear { after: None, .. });
        self.react(answer)
    }

    /// After an answer to a write, or to a look at the claim.
    fn react(&mut self, answer: Answer) -> Next {
        match answer {
            // A server that has just started answers so, too; reading tells.
            Answer::Gone => self.again(plain("the claim does not exist"), Duration::ZERO),
            Answer::Conflict => {
                self.unreachable = false;
                self.again(
                    plain("the claim kept changing while it was written"),
                    Duration::ZERO,
                )
            }
            Answer::Unclear { said, after } => {
                self.unreachable = after.is_none();
                self.again(said, after.unwrap_or_default())
            }
            Answer::Refused(said) => Next::Fail(said),
            Answer::Forbidden(said) => Next::Stop(said),
        }
    }

    /// After the claim was looked at again.
    pub(super) fn looked(&mut self, seen: Seen) -> Next {
        let (list, wants) = match seen {
            Seen::Gone => return Next::Gone,
            Seen::Unread(answer @ (Answer::Unclear { .. } | Answer::Forbidden(_))) => {
                return self.react(answer);
            }
            Seen::Unread(answer) => return self.again(plain(&format!("{answer:?}")), Duration::ZERO),
            Seen::Claim { list, wants } => (list, wants),
        };
        self.open = false;
        match wants {
            Wants::Write => Next::Send,
            Wants::Nothing => Next::Done {
                ours: self.sent.contains(&list),
            },
            Wants::Refused(why) => Next::Refused(why),
            Wants::Unknown(why) => Next::Fail(why),
        }
    }

    fn again(&mut self, said: Trouble, asked: Duration) -> Next {
        let pause = self.pause.max(asked);
        if self.waited + pause > self.patience {
            let said = self.trouble.take().unwrap_or(said);
            return if self.unreachable {
                Next::Stop(said)
            } else {
                Next::Fail(said.message)
            };
        }
        self.trouble = Some(said);
        self.waited += pause;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Next::Look(pause)
    }
}

/// A problem without a known remedy.
fn plain(message: &str) -> Trouble {
    Trouble {
        message: message.to_owned(),
        hint: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Check<'a> = &'a dyn Fn(&Next) -> bool;

    fn refused(code: u16, message: &str, retry_after: Option<u64>) -> Error {
        Error::Refused {
            what: "patch".to_owned(),
            code,
            message: message.to_owned(),
            retry_after: retry_after.map(Duration::from_secs),
        }
    }

    #[test]
    fn each_answer_leads_somewhere() {
        let look = |next: &Next| matches!(next, Next::Look(_));
        let fail = |next: &Next| matches!(next, Next::Fail(_));
        let stop = |next: &Next| matches!(next, Next::Stop(Trouble { hint: Some(_), .. }));
        let binding = "status.allocation: Forbidden: changing status.allocation or status.reservedFor requires \
                       resource=\"resourceclaims/binding\", verb=\"patch\" permission";
        let policy = "resourceclaims.resource.k8s.io \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied \
                      request: frozen";
        let webhook = "admission webhook \"w.example.com\" denied the request without explanation";
        let rights = "resourceclaims.resource.k8s.io \"a\" is forbidden: User \"u\" cannot patch resource \
                      \"resourceclaims/status\" in API group \"resource.k8s.io\" in the namespace \"n\"";
        let cases: [(Error, Check<'_>); 13] = [
            (refused(409, "", None), &look),
            (refused(429, "", Some(3)), &look),
            (refused(429, "", Some(3600)), &fail),
            (refused(500, "", None), &look),
            (refused(503, "", None), &look),
            (refused(404, "", None), &look),
            (refused(422, "Too many: 257", None), &fail),
            (refused(422, binding, None), &stop),
            (refused(403, policy, None), &fail),
            (refused(403, webhook, None), &fail),
            (refused(403, rights, None), &stop),
            (
                Error::Unauthorized {
                    server: String::new(),
                    message: String::new(),
                },
                &stop,
            ),
            (
                Error::TimedOut {
                    what: String::new(),
                    after: Duration::ZERO,
                },
                &look,
            ),
        ];
        for (error, expected) in cases {
            let mut attempt = Attempt::new(Duration::from_secs(60), 0);
            let next = attempt.answered(Answer::of(&error));
            assert!(expected(&next), "{error}: {next:?}");
        }
    }

    #[test]
    fn the_server_is_asked_when_it_wants_to_be() {
        let mut attempt = Attempt::new(Duration::from_secs(60), 0);
        let next = attempt.answered(Answer::of(&refused(429, "", Some(7))));
        assert_eq!(next, Next::Look(Duration::from_secs(7)));
    }

    #[test]
    fn a_write_that_took_effect_unnoticed_is_ours() {
        for (sent, expected) in [(true, true), (false, false)] {
            let mut attempt = Attempt::new(Duration::from_secs(60), 0);
            let list = vec![ConsumerReference {
                resource: "pods".into(),
                name: "a".into(),
                uid: "ua".into(),
                ..ConsumerReference::default()
            }];
            if sent {
                attempt.sends(list.clone());
            }
            let seen = Seen::Claim {
                list,
                wants: Wants::Nothing,
            };
            assert_eq!(attempt.looked(seen), Next::Done { ours: expected });
        }
    }

    #[test]
    fn no_wait_lasts_forever() {
        for (answer, stops) in [
            (Answer::Conflict, false),
            (
                Answer::Unclear {
                    said: plain(""),
                    after: None,
                },
                true,
            ),
            (
                Answer::Unclear {
                    said: plain(""),
                    after: Some(Duration::from_secs(1)),
                },
                false,
            ),
        ] {
            let mut attempt = Attempt::new(Duration::from_secs(60), 7);
            let mut waited = Duration::ZERO;
            let end = loop {
                match attempt.answered(answer.clone()) {
                    Next::Look(pause) => waited += pause,
                    end => break end,
                }
                assert!(waited <= Duration::from_secs(60));
            };
            assert_eq!(matches!(end, Next::Stop(_)), stops, "{answer:?}: {end:?}");
        }
    }
}
