//! Faults that a real API server cannot be made to show, from a scripted one: refusals without end, answers that break off or never
//! come. Everything else is tested on a real control plane.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::timing::Timing;
use super::{Connection, Error, Live, Persistence, Watched};
use crate::gates::VersionSettings;
use crate::needs::{Loaded, Needs, Unobserved};
use dra_model::{Change, Claim, ClaimPatch, Gap, Key, Kind};

/// Scripted response of the server.
enum Reply {
    /// Answers with a status, headers and a body.
    Answer(u16, &'static str, String),
    /// Begins an answer with this text, and closes the connection before it is complete.
    Cut(String),
    /// Begins an answer with this text, and says no more.
    Stall(String),
    /// Begins an answer with this text, and goes on with blanks.
    Blanks(String),
    /// Prints nothing.
    Silence,
}

fn json(body: &str) -> Reply {
    Reply::Answer(200, "", body.to_owned())
}

fn refusal(status: u16, headers: &'static str, message: &str) -> Reply {
    let body = format!(r#"{{"kind":"Status","status":"Failure","message":"{message}","code":{status}}}"#);
    Reply::Answer(status, headers, body)
}

const VERSION: &str = r#"{"major":"1","minor":"37","gitVersion":"v1.37.1"}"#;
const APIS: &str = r#"{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"resource.k8s.io"},"versions":[
    {"version":"v1","resources":[{"resource":"resourceclaims"}]}]}]}"#;
const CLAIMS: &str = r#"{"kind":"ResourceClaimList","metadata":{"resourceVersion":"7"},"items":[
    {"metadata":{"namespace":"default","name":"a"}}]}"#;

/// Serves `script`, which gets the path and how often it was asked for before. Version and discovery are as usual.
fn serve(script: impl Fn(&str, usize) -> Reply + Send + Sync + 'static) -> (String, Arc<Mutex<Vec<String>>>) {
    serve_all(move |path, before| match path {
        "/version" => json(VERSION),
        "/apis" => json(APIS),
        _ => script(path, before),
    })
}

/// The same with another discovery, of a list with one claim.
fn serve_with_discovery(apis: &'static str, resources: &'static str) -> String {
    let (address, _) = serve_all(move |path, _| match path {
        "/version" => json(VERSION),
        "/apis" => json(apis),
        "/apis/resource.k8s.io/v1" => json(resources),
        _ => json(CLAIMS),
    });
    address
}

fn serve_all(
    script: impl Fn(&str, usize) -> Reply + Send + Sync + 'static,
) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let log = Arc::new(Mutex::new(Vec::<String>::new()));
    let (script, seen) = (Arc::new(script), Arc::clone(&log));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (script, seen) = (Arc::clone(&script), Arc::clone(&seen));
            std::thread::spawn(move || {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap());
                loop {
                    let mut request = String::new();
                    if lines.read_line(&mut request).unwrap_or(0) == 0 {
                        return;
                    }
                    let mut header = String::new();
                    while lines.read_line(&mut header).unwrap_or(0) > 2 {
                        header.clear();
                    }
                    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                    let before = {
                        let mut seen = seen.lock().unwrap();
                        let before = seen.iter().filter(|known| **known == path).count();
                        seen.push(path.clone());
                        before
                    };
                    let reply = script(&path, before);
                    let chunked = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
                    match reply {
                        Reply::Answer(status, headers, body) => {
                            let length = body.len();
                            let head =
                                format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n{headers}\r\n");
                            let _ = stream.write_all((head + &body).as_bytes());
                        }
                        Reply::Cut(text) => {
                            let _ = stream
                                .write_all(format!("{chunked}{:x}\r\n{text}\r\n", text.len()).as_bytes());
                            return;
                        }
                        Reply::Stall(text) => {
                            let _ = stream
                                .write_all(format!("{chunked}{:x}\r\n{text}\r\n", text.len()).as_bytes());
                            let _ = lines.read(&mut [0]);
                            return;
                        }
                        Reply::Blanks(text) => {
                            let mut chunk = format!("{chunked}{:x}\r\n{text}\r\n", text.len());
                            while stream.write_all(chunk.as_bytes()).is_ok() {
                                chunk = "1\r\n \r\n".to_owned();
                                std::thread::sleep(Duration::from_millis(20));
                            }
                            return;
                        }
                        Reply::Silence => {
                            let _ = lines.read(&mut [0]);
                            return;
                        }
                    }
                }
            });
        }
    });
    (address, log)
}

/// Limits that are reached immediately, so that no test waits for more than one.
const QUICK: Timing = Timing {
    first_byte: Duration::from_millis(300),
    pause: Duration::from_millis(300),
    watch_pause: Duration::from_millis(300),
    watch_opens: Duration::from_millis(300),
    lasting_watch_pause: Duration::from_millis(300),
    // No test waits for it: what the server sends decides.
    watch_proof: Duration::from_secs(3600),
    unauthorized: Duration::from_millis(100),
    patience: Duration::from_millis(20),
    first_delay: Duration::from_millis(1),
    longest_delay: Duration::from_millis(2),
};

fn load(address: &str, needs: &Needs) -> Result<Loaded, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let live = connect(address).await?;
        live.load(
            needs,
            &VersionSettings::default(),
            "2026-11-21T00:00:00Z".parse().unwrap(),
            Arc::new(Unobserved),
        )
        .await
    })
}

async fn connect(address: &str) -> Result<Live, Error> {
    let flags = Connection {
        kubeconfig: Some("/dev/null".into()),
        server: Some(address.to_owned()),
        ..Connection::default()
    };
    let mut live = Live::connect(&flags).await?;
    live.timing = QUICK;
    Ok(live)
}

fn claims() -> Needs {
    Needs::kinds([Kind::ResourceClaim])
}

fn gap_of(loaded: &Loaded) -> &str {
    &loaded.cluster.gap(Kind::ResourceClaim, "").expect("a gap").reason
}

#[test]
fn a_storm_of_refusals_that_ends_is_sat_out() {
    let (address, log) = serve(|_, before| {
        if before < 3 {
            refusal(429, "Retry-After: 0\r\n", "storage is (re)initializing")
        } else {
            json(CLAIMS)
        }
    });
    let loaded = load(&address, &claims()).unwrap();
    assert_eq!(loaded.cluster.count(Kind::ResourceClaim), 1);
    assert_eq!(loaded.resource_versions[&Kind::ResourceClaim], "7");
    let asked = log
        .lock()
        .unwrap()
        .iter()
        .filter(|path| path.ends_with("resourceclaims"))
        .count();
    assert_eq!(asked, 4);
}

#[test]
fn refusals_without_end_become_a_gap_or_an_error_with_a_remedy() {
    for reply in [
        || refusal(429, "Retry-After: 1\r\n", "storage is (re)initializing"),
        || {
            refusal(
                500,
                "",
                "unable to decode an event from the watch stream: no kind is registered",
            )
        },
    ] {
        let (address, _) = serve(move |_, _| reply());
        let loaded = load(&address, &claims()).unwrap();
        assert_eq!(loaded.cluster.count(Kind::ResourceClaim), 0);
        assert!(
            gap_of(&loaded).starts_with("cannot list resourceclaims.resource.k8s.io: "),
            "{}",
            gap_of(&loaded)
        );

        let error = load(&address, &Needs::none().require(Kind::ResourceClaim)).unwrap_err();
        let hint = error.hint().unwrap();
        assert!(hint.contains("cannot decode these objects"), "{error}: {hint}");
    }
}

#[test]
fn a_list_that_breaks_off_is_asked_for_once_more() {
    let half = &CLAIMS[..CLAIMS.len() - 20];
    let (address, _) = serve(move |_, before| {
        if before == 0 {
            Reply::Cut(half.to_owned())
        } else {
            json(CLAIMS)
        }
    });
    assert_eq!(
        load(&address, &claims())
            .unwrap()
            .cluster
            .count(Kind::ResourceClaim),
        1
    );

    let (address, log) = serve(move |_, _| Reply::Cut(half.to_owned()));
    let loaded = load(&address, &claims()).unwrap();
    assert_eq!(
        loaded.cluster.count(Kind::ResourceClaim),
        0,
        "half a list is no list"
    );
    assert!(
        gap_of(&loaded).contains("the response ended early"),
        "{}",
        gap_of(&loaded)
    );
    let asked = log
        .lock()
        .unwrap()
        .iter()
        .filter(|path| path.ends_with("resourceclaims"))
        .count();
    assert_eq!(asked, 2);
}

#[test]
fn a_list_that_ends_too_early_without_an_error_of_the_connection_is_noticed() {
    let (address, _) = serve(|_, _| json(&CLAIMS[..CLAIMS.len() - 3]));
    let loaded = load(&address, &claims()).unwrap();
    assert!(
        gap_of(&loaded).contains("the response ended early"),
        "{}",
        gap_of(&loaded)
    );
}

#[test]
fn silence_is_a_gap_and_not_a_hang() {
    for reply in [|| Reply::Silence, || Reply::Stall(CLAIMS[..60].to_owned())] {
        let (address, _) = serve(move |_, _| reply());
        let loaded = load(&address, &claims()).unwrap();
        assert!(gap_of(&loaded).contains("no response for"), "{}", gap_of(&loaded));
    }
}

#[test]
fn a_malformed_object_is_named_and_the_others_are_read() {
    let (address, _) = serve(|_, _| {
        json(
            r#"{"kind":"ResourceClaimList","metadata":{"resourceVersion":"7"},"items":[
                {"metadata":{"namespace":"default","name":"bad"},"spec":{"devices":{"requests":"all"}}}, 5,
                {"metadata":{"namespace":"default","name":"good"}}]}"#,
        )
    });
    let loaded = load(&address, &claims()).unwrap();
    assert_eq!(loaded.cluster.count(Kind::ResourceClaim), 1);
    let problems: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(
        problems[0].starts_with("list resourceclaims.resource.k8s.io: `ResourceClaim/default/bad`: "),
        "{problems:?}"
    );
    assert!(
        gap_of(&loaded).starts_with("2 could not be read"),
        "{}",
        gap_of(&loaded)
    );
}

#[test]
fn what_is_no_item_of_the_list_makes_the_kind_unknown() {
    let good = r#"{"metadata":{"namespace":"default","name":"good"}}"#;
    for (item, why) in [
        (r#"{"metadata":{"name":"a"}}"#, "it has no namespace"),
        (
            r#"{"metadata":{"namespace":"","name":"a"}}"#,
            "it has no namespace",
        ),
        (
            r#"{"metadata":{"namespace":"other","name":"a"}}"#,
            "it is in namespace `other`",
        ),
        (
            r#"{"kind":"ConfigMap","metadata":{"namespace":"default","name":"a"}}"#,
            "it is a `ConfigMap`",
        ),
        (
            r#"{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{"namespace":"default","name":"a"}}"#,
            "is a `PartialObjectMetadata`",
        ),
        (
            r#"{"apiVersion":"resource.k8s.io/v1beta1","metadata":{"namespace":"default","name":"a"}}"#,
            "is an object of `resource.k8s.io/v1beta1`",
        ),
        (good, "the list has `ResourceClaim/default/good` more than once"),
        (
            r#"{"metadata":{"name":"good","namespace":"default","uid":"other"}}"#,
            "the list has `ResourceClaim/default/good` more than once",
        ),
    ] {
        for in_pages in [false, true] {
            let (address, _) = serve(move |path, _| {
                let (items, more) = match (in_pages, path.ends_with("continue=next")) {
                    (false, _) => (format!("{good},{item}"), ""),
                    (true, false) => (good.to_owned(), r#","continue":"next""#),
                    (true, true) => (item.to_owned(), ""),
                };
                json(&format!(
                    r#"{{"kind":"ResourceClaimList","metadata":{{"resourceVersion":"7"{more}}},"items":[{items}]}}"#
                ))
            });
            let loaded = load(&address, &claims().in_namespace("default")).unwrap();
            let gaps = &loaded.cluster.environment().gaps;
            let is_told = |gap: &Gap| gap.hides(Kind::ResourceClaim, "default") && gap.reason.contains(why);
            assert!(gaps.iter().any(is_told), "{item}: {gaps:?}");
        }
    }
}

#[test]
fn an_object_that_was_not_asked_for_is_no_answer() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let key = Key::new("default", "a");
    let asked = r#""apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim""#;
    let named = r#""metadata":{"namespace":"default","name":"a"}"#;
    for (answer, why) in [
        (
            format!(r#"{{{asked},"metadata":{{"namespace":"default","name":"b"}}}}"#),
            "the response is the object `default/b`",
        ),
        (
            format!(r#"{{{asked},"metadata":{{"namespace":"other","name":"a"}}}}"#),
            "the response is the object `other/a`",
        ),
        (
            format!(r#"{{{asked},"metadata":{{"name":"a"}}}}"#),
            "the response is the object `a`",
        ),
        (format!("{{{asked}}}"), "no name"),
        (
            format!(r#"{{"apiVersion":"v1","kind":"ConfigMap",{named}}}"#),
            "the response is a `ConfigMap` of `v1`",
        ),
        (
            format!(r#"{{"apiVersion":"resource.k8s.io/v1beta1","kind":"ResourceClaim",{named}}}"#),
            "the response is a `ResourceClaim` of `resource.k8s.io/v1beta1`",
        ),
        (format!("{{{named}}}"), "the response has no `kind`"),
    ] {
        let (address, _) = serve({
            let answer = answer.clone();
            move |_, _| json(&answer)
        });
        let patch = ClaimPatch::release(&Claim::default());
        let (again, manifest, patched) = runtime.block_on(async {
            let live = connect(&address).await.unwrap();
            let wanted = BTreeSet::from([(Kind::ResourceClaim, key.clone())]);
            (
                live.read_again(wanted).await.unwrap(),
                live.manifest(Kind::ResourceClaim, &key).await,
                live.patch_claim(&key, &patch, false).await,
            )
        });
        assert_eq!(again.changes.len(), 0, "{answer}");
        assert!(
            again.unread.contains(&(Kind::ResourceClaim, key.clone())),
            "{answer}"
        );
        assert!(
            again.warnings[0].starts_with("cannot read ResourceClaim/a again: "),
            "{:?}",
            again.warnings
        );
        assert!(again.warnings[0].contains(why), "{answer}: {:?}", again.warnings);
        for error in [manifest.unwrap_err(), patched.unwrap_err()] {
            assert!(error.to_string().contains(why), "{answer}: {error}");
        }
    }
}

#[test]
fn a_page_of_html_is_no_api_server() {
    let (address, _) = serve(|_, _| Reply::Answer(200, "", "<html>Log in</html>".to_owned()));
    let error = load(&address, &claims()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("does not respond like a Kubernetes API server"),
        "{error}"
    );
    let (address, _) = serve(|_, _| Reply::Answer(502, "", "<html>Bad gateway</html>".to_owned()));
    let loaded = load(&address, &claims()).unwrap();
    assert!(
        gap_of(&loaded).ends_with(": 502 Bad Gateway"),
        "{}",
        gap_of(&loaded)
    );
}

#[test]
fn where_only_a_namespace_may_be_read_it_is_and_the_rest_is_a_gap() {
    let (address, _) = serve(|path, _| {
        if path.contains("/namespaces/default/") {
            json(CLAIMS)
        } else {
            refusal(
                403,
                "",
                "resourceclaims.resource.k8s.io is forbidden: User \\\"alice\\\" cannot list resource",
            )
        }
    });
    let loaded = load(&address, &claims().at_least_in(Some("default"))).unwrap();
    assert_eq!(loaded.cluster.count(Kind::ResourceClaim), 1);
    assert_eq!(
        gap_of(&loaded),
        "user `alice` needs a ClusterRole to list resourceclaims.resource.k8s.io"
    );
    assert!(loaded.cluster.gap(Kind::ResourceClaim, "default").is_none());
}

/// One event of a watch.
fn event(type_: &str, name: &str, version: u32) -> String {
    format!(
        "{{\"type\":\"{type_}\",\"object\":{{\"metadata\":{{\"namespace\":\"default\",\"name\":\"{name}\",\
         \"resourceVersion\":\"{version}\"}}}}}}\n"
    )
}

/// The first `count` things that a watch of claims tells after a load, and how it ended if it did.
fn watched(address: &str, persistence: Persistence, count: usize) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let live = connect(address).await.unwrap();
        let needs = claims();
        let read_at = "2026-11-21T00:00:00Z".parse().unwrap();
        let loaded = live
            .load(&needs, &VersionSettings::default(), read_at, Arc::new(Unobserved))
            .await
            .unwrap();
        let mut watch = live
            .watch(&needs, &loaded.cluster, &loaded.resource_versions, persistence)
            .await
            .unwrap();
        let mut told = Vec::new();
        while told.len() < count {
            match watch.next(Duration::ZERO).await {
                Ok(Watched::Changes(changes)) => {
                    told.extend(changes.into_iter().map(|change| match change {
                        Change::Put(object) => format!("put {}", object.metadata().name),
                        Change::Delete(_, key) => format!("delete {}", key.name),
                    }));
                }
                Ok(Watched::Unreadable(object)) => {
                    told.push(format!("unreadable {}", object.name.unwrap_or_default()));
                }
                Ok(Watched::Newer(fields)) => told.extend(fields.warnings()),
                Ok(Watched::Trouble(trouble)) => {
                    let refused = if trouble.refused { "refused" } else { "trouble" };
                    told.push(format!("{refused}: {}", trouble.message));
                }
                Ok(Watched::InStep(kind)) => told.push(format!("in step: {kind}")),
                Err(error) => {
                    told.push(format!("end: {error}"));
                    break;
                }
            }
        }
        told
    })
}

#[test]
fn a_watch_resumes_where_it_was_cut_and_lists_again_when_its_version_expired() {
    let lists = AtomicUsize::new(0);
    let (address, log) = serve(move |path, _| match path.rsplit_once("resourceVersion=") {
        Some((_, "7")) => Reply::Cut(event("ADDED", "b", 8) + r#"{"type":"MODI"#),
        Some((_, "8")) => Reply::Cut(event("DELETED", "a", 9)),
        Some((_, "9")) => {
            let status = r#"{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}"#;
            Reply::Cut(format!("{status}\n"))
        }
        Some(_) => Reply::Silence,
        // The first list, and the one after the version is gone.
        None if lists.fetch_add(1, Ordering::Relaxed) == 0 => json(CLAIMS),
        None => json(
            r#"{"kind":"ResourceClaimList","metadata":{"resourceVersion":"20"},"items":[
                {"metadata":{"namespace":"default","name":"c","resourceVersion":"15"}}]}"#,
        ),
    });
    assert_eq!(
        watched(&address, Persistence::UntilRefused, 5),
        ["in step: ResourceClaim", "put b", "delete a", "put c", "delete b"],
        "{:?}",
        log.lock().unwrap()
    );
}

#[test]
fn fields_that_the_release_lacks_are_not_read_from_a_watch_either() {
    let object = |version: u32, more: &str| {
        event("MODIFIED", "a", version).replace(
            r#""}}}"#,
            &format!(r#""}},"spec":{{"devices":{{"requests":[{more}]}}}}}}}}"#),
        )
    };
    let derived = r#"{"name":"r","exactly":{"derivedAttributes":[{"name":"d/a","expression":"1"}]}}"#;
    let (address, _) = serve_all(
        move |path, _| match (path, path.rsplit_once("resourceVersion=")) {
            ("/version", _) => json(&VERSION.replace("37", "36")),
            ("/apis", _) => json(APIS),
            (_, Some((_, "7"))) => Reply::Cut(object(8, "") + &object(9, derived) + &object(10, derived)),
            (_, Some(_)) => Reply::Silence,
            (_, None) => json(CLAIMS),
        },
    );
    assert_eq!(
        watched(&address, Persistence::UntilRefused, 5),
        [
            "in step: ResourceClaim",
            "`ResourceClaim/default/a`: ignoring spec.devices.requests[].exactly.derivedAttributes, which \
            exists since Kubernetes 1.37: API servers of 1.36 drop it (1 more like it)",
            "put a",
            "put a",
            "put a"
        ]
    );
}

/// Rights come and go, and a server that starts knows neither its users nor what it serves. Nothing of that means that objects are gone.
#[test]
fn a_watch_that_lasts_survives_every_refusal_and_any_other_ends_with_it() {
    let refusals = [
        (403, "resourceclaims is forbidden"),
        (404, "the server could not find the requested resource"),
        (401, "Unauthorized"),
        (503, "starting"),
    ];
    let asked = Arc::new(AtomicUsize::new(0));
    let script = move |path: &str, before: usize| {
        let is_first_list = !path.contains("resourceVersion=") && before == 0;
        if is_first_list {
            return json(CLAIMS);
        }
        match refusals.get(asked.fetch_add(1, Ordering::Relaxed)) {
            Some((code, message)) => refusal(*code, "", message),
            None if path.contains("resourceVersion=") => Reply::Cut(event("ADDED", "b", 8)),
            None => json(CLAIMS),
        }
    };
    let (address, _) = serve(script.clone());
    let what = "resourceclaims.resource.k8s.io";
    assert_eq!(
        watched(&address, Persistence::Lasting, 5),
        [
            format!("refused: cannot watch {what}: resourceclaims is forbidden"),
            format!("refused: cannot list {what}: the server could not find the requested resource"),
            format!("refused: the API server `{address}` rejected the credentials: Unauthorized"),
            // The list is requested again automatically when the server is starting.
            "in step: ResourceClaim".to_owned(),
            "put b".to_owned(),
        ]
    );
    for (code, message) in refusals.into_iter().take(3) {
        let (address, _) = serve(move |path, _| {
            if path.contains("resourceVersion=") {
                refusal(code, "", message)
            } else {
                json(CLAIMS)
            }
        });
        let told = watched(&address, Persistence::UntilRefused, 2);
        assert!(
            told.len() == 1 && told[0].starts_with("end: ") && told[0].ends_with(message),
            "{told:?}"
        );
    }
}

#[test]
fn credentials_that_stay_refused_end_the_watch() {
    let (address, _) = serve(|path, _| {
        if path.contains("resourceVersion=") {
            refusal(401, "", "Unauthorized")
        } else {
            json(CLAIMS)
        }
    });
    // The list that follows a refusal is granted, and so the time begins anew.
    let told = watched(&address, Persistence::Lasting, 1);
    assert!(told[0].starts_with("refused: "), "{told:?}");

    let (address, _) = serve(|path, before| match (path.contains("resourceVersion="), before) {
        (false, 0) => json(CLAIMS),
        _ => refusal(401, "", "Unauthorized"),
    });
    let told = watched(&address, Persistence::Lasting, 5);
    assert_eq!(told.len(), 2, "the same trouble is told once: {told:?}");
    assert!(told[0].starts_with("refused: "), "{told:?}");
    assert!(
        told[1].ends_with("rejected the credentials: Unauthorized"),
        "{told:?}"
    );
    assert!(told[1].starts_with("end: "), "{told:?}");
}

#[test]
fn a_lasting_watch_that_is_silent_for_too_long_is_given_up_for_another() {
    let (address, _) = serve(
        |path, before| match (path.rsplit_once("resourceVersion="), before) {
            (None, _) => json(CLAIMS),
            (Some((_, "7")), 0) => Reply::Stall(event("ADDED", "b", 8)),
            (Some((_, "8")), 0) => Reply::Silence,
            _ => Reply::Cut(event("ADDED", "c", 9)),
        },
    );
    let silence = "trouble: cannot watch resourceclaims.resource.k8s.io: no response for 1 s";
    assert_eq!(
        watched(&address, Persistence::Lasting, 5),
        [
            "in step: ResourceClaim",
            "put b",
            silence,
            "in step: ResourceClaim",
            "put c"
        ]
    );
}

#[test]
fn an_unreadable_object_is_reported_and_its_known_state_is_kept() {
    let broken = r#"{"metadata":{"namespace":"default","name":"a","resourceVersion":"8"},"spec":{"devices":{"requests":"all"}}}"#;
    let lists = AtomicUsize::new(0);
    let (address, _) = serve(move |path, _| match path.rsplit_once("resourceVersion=") {
        Some((_, "7")) => Reply::Cut(format!(
            "{{\"type\":\"MODIFIED\",\"object\":{broken}}}\n{{\"type\":\"ADDED\"}}\n{}",
            event("ADDED", "b", 9)
        )),
        Some((_, "9")) => refusal(410, "", "too old"),
        // What is deleted comes with the version of its deletion.
        Some((_, "20")) => {
            let deleted = broken.replace(r#""resourceVersion":"8""#, r#""resourceVersion":"21""#);
            Reply::Cut(format!("{{\"type\":\"DELETED\",\"object\":{deleted}}}\n"))
        }
        Some(_) => Reply::Silence,
        None if lists.fetch_add(1, Ordering::Relaxed) == 0 => json(CLAIMS),
        None => json(&format!(
            r#"{{"kind":"ResourceClaimList","metadata":{{"resourceVersion":"20"}},"items":[{broken}]}}"#
        )),
    });
    assert_eq!(
        watched(&address, Persistence::Lasting, 9),
        [
            "in step: ResourceClaim",
            "put b",
            "unreadable ResourceClaim/default/a",
            "unreadable ",
            "trouble: resourceclaims.resource.k8s.io are out of date: `ResourceClaim/default/a`: \
             spec.devices.requests: must be a list, not a string",
            // A new list, in which only `b` is missing.
            "delete b",
            "unreadable ResourceClaim/default/a",
            // However broken it is, it is gone.
            "delete a",
            "in step: ResourceClaim",
        ]
    );
}

#[test]
fn a_watch_without_complete_events_is_given_up_and_believed_once_it_has_one() {
    for persistence in [Persistence::Lasting, Persistence::UntilRefused] {
        for begin in ["\n", r#"{"type":"ADDED","object":{"#] {
            let (address, _) =
                serve(
                    move |path, before| match (path.rsplit_once("resourceVersion="), before) {
                        (None, _) => json(CLAIMS),
                        (Some(_), 0 | 1) => Reply::Blanks(begin.to_owned()),
                        _ => Reply::Stall(event("ADDED", "b", 8)),
                    },
                );
            let noise = "trouble: cannot watch resourceclaims.resource.k8s.io: `ADDRESS` does not respond like a \
                         Kubernetes API server (it sends data, but no complete event)";
            let told = watched(&address, persistence, 4).into_iter();
            let told: Vec<String> = told.map(|line| line.replace(&address, "ADDRESS")).collect();
            let expected = ["in step: ResourceClaim", noise, "in step: ResourceClaim", "put b"];
            assert_eq!(told, expected, "{begin}");
        }
    }
}

#[test]
fn an_event_that_cannot_be_read_is_trouble_until_the_object_can_be_read() {
    let named = r#""metadata":{"namespace":"default","name":"a","resourceVersion":"8"}"#;
    for (object, name, why) in [
        (
            format!(r#"{{{named},"status":[]}}"#),
            "default/a",
            "status: must be an object, not a list",
        ),
        (
            format!(r#"{{"apiVersion":"v1","kind":"ConfigMap",{named}}}"#),
            "default/a",
            "is a `ConfigMap`",
        ),
        (
            format!(r#"{{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata",{named}}}"#),
            "default/a",
            "is a `PartialObjectMetadata`",
        ),
        (
            r#"{"metadata":{"name":"a","resourceVersion":"8"}}"#.to_owned(),
            "a",
            "has no namespace",
        ),
    ] {
        let changed = format!("{{\"type\":\"MODIFIED\",\"object\":{object}}}\n");
        let readable = listing(&["a"], "").replace(r#""7""#, r#""9""#);
        let readable = readable.replace(r#""name":"a""#, r#""name":"a","resourceVersion":"9""#);
        let (address, _) = serve(
            move |path, before| match (path.rsplit_once("resourceVersion="), before) {
                (None, 0) => json(CLAIMS),
                (None, _) => json(&readable),
                (Some((_, "7")), _) => Reply::Cut(changed.clone()),
                _ => Reply::Stall(event("ADDED", "b", 10)),
            },
        );
        let trouble =
            format!("trouble: resourceclaims.resource.k8s.io are out of date: `ResourceClaim/{name}`: {why}");
        assert_eq!(
            watched(&address, Persistence::Lasting, 6),
            [
                "in step: ResourceClaim",
                &format!("unreadable ResourceClaim/{name}"),
                &trouble,
                "put a",
                "in step: ResourceClaim",
                "put b",
            ]
        );
    }
}

/// A watch that delivers nothing is reported once, and everything is listed again.
#[test]
fn watches_that_show_nothing_are_trouble_and_everything_is_listed() {
    type Watched = Box<dyn Fn() -> Reply + Send + Sync>;
    let cut = |text: &str| {
        let text = text.to_owned();
        move || Reply::Cut(text.clone())
    };
    let ends = "trouble: cannot watch resourceclaims.resource.k8s.io: the API server closes each watch before it reports a change";
    let cases: Vec<(&str, Watched)> = vec![
        (ends, Box::new(cut("{\"type\":\"ADDED\",\"obj"))),
        // What the bookmark proves ends where the event that follows is cut.
        (
            ends,
            Box::new(cut(
                "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"7\"}}}\n{\"type\":\"ADDED\",\"obj",
            )),
        ),
        (ends, Box::new(|| Reply::Answer(200, "", String::new()))),
        (ends, Box::new(|| refusal(410, "", "too old"))),
        (
            ends,
            Box::new(cut("{\"type\":\"ERROR\",\"object\":{\"code\":410}}\n")),
        ),
        ("trouble: watch resourceclaims", Box::new(cut("<html></html>"))),
        (
            "trouble: watch resourceclaims",
            Box::new(cut(
                "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"6\"}}}\n",
            )),
        ),
        (
            "trouble: watch resourceclaims",
            Box::new(cut(&event("ADDED", "b", 6))),
        ),
    ];
    for (expected, reply) in cases {
        let lists = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&lists);
        let (address, _) = serve(move |path, _| {
            if path.contains("watch=true") {
                // Once it is listed often enough the server is well.
                return match counted.load(Ordering::Relaxed) {
                    0..4 => reply(),
                    _ => Reply::Stall(event("ADDED", "well", 9)),
                };
            }
            counted.fetch_add(1, Ordering::Relaxed);
            json(CLAIMS)
        });
        let told = watched(&address, Persistence::Lasting, 4);
        let well = told.iter().position(|told| told == "put well");
        let well = well.unwrap_or_else(|| panic!("{expected}: {told:?}"));
        assert_eq!(told[well - 1], "in step: ResourceClaim", "{told:?}");
        let mut before = told[..well - 1]
            .iter()
            .filter(|told| *told != "in step: ResourceClaim");
        let trouble = before.next().unwrap_or_else(|| panic!("{expected}: {told:?}"));
        assert_eq!(before.next(), None, "{told:?}");
        assert!(
            trouble.starts_with("trouble: ") && trouble.contains("watch resourceclaims"),
            "{told:?}"
        );
        assert_eq!(trouble == ends, expected == ends, "{told:?}");
        assert!(lists.load(Ordering::Relaxed) >= 4);
    }
}

/// A list of claims with these names; `more` is what else its metadata says.
fn listing(names: &[&str], more: &str) -> String {
    let items = names
        .iter()
        .map(|name| format!(r#"{{"metadata":{{"namespace":"default","name":"{name}"}}}}"#));
    let items = items.collect::<Vec<_>>().join(",");
    format!(
        r#"{{"kind":"ResourceClaimList","apiVersion":"resource.k8s.io/v1","metadata":{{"resourceVersion":"7"{more}}},"items":[{items}]}}"#
    )
}

#[test]
fn pages_are_followed_to_the_last_one() {
    for forgets in [false, true] {
        let (address, log) = serve(move |path, before| match path.split_once("?continue=") {
            None => json(&listing(&["a"], r#","continue":"x y/&","remainingItemCount":2"#)),
            // What the server forgot begins anew.
            Some((_, "x%20y%2F%26")) if forgets && before == 0 => {
                refusal(410, "", "the provided continue parameter is too old")
            }
            Some((_, "x%20y%2F%26")) => json(&listing(&[], r#","continue":"z""#).replace(r#""7""#, r#""8""#)),
            Some((_, "z")) => json(&listing(&["b", "c"], "")),
            Some(_) => refusal(400, "", "no such page"),
        });
        let loaded = load(&address, &claims()).unwrap();
        assert_eq!(loaded.cluster.count(Kind::ResourceClaim), 3);
        assert!(loaded.cluster.gap(Kind::ResourceClaim, "").is_none());
        assert_eq!(loaded.resource_versions[&Kind::ResourceClaim], "7");
        let asked = log
            .lock()
            .unwrap()
            .iter()
            .filter(|path| path.contains("resourceclaims"))
            .count();
        assert_eq!(asked, if forgets { 5 } else { 3 });
    }
}

#[test]
fn pages_without_end_are_no_answer() {
    let count = AtomicUsize::new(0);
    let new_token = move || format!(r#","continue":"t{}""#, count.fetch_add(1, Ordering::Relaxed));
    let scripts: [Box<dyn Fn() -> String + Send + Sync>; 2] = [
        Box::new(|| listing(&["a"], r#","continue":"again""#)),
        Box::new(move || listing(&[], &new_token())),
    ];
    for script in scripts {
        let (address, _) = serve(move |_, _| json(&script()));
        let error = load(&address, &claims()).unwrap_err().to_string();
        assert!(error.ends_with("(its pages form a loop)"), "{error}");
    }
    // A page that fails is a gap, as the whole list would be.
    let (address, _) = serve(|path, _| {
        if path.contains("continue=") {
            refusal(403, "", "no")
        } else {
            json(&listing(&["a"], r#","continue":"b""#))
        }
    });
    let loaded = load(&address, &claims()).unwrap();
    assert!(
        gap_of(&loaded).contains("you need a ClusterRole to list"),
        "{}",
        gap_of(&loaded)
    );
}

#[test]
fn what_a_list_says_that_it_lacks_is_a_gap() {
    // The last page ends before all are there that the first one announced.
    let (address, _) = serve(|path, _| {
        json(&if path.ends_with("continue=next") {
            listing(&["b"], "")
        } else {
            listing(&["a"], r#","continue":"next","remainingItemCount":3"#)
        })
    });
    let loaded = load(&address, &claims()).unwrap();
    assert_eq!(loaded.cluster.count(Kind::ResourceClaim), 2);
    assert_eq!(
        gap_of(&loaded),
        "the list lacks 2 of its items, and has no continue token"
    );
    let (address, _) = serve(|path, _| {
        if path.contains("watch=true") {
            Reply::Silence
        } else {
            json(&listing(&["a"], r#","remainingItemCount":2"#))
        }
    });
    let loaded = load(&address, &claims()).unwrap();
    assert_eq!(loaded.cluster.count(Kind::ResourceClaim), 1);
    assert_eq!(
        gap_of(&loaded),
        "the list lacks 2 of its items, and has no continue token"
    );
    // Nothing is watched from there.
    let told = watched(&address, Persistence::Lasting, 1);
    assert!(
        told[0].starts_with("trouble: ") && told[0].contains("lacks 2 of its items"),
        "{told:?}"
    );
}

#[test]
fn what_is_no_whole_list_of_the_kind_is_no_answer() {
    let list = || listing(&["a"], "");
    let bodies = [
        list().replace("ResourceClaimList", "ConfigMapList"),
        list().replace("ResourceClaimList", "PodList"),
        list().replace("ResourceClaimList", "ResourceClaim"),
        list().replace("ResourceClaimList", "List"),
        list().replace(r#""kind":"ResourceClaimList","#, ""),
        list().replace("resource.k8s.io/v1", "resource.k8s.io/v1beta1"),
        list().replace("resource.k8s.io/v1", "example.com/v1"),
        list().replace(
            r#","items":[{"metadata":{"namespace":"default","name":"a"}}]"#,
            "",
        ),
        list().replace(r#""items":["#, r#""items":{},"more":["#),
        // Go programs write an empty list so, and API servers never.
        listing(&[], "").replace("[]", "null"),
        list().replace(r#"{"resourceVersion":"7"}"#, "[]"),
        list().replace(r#""7""#, "7"),
        list().replace(r#""7""#, r#""7","continue":["b"]"#),
        list().replace(r#""kind":"#, r#""kind":"ResourceClaimList","kind":"#),
        list().repeat(2),
        r#"{"kind":"Status","status":"Success"}"#.to_owned(),
        r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[]}"#.to_owned(),
        "[]".to_owned(),
    ];
    for body in bodies {
        let seen = body.clone();
        let (address, _) = serve(move |_, _| json(&body));
        let error = load(&address, &claims()).unwrap_err();
        assert!(matches!(error, Error::Foreign { .. }), "{seen}: {error}");
    }
    for status in [201, 202, 203, 206, 226] {
        let (address, _) = serve(move |_, _| Reply::Answer(status, "", listing(&["a"], "")));
        let error = load(&address, &claims()).unwrap_err();
        assert!(matches!(error, Error::Foreign { .. }), "{status}: {error}");
    }
}

#[test]
fn an_item_that_is_no_object_of_the_list_is_not_read() {
    for item in [
        r#"{"metadata":{"namespace":"default","name":"a"},"status":[]}"#,
        r#"{"metadata":["a","default"]}"#,
        r#"{"kind":"Pod","metadata":{"namespace":"default","name":"a"}}"#,
        r#"{"metadata":{"namespace":"default","name":"a"},"kind":"ConfigMap"}"#,
        r#"{"metadata":{"namespace":"default","name":"a"},"apiVersion":"resource.k8s.io/v1beta1"}"#,
        r#"{"metadata":{"namespace":"default","name":"a"},"status":{"allocation":{"devices":{"results":[{"driver":"d","pool":"p"}]}}}}"#,
        "[]",
        "null",
    ] {
        let (address, _) = serve(move |_, _| {
            json(&listing(&["b"], "").replace(
                r#"{"metadata":{"namespace""#,
                &format!(r#"{item},{{"metadata":{{"namespace""#),
            ))
        });
        let loaded = load(&address, &claims()).unwrap();
        assert_eq!(loaded.cluster.count(Kind::ResourceClaim), 1, "{item}");
        assert!(
            gap_of(&loaded).starts_with("1 could not be read"),
            "{item}: {}",
            gap_of(&loaded)
        );
    }
}

#[test]
fn discovery_that_names_no_groups_or_resources_is_no_answer() {
    for (apis, resources) in [
        (r#"{"kind":"APIGroupDiscoveryList"}"#, ""),
        (r#"{"kind":"APIGroupList"}"#, ""),
        (r#"{"kind":"ConfigMapList","items":[]}"#, ""),
        (r#"{"kind":"APIGroupDiscoveryList","items":[[]]}"#, ""),
        ("[]", ""),
    ] {
        let address = serve_with_discovery(apis, resources);
        let error = load(&address, &claims()).unwrap_err();
        assert!(matches!(error, Error::Foreign { .. }), "{apis}: {error}");
    }
    let groups = r#"{"kind":"APIGroupList","groups":[{"name":"resource.k8s.io","versions":[{"groupVersion":"resource.k8s.io/v1","version":"v1"}]}]}"#;
    for (resources, count) in [
        (
            r#"{"kind":"APIResourceList","resources":[{"name":"resourceclaims"}]}"#,
            1,
        ),
        // It is tried all the same.
        (r#"{"kind":"APIResourceList"}"#, 1),
        (
            r#"{"kind":"APIResourceList","groupVersion":"foo/v1","resources":[]}"#,
            1,
        ),
        (r#"{"groupVersion":"resource.k8s.io/v1","resources":[]}"#, 1),
        (
            r#"{"kind":"APIGroupList","groupVersion":"resource.k8s.io/v1","resources":[]}"#,
            1,
        ),
        (
            r#"{"kind":"APIResourceList","groupVersion":"resource.k8s.io/v1","resources":[]}"#,
            0,
        ),
    ] {
        let address = serve_with_discovery(groups, resources);
        let loaded = load(&address, &claims()).unwrap();
        assert_eq!(loaded.cluster.count(Kind::ResourceClaim), count, "{resources}");
    }
}
