//! State left behind by a killed process, and its continuation.

#![expect(clippy::disallowed_methods, reason = "what was written is read")]

use std::io::Write as _;

use serde_json::json;

use super::*;

fn claim(name: &str, version: &str) -> Box<RawValue> {
    let claim = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"namespace": "n", "name": name, "uid": format!("u{name}"), "resourceVersion": version}});
    RawValue::from_string(claim.to_string()).expect("JSON")
}

fn write(name: &str) -> Write {
    Write {
        time: time(),
        action: WriteAction::Convert,
        namespace: "n".into(),
        name: name.into(),
        uid: format!("u{name}").into(),
        resource_version: "1".into(),
        before: serde_json::from_value(
            json!([{"resource": "podgroups", "name": "g", "uid": "ug", "since": 3}]),
        )
        .expect("a list"),
        after: Vec::new(),
        patch: Vec::new(),
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime")
}

fn head() -> Head {
    Head {
        server: "https://a".to_owned(),
        ..Head::default()
    }
}

fn choose(folder: &Path) -> Paths {
    Paths::choose(None, None, folder, &head()).expect("paths")
}

fn writes(path: &Path) -> Vec<Str> {
    let entries = read_journal(path).expect("a journal").into_iter();
    entries
        .filter_map(|entry| match entry {
            Entry::Write(write) => Some(write.name),
            _ => None,
        })
        .collect()
}

#[test]
fn what_was_cut_off_is_continued_and_what_ended_is_not() {
    let folder = tempfile::tempdir().expect("a directory");
    let first = choose(folder.path());
    let record = Record::open(first.clone(), &head()).expect("a record");
    runtime().block_on(record.write(write("a"))).expect("written");
    // Files of others are not touched.
    assert_ne!(choose(folder.path()).journal, first.journal);
    assert!(matches!(
        Record::open(first.clone(), &head()),
        Err(RecordError::Busy { .. })
    ));
    // Killed: no last line.
    drop(record);
    assert_eq!(choose(folder.path()).journal, first.journal);
    // Lists were brought back since.
    let back = Head {
        restore: true,
        ..head()
    };
    let restored = Paths::choose(None, None, folder.path(), &back).expect("paths");
    Record::open(restored.clone(), &back)
        .expect("a record")
        .close(true);
    assert_ne!(restored.journal, first.journal);
    assert_eq!(choose(folder.path()).journal, first.journal);
    let elsewhere = Head {
        server: "https://b".to_owned(),
        ..Head::default()
    };
    let other = Paths::choose(None, None, folder.path(), &elsewhere).expect("paths");
    assert_ne!(other.journal, first.journal);

    let record = Record::open(first.clone(), &head()).expect("a record");
    assert_eq!(record.earlier().len(), 1);
    record.close(true);
    assert_ne!(choose(folder.path()).journal, first.journal);
    assert_eq!(writes(&first.journal), ["a"]);
}

#[test]
fn a_torn_line_is_no_write_and_spoils_none() {
    let folder = tempfile::tempdir().expect("a directory");
    let paths = choose(folder.path());
    let record = Record::open(paths.clone(), &head()).expect("a record");
    runtime().block_on(record.write(write("a"))).expect("written");
    drop(record);
    let mut journal = OpenOptions::new()
        .append(true)
        .open(&paths.journal)
        .expect("the journal");
    journal
        .write_all(b"{\"event\":\"Write\",\"name\":\"b")
        .expect("written");
    assert_eq!(writes(&paths.journal), ["a"]);
    let record = Record::open(paths.clone(), &head()).expect("a record");
    runtime().block_on(record.write(write("c"))).expect("written");
    record.close(false);
    assert_eq!(writes(&paths.journal), ["a", "c"]);
}

#[test]
fn the_backup_keeps_what_was_there_first() {
    let folder = tempfile::tempdir().expect("a directory");
    let paths = choose(folder.path());
    let mut record = Record::open(paths.clone(), &head()).expect("a record");
    record.back_up(vec![claim("a", "1")]).expect("written");
    record
        .back_up(vec![claim("a", "2"), claim("b", "3")])
        .expect("written");
    drop(record);
    let mut record = Record::open(paths.clone(), &head()).expect("a record");
    record.back_up(vec![claim("b", "4")]).expect("written");
    drop(record);
    let kept: Vec<String> = read_backup(&paths.backup)
        .expect("a backup")
        .iter()
        .map(|claim| claim.get().to_owned())
        .collect();
    assert_eq!(
        kept,
        [claim("a", "1").get().to_owned(), claim("b", "3").get().to_owned()]
    );
    #[cfg(unix)]
    for path in [&paths.backup, &paths.journal] {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = path.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}", path.display());
    }
}

/// A disk that is full after so many bytes, once.
struct Full {
    bytes: Vec<u8>,
    room: Option<usize>,
}

impl io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = match &mut self.room {
            Some(0) => {
                self.room = None;
                return Err(io::ErrorKind::StorageFull.into());
            }
            Some(room) => {
                let taken = bytes.len().min(*room);
                *room -= taken;
                taken
            }
            None => bytes.len(),
        };
        self.bytes.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn nothing_follows_what_the_disk_had_no_room_for() {
    for room in [0, 3] {
        let mut journal = Full {
            bytes: b"whole\n".to_vec(),
            room: Some(room),
        };
        let whole = journal.bytes.len();
        let (lines, inbox) = mpsc::channel();
        std::thread::scope(|scope| {
            let journal = &mut journal;
            scope.spawn(move || keep(journal, |_| Ok(()), &inbox));
            let send = |text: &[u8], safe| {
                let text = text.to_vec();
                lines.send(Line { text, safe }).expect("the thread is there");
            };
            for text in ["first\n", "later\n"] {
                let (safe, done) = oneshot::channel();
                send(text.as_bytes(), Some(safe));
                let result = done.blocking_recv().expect("an answer");
                assert_eq!(result.expect_err("it is full").kind(), io::ErrorKind::StorageFull);
                send(b"note\n", None);
            }
            drop(lines);
        });
        assert_eq!(journal.bytes.len(), whole + room, "{:?}", journal.bytes);
    }
}

fn message(error: &RecordError) -> String {
    format!("{error}: {}", error.hint().expect("what to do"))
}

#[test]
fn files_of_others_stay_as_they_are() {
    let long = format!("{{\"event\":\"Start\",\"kind\":\"{}\"}}\n", "x".repeat(10_000));
    let contents: [&[u8]; 12] = [
        b"one line without a line feed",
        b"one line\n",
        b"two\nlines\n",
        b"\n",
        b" ",
        b"{}",
        b"{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[],\"metadata\":{}}",
        b"{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[{\"kind\":\"Pod\",\"metadata\":{\"uid\":\"u\"}}]}\n",
        b"{\"event\":\"Start\"}",
        b"{\"event\":\"Write\",\"time\":\"\"}\n",
        b"\0\xff\xfe\x1f\x8b",
        long.as_bytes(),
    ];
    for content in contents {
        for is_backup in [false, true] {
            let folder = tempfile::tempdir().expect("a directory");
            let paths = Paths {
                backup: folder.path().join("b"),
                journal: folder.path().join("j"),
            };
            let foreign = if is_backup { &paths.backup } else { &paths.journal };
            std::fs::write(foreign, content).expect("written");
            let error = Record::open(paths.clone(), &head()).expect_err("somebody's");
            assert!(matches!(error, RecordError::Foreign { .. }), "{error:?}");
            assert!(message(&error).contains(&foreign.display().to_string()));
            assert_eq!(std::fs::read(foreign).expect("there"), content);
            let files = folder.path().read_dir().expect("a directory").count();
            assert_eq!(files, 1, "nothing else is left");
        }
    }
    // The other way round: each is foreign in the place of the other.
    let folder = tempfile::tempdir().expect("a directory");
    let paths = choose(folder.path());
    let mut record = Record::open(paths.clone(), &head()).expect("a record");
    record.back_up(vec![claim("a", "1")]).expect("written");
    record.close(true);
    let swapped = Paths {
        backup: paths.journal.clone(),
        journal: paths.backup.clone(),
    };
    assert!(matches!(
        Record::open(swapped, &head()),
        Err(RecordError::Foreign { .. })
    ));
    let same = Paths {
        backup: paths.backup.clone(),
        journal: paths.backup,
    };
    assert!(matches!(
        Record::open(same, &head()),
        Err(RecordError::Same { .. })
    ));
}

#[test]
fn a_list_in_the_place_of_an_object_is_no_entry_of_a_journal() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("j");
    let begin = r#"{"event":"Start","time":"t","server":"https://a","final":false,"restore":false,"leaseHolders":{}}"#;
    let read = |line: &str| {
        std::fs::write(&path, format!("{begin}\n{line}\n")).expect("written");
        read_journal(&path)
    };
    let write = |before: &str, after: &str| {
        format!(
            r#"{{"event":"Write","time":"t","action":"Convert","namespace":"n","name":"c","uid":"u","resourceVersion":"1",
                "before":[{before}],"after":[{after}],"patch":[]}}"#
        )
        .replace('\n', "")
    };
    let entry = r#"{"resource":"pods","name":"p","uid":"u"}"#;
    assert_eq!(read(&write(entry, entry)).expect("a journal").len(), 2);
    let mut lists = Vec::new();
    for list in ["[]", "[null]", r#"["","pods","p","u"]"#, r#"["pods","p","u"]"#] {
        lists.extend([
            write(list, entry),
            write(entry, list),
            write(entry, &format!("{entry},{list}")),
        ]);
    }
    for whole in [
        r#"["Write","t","Convert","n","c","u","1",[],[],[]]"#,
        r#"["Write",{"time":"t","action":"Convert"}]"#,
        r#"["Result","t","u","version 8"]"#,
        r#"["End","t",true]"#,
        r#"["End"]"#,
        "[]",
        "null",
    ] {
        lists.push(whole.to_owned());
    }
    lists.push(begin.replace("{}", "[]"));
    for line in lists {
        let read = read(&line);
        assert!(
            matches!(read, Err(RecordError::Foreign { .. })),
            "{line}: {read:?}"
        );
    }
}

#[test]
fn empty_files_and_torn_first_lines_are_begun_anew() {
    for begin in [&b""[..], b"{\"event\":\"Start\",\"time\":\"2026-11-2"] {
        let folder = tempfile::tempdir().expect("a directory");
        let paths = Paths {
            backup: folder.path().join("b"),
            journal: folder.path().join("j"),
        };
        std::fs::write(&paths.backup, "").expect("written");
        std::fs::write(&paths.journal, begin).expect("written");
        let mut record = Record::open(paths.clone(), &head()).expect("a record");
        record.back_up(vec![claim("a", "1")]).expect("written");
        runtime().block_on(record.write(write("a"))).expect("written");
        record.close(true);
        assert_eq!(writes(&paths.journal), ["a"]);
        assert_eq!(read_backup(&paths.backup).expect("a backup").len(), 1);
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_refused() {
    let folder = tempfile::tempdir().expect("a directory");
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("directory")).expect("a directory");
    std::os::unix::fs::symlink("/dev/null", at("device")).expect("a link");
    std::os::unix::fs::symlink(at("nothing"), at("nowhere")).expect("a link");
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).expect("a socket");
    for path in [
        at("directory"),
        at("device"),
        at("nowhere"),
        at("socket"),
        "/dev/null".into(),
    ] {
        for paths in [
            Paths {
                backup: path.clone(),
                journal: at("j"),
            },
            Paths {
                backup: at("b"),
                journal: path.clone(),
            },
        ] {
            let error = Record::open(paths, &head()).expect_err("no file");
            assert!(matches!(error, RecordError::NoFile { .. }), "{error:?}");
            message(&error);
        }
        assert!(read_backup(&path).is_err() && read_journal(&path).is_err());
    }
}

#[cfg(unix)]
#[test]
fn links_lead_to_the_file_that_is_written_and_locked() {
    let folder = tempfile::tempdir().expect("a directory");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("real"), "").expect("written");
    std::os::unix::fs::symlink(at("real"), at("link")).expect("a link");
    let paths = |backup: &str, journal: &str| Paths {
        backup: at(backup),
        journal: at(journal),
    };
    let mut record = Record::open(paths("link", "j"), &head()).expect("a record");
    record.back_up(vec![claim("a", "1")]).expect("written");
    let error = Record::open(paths("real", "k"), &head()).expect_err("it is locked");
    assert!(matches!(error, RecordError::Busy { .. }), "{error:?}");
    record.close(true);
    assert!(at("link").is_symlink());
    assert_eq!(read_backup(&at("real")).expect("a backup").len(), 1);
}

#[test]
fn one_backup_belongs_to_one_conversion() {
    let folder = tempfile::tempdir().expect("a directory");
    let paths = |journal: &str| Paths {
        backup: folder.path().join("b"),
        journal: folder.path().join(journal),
    };
    let mut first = Record::open(paths("j"), &head()).expect("a record");
    let busy = |journal: &str| {
        let error = Record::open(paths(journal), &head()).expect_err("it is running");
        assert!(matches!(error, RecordError::Busy { .. }), "{error:?}");
        assert!(
            message(&error).contains("choose other files"),
            "{}",
            message(&error)
        );
        assert!(!paths("k").journal.exists());
    };
    busy("k");
    first.back_up(vec![claim("a", "1")]).expect("written");
    // Also after the file has been replaced.
    busy("k");
    assert!(matches!(
        hold(&paths("j").backup, &paths("j").journal),
        Err(RecordError::Busy { .. })
    ));
    drop(first);
    let mut second = Record::open(paths("k"), &head()).expect("a record");
    second.back_up(vec![claim("b", "1")]).expect("written");
    second.close(true);
    assert_eq!(read_backup(&paths("k").backup).expect("a backup").len(), 2);
    let held = hold(&paths("k").backup, &paths("k").journal).expect("no process writes");
    assert!(matches!(
        Record::open(paths("k"), &head()),
        Err(RecordError::Busy { .. })
    ));
    drop(held);
    let mut names: Vec<_> = folder
        .path()
        .read_dir()
        .expect("a directory")
        .map(|file| file.expect("a file").file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["b", "j", "k"], "no lock is left");
    // What a killed process leaves is a file without a lock.
    std::fs::write(folder.path().join(".b.lock"), "").expect("written");
    Record::open(paths("k"), &head()).expect("a record").close(true);
}

#[cfg(unix)]
#[test]
fn a_planted_link_is_not_followed() {
    let folder = tempfile::tempdir().expect("a directory");
    let at = |name: &str| folder.path().join(name);
    let victim = at("victim");
    std::fs::write(&victim, "precious").expect("written");
    // The name that the unfinished backup had, and that of the lock.
    for name in [format!(".b.{}", std::process::id()), ".b.lock".to_owned()] {
        std::os::unix::fs::symlink(&victim, at(&name)).expect("a link");
        let paths = Paths {
            backup: at("b"),
            journal: at("j"),
        };
        match Record::open(paths, &head()) {
            Ok(mut record) => record.back_up(vec![claim("a", "1")]).expect("written"),
            Err(error) => assert!(error.to_string().contains(".b.lock"), "{error}"),
        }
        assert_eq!(std::fs::read(&victim).expect("there"), b"precious");
        std::fs::remove_file(at(&name)).expect("removed");
    }
}

#[test]
fn a_journal_is_of_a_cluster_and_not_of_an_address() {
    let of = |server: &str, uid: Option<&str>| Head {
        server: server.to_owned(),
        cluster_uid: uid.map(Into::into),
        ..Head::default()
    };
    let folder = tempfile::tempdir().expect("a directory");
    let choose = |head: &Head| Paths::choose(None, None, folder.path(), head).expect("paths");
    let here = of("https://a", Some("one"));
    let paths = choose(&here);
    drop(Record::open(paths.clone(), &here).expect("a record"));
    for same in [
        of("https://a", Some("one")),
        of("https://proxy", Some("one")),
        of("https://a", None),
    ] {
        assert_eq!(choose(&same).journal, paths.journal, "{same:?}");
        drop(Record::open(paths.clone(), &same).expect("a record"));
    }
    for other in [of("https://a", Some("two")), of("https://b", Some("two"))] {
        assert_ne!(choose(&other).journal, paths.journal, "{other:?}");
        let before = std::fs::read(&paths.journal).expect("a journal");
        let error = Record::open(paths.clone(), &other).expect_err("it is of another cluster");
        assert!(matches!(error, RecordError::OtherCluster { .. }), "{error}");
        assert_eq!(std::fs::read(&paths.journal).expect("a journal"), before);
    }
    // Nothing is known of it but the address, which may be a proxy's.
    let elsewhere = of("https://b", None);
    assert_ne!(choose(&elsewhere).journal, paths.journal);
    drop(Record::open(paths, &elsewhere).expect("a record"));
}
