//! Fresh random cases for older releases: the newest Go library makes them up, the library of each release decides, in many orders of
//! pools and slices, the allocator decides with the rules of that release, and every difference fails.
//!
//! What an answer has to be depends on how sure the allocator says it is:
//!
//! | It says | Then |
//! |---|---|
//! | sure | the library answers the same in every order, device for device |
//! | one of several | the library has the same verdict in every order, and gives these devices in one |
//! | may be an error, may differ | the library gives this answer in one order |
//! | fit only, for a known bug of the release | it is counted whether it is different |
//!
//! Before 1.36, in which order a status lists devices and what follows from them depends on the order of pools, and is not compared. There
//! an error is sure if there is one in every order, and ours in one of them. Cases in which the library panics are only counted.
//!
//! Which cases is said as `dra_testing::random_cases` says, and `KUBECTL_DRA_FUZZ_RELEASE=1.35` asks for one release; `make fuzz
//! RELEASE=1.35` does so. The files of cases of `tests/allocator_cases.rs` are reduced to what each release stores, and compared too.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use dra_allocator::{Certainty, Inputs, Limits, Outcome};
use dra_rules::scheduling::{doubts, orders};
use serde_json::Value;

use crate::allocator::case::{Answer, Case};
use dra_testing::random_cases;

use crate::{files, go};

/// In how many orders the library decides.
const ORDERS: u32 = 20;

/// In how many it does where all of them give the same, in runs of more cases than an ordinary one has: what hides in a rare order shows in
/// another case then, and the time is spent on more of those.
const AGREED: u32 = 6;

/// In how many it decides where ours is not among the outcomes of the first ones, one after the other until it is: rare orders are not
/// among twenty, and most are among a few hundred.
const MORE_ORDERS: [u32; 3] = [100, 400, 2_000];

/// More cases than this are no ordinary run.
const MANY: u64 = 2_000;

/// Differences that are shown with their cases; more rarely have another reason.
const SHOWN: usize = 5;
/// Differences that are shown.
const LISTED: usize = 300;

/// Compares `count` cases for each release and those of the files, and says whether all agree.
pub(crate) fn compare(count: u64, seed: u64) -> bool {
    let profile = std::env::var("KUBECTL_DRA_FUZZ_PROFILE").unwrap_or_default();
    let newest = go::build("oracle");
    let mut good = true;
    for minor in random_cases::releases() {
        let release = Release {
            minor,
            oracle: go::older_oracle(minor),
            agreed: if count > MANY { AGREED } else { 0 },
            asked: Mutex::default(),
        };
        good &= release.compare_random(&newest, &profile, count, seed);
        if profile.is_empty() {
            good &= release.compare_files();
        }
    }
    good
}

/// Certainty of the allocator, for people.
const SURE: &str = "sure";
const ONE_OF: &str = "one of several";
const MAY_ERROR: &str = "may be an error";
const MAY_DIFFER: &str = "may differ";

/// A release and the program with its library.
struct Release {
    minor: u32,
    oracle: PathBuf,
    /// Number of orders that suffice if they agree, 0 if none.
    agreed: u32,
    /// Answers one case after the other. It takes as long to start as many cases take.
    asked: Mutex<Option<Asked>>,
}

/// A program that was asked for a case and can be asked for others.
struct Asked {
    program: Child,
    cases: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Asked {
    /// Returns what came out in so many orders.
    fn outcomes(&mut self, orders: u32, line: &str) -> Vec<Answer> {
        let case = line.strip_prefix('{').expect("a case is an object");
        let cases = self.cases.as_mut().expect("it is open until the end");
        writeln!(cases, "{{\"orders\":{orders},{case}").expect("the oracle reads the case");
        let mut answer = String::new();
        self.answers
            .read_line(&mut answer)
            .expect("the oracle writes text");
        outcomes(&Case::read(&answer).unwrap_or_else(|error| panic!("{error}: {answer}")))
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.cases = None;
        let _ = self.program.wait();
    }
}

impl Release {
    fn compare_random(&self, newest: &Path, profile: &str, count: u64, seed: u64) -> bool {
        let minor = self.minor.to_string();
        let mut generator = Command::new(newest)
            .args(["generate", "--minor", &minor, "--profile", profile])
            .args(["--seed", &seed.to_string(), "--count", &count.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the oracle can be started");
        let cases = generator.stdout.take().expect("it is a pipe");
        let agreed = self.agreed.to_string();
        let (mut answering, answers) = self.answer(ORDERS, &["--agreed", &agreed], Stdio::from(cases));
        let tally = self.compare(answers);
        let ended = generator.wait().expect("the oracle ends").success()
            & answering.wait().expect("the oracle ends").success();
        tally.print(&format!("1.{minor}, {count} random cases"));
        if !ended || tally.cases != count {
            println!("the oracle did not answer all cases");
        }
        ended && tally.cases == count && tally.differences.is_empty()
    }

    /// The cases that are compared for the newest release, reduced to what this one stores.
    fn compare_files(&self) -> bool {
        let mut good = true;
        for file in files::case_files() {
            let text = std::fs::File::open(&file)
                .unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()));
            let (mut answering, answers) = self.answer(ORDERS, &[], Stdio::from(text));
            let tally = self.compare(answers);
            let ended = answering.wait().expect("the oracle ends").success();
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            tally.print(&format!("1.{}, {name}", self.minor));
            good &= ended && tally.cases > 0 && tally.differences.is_empty();
        }
        good
    }

    fn answer(&self, orders: u32, more: &[&str], cases: Stdio) -> (Child, ChildStdout) {
        let mut answering = Command::new(&self.oracle)
            .args(["outcomes", "--orders", &orders.to_string()])
            .args(more)
            .stdin(cases)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the oracle can be started");
        let answers = answering.stdout.take().expect("it is a pipe");
        (answering, answers)
    }

    fn compare(&self, answers: ChildStdout) -> Tally {
        let tally = Mutex::new(Tally::default());
        crate::each_case(answers, |case, line| {
            let outcome = self.judge(case, &line);
            let mut tally = tally.lock().expect("no thread has panicked");
            tally.add(case, line, outcome);
        });
        tally.into_inner().expect("no thread has panicked")
    }

    fn judge(&self, case: &Case, line: &str) -> Compared {
        let inputs = Inputs::new(&case.cluster, case.features);
        let demand = inputs.demand(&case.claims);
        let attempt = inputs.allocate(&case.node, &demand, Limits::default(), &());
        let seen = outcomes(case);
        if matches!(attempt.outcome, Outcome::GaveUp) || seen.iter().any(is_unended) {
            return Compared::Unended;
        }
        if seen.iter().any(panicked) {
            return Compared::Panicked;
        }
        let ours = in_order(case, Answer::of(&attempt));
        let others = seen.iter().find(|one| one.verdict != ours.verdict);
        let is_same = |one: &Answer| ours.compare(one).map_err(Unlike::Different);
        let (sure, verdict) = match &attempt.certainty {
            // Some orders count in every release.
            _ if !orders(&case.cluster, &case.claims).is_empty() || has_slices_of_one_name(case) => {
                (ONE_OF, self.among(&ours, &seen, line))
            }
            Certainty::Sure if ours.verdict == "error" && case.features.takes_pools_as_they_come() => {
                let verdict = others.map_or_else(|| self.among(&ours, &seen, line), is_same);
                (SURE, verdict)
            }
            Certainty::Sure => (SURE, seen.iter().try_for_each(is_same)),
            Certainty::OneOf(_) => match others {
                Some(other) => (ONE_OF, is_same(other)),
                None => (ONE_OF, self.among(&ours, &seen, line)),
            },
            Certainty::MayError(_) => (MAY_ERROR, self.among(&ours, &seen, line)),
            Certainty::MayDiffer(_) => (MAY_DIFFER, self.among(&ours, &seen, line)),
        };
        let verdict = match verdict {
            Ok(()) => Ok(()),
            Err(Unlike::Different(why)) => Err(why),
            Err(Unlike::Unended) => return Compared::Unended,
        };
        if doubts(&case.cluster, None, &case.claims).doubts.is_empty() {
            Compared::As(sure, verdict)
        } else {
            Compared::Doubted(verdict.is_err())
        }
    }

    /// Returns whether the library gives our answer in one of the orders.
    fn among(&self, ours: &Answer, seen: &[Answer], line: &str) -> Result<(), Unlike> {
        if seen.contains(ours) {
            return Ok(());
        }
        let mut more = Vec::new();
        for orders in MORE_ORDERS {
            more = self.more_outcomes(orders, line);
            if more.contains(ours) {
                return Ok(());
            }
            // The others were not tried then.
            if more.iter().any(is_unended) {
                return Err(Unlike::Unended);
            }
        }
        let closest = more.iter().find(|one| one.verdict == ours.verdict);
        let difference = closest.or(more.first()).map(|one| ours.compare(one));
        let difference = difference.and_then(Result::err).unwrap_or_default();
        Err(Unlike::Different(format!(
            "not among {} outcomes: {difference}",
            more.len()
        )))
    }

    fn more_outcomes(&self, orders: u32, line: &str) -> Vec<Answer> {
        let mut asked = self.asked.lock().expect("no thread has panicked");
        let asked = asked.get_or_insert_with(|| {
            // One case may take as long as it does.
            let (mut program, answers) = self.answer(orders, &["--all-steps", "0"], Stdio::piped());
            let cases = program.stdin.take();
            let answers = BufReader::new(answers);
            Asked {
                program,
                cases,
                answers,
            }
        });
        asked.outcomes(orders, line)
    }
}

/// Returns what the library answered in its orders.
fn outcomes(case: &Case) -> Vec<Answer> {
    let outcomes = case.json["outcomes"].as_array();
    let outcomes = outcomes.into_iter().flatten().map(Answer::expected);
    outcomes.map(|outcome| in_order(case, outcome)).collect()
}

/// The answer with its devices in an order of their own, where the release has none.
fn in_order(case: &Case, mut answer: Answer) -> Answer {
    if case.features.takes_pools_as_they_come() {
        for allocation in answer.allocations.as_array_mut().into_iter().flatten() {
            sort(&mut allocation["devices"]["results"]);
            let terms = allocation["nodeSelector"]["nodeSelectorTerms"].as_array_mut();
            for term in terms.into_iter().flatten() {
                sort(&mut term["matchExpressions"]);
                sort(&mut term["matchFields"]);
            }
        }
    }
    answer
}

fn sort(list: &mut Value) {
    if let Some(list) = list.as_array_mut() {
        list.sort_by_key(Value::to_string);
    }
}

/// Returns whether slices have a name in common, as in some of the library's own tests: those that sort slices sort them by name. No API server has two.
fn has_slices_of_one_name(case: &Case) -> bool {
    let objects = case.json["objects"].as_array().into_iter().flatten();
    let slices = objects.filter(|object| object["kind"] == "ResourceSlice");
    let mut names = BTreeSet::new();
    slices
        .filter_map(|slice| slice["metadata"]["name"].as_str())
        .any(|name| !names.insert(name))
}

fn is_unended(answer: &Answer) -> bool {
    answer.verdict == "timeout"
}

/// Returns whether the library ended in a panic, which only the program around it took for an error.
fn panicked(answer: &Answer) -> bool {
    answer.error.starts_with("the allocator panicked")
}

fn profile(case: &Case) -> &str {
    case.json["profile"].as_str().unwrap_or("upstream")
}

/// The reason why an answer is none of the library's.
enum Unlike {
    /// It is another one.
    Different(String),
    /// The library's search does not end in some order.
    Unended,
}

/// Result of a case.
enum Compared {
    /// One of the searches did not end.
    Unended,
    /// The library panicked in an order.
    Panicked,
    /// A known bug of the release may have changed the answer, and whether it is different.
    Doubted(bool),
    /// Compared as that certainty asks for.
    As(&'static str, Result<(), String>),
}

/// The cases of a run.
#[derive(Default)]
struct Tally {
    cases: u64,
    unended: u64,
    panicked: u64,
    doubted: u64,
    doubted_different: u64,
    counts: BTreeMap<&'static str, u64>,
    /// By profile: all, and those whose answer is sure.
    profiles: BTreeMap<String, (u64, u64)>,
    /// Differences, with the case.
    differences: Vec<(String, String)>,
}

impl Tally {
    fn add(&mut self, case: &Case, line: String, outcome: Compared) {
        self.cases += 1;
        let (certainty, verdict) = match outcome {
            Compared::As(certainty, verdict) => (certainty, verdict),
            Compared::Unended => return self.unended += 1,
            Compared::Panicked => return self.panicked += 1,
            Compared::Doubted(differs) => {
                self.doubted += 1;
                self.doubted_different += u64::from(differs);
                let (all, _) = self.profiles.entry(profile(case).to_owned()).or_default();
                return *all += 1;
            }
        };
        *self.counts.entry(certainty).or_default() += 1;
        let (all, exact) = self.profiles.entry(profile(case).to_owned()).or_default();
        *all += 1;
        *exact += u64::from(certainty == SURE);
        if let Err(why) = verdict {
            self.differences
                .push((format!("{} ({certainty}): {why}", case.name()), line));
        }
    }

    fn print(&self, what: &str) {
        let counts: Vec<String> = self
            .counts
            .iter()
            .map(|(certainty, count)| format!("{count} {certainty}"))
            .collect();
        println!(
            "{what}: {}, {} fit only for a known bug ({} of them different), {} whose search did not end, {} in which the library \
             panics, {} different",
            counts.join(", "),
            self.doubted,
            self.doubted_different,
            self.unended,
            self.panicked,
            self.differences.len()
        );
        let shares: Vec<String> = self
            .profiles
            .iter()
            .map(|(profile, (all, exact))| format!("{profile} {exact} of {all}"))
            .collect();
        println!("  sure: {}", shares.join(", "));
        let mut differences: Vec<_> = self.differences.iter().collect();
        differences.sort_by_key(|(_, line)| line.len());
        for (place, (why, line)) in differences.into_iter().enumerate().take(LISTED) {
            if place < SHOWN {
                println!("{why}\n{line}");
            } else {
                println!("{}", why.lines().next().unwrap_or_default());
            }
        }
    }
}
