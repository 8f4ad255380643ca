//! What a killed process leaves behind, and what the next one makes of it.

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
        action: "Convert".to_owned(),
        namespace: "n".into(),
        name: name.into(),
        uid: format!("u{name}").into(),
        resource_version: "1".into(),
        before: vec![json!({"resource": "podgroups", "name": "g", "uid": "ug", "since": 3})],
        after: Vec::new(),
        patch: json!([]),
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
    let folder = tempfile::tempdir().expect("a folder");
    let first = choose(folder.path());
    let record = Record::open(first.clone(), &head()).expect("a record");
    runtime().block_on(record.write(write("a"))).expect("written");
    // Somebody else's is left alone.
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
    let folder = tempfile::tempdir().expect("a folder");
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
    let folder = tempfile::tempdir().expect("a folder");
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
