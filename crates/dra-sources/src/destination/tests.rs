//! Writing to files, links, pipes and unwritable targets.

use std::io::Read as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, chown, lchown, symlink};

use super::*;

fn save(path: &Path, text: &str) -> Result<(), DestinationError> {
    match Destination::of(path)? {
        Destination::File(file) => file.write(Readers::AsBefore, |out| out.write_all(text.as_bytes())),
        Destination::Stdout => panic!("{} is standard output", path.display()),
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

#[expect(clippy::disallowed_methods, reason = "a test looks at what was written")]
fn content(path: &Path) -> String {
    fs::read_to_string(path).expect("the file is there")
}

#[test]
fn a_new_file_is_for_its_owner_and_an_old_one_keeps_its_mode() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("a.json");
    let mode = || path.metadata().expect("metadata").permissions().mode() & 0o777;
    save(&path, "one").expect("written");
    assert_eq!((content(&path).as_str(), mode()), ("one", 0o600));
    for kept in [0o644, 0o640, 0o600, 0o755] {
        fs::set_permissions(&path, fs::Permissions::from_mode(kept)).expect("permissions");
        save(&path, "two").expect("written");
        assert_eq!((content(&path).as_str(), mode()), ("two", kept));
    }
    assert_eq!(names(folder.path()), ["a.json"]);
}

#[test]
fn an_old_file_keeps_its_owner_and_a_link_of_another_user_does_not_leave_a_shared_directory() {
    const SOMEBODY: u32 = 65_534;
    let folder = tempfile::tempdir().expect("a directory");
    let at = |name: &str| folder.path().join(name);
    fs::write(at("file"), "old").expect("a file");
    // Only an administrator may give files away.
    if chown(at("file"), Some(SOMEBODY), Some(SOMEBODY)).is_err() {
        return;
    }
    save(&at("file"), "new").expect("written");
    let metadata = at("file").metadata().expect("metadata");
    assert_eq!((metadata.uid(), metadata.gid()), (SOMEBODY, SOMEBODY));

    symlink("file", at("own")).expect("a link");
    symlink("file", at("foreign")).expect("a link");
    lchown(at("foreign"), Some(SOMEBODY), Some(SOMEBODY)).expect("given away");
    save(&at("foreign"), "in a folder of one's own").expect("written");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).expect("permissions");
    save(&at("own"), "by a link of one's own").expect("written");
    let error = save(&at("foreign"), "by a trap").expect_err("another user's link");
    assert!(error.to_string().contains("another user"), "{error}");
    assert_eq!(content(&at("file")), "by a link of one's own");
}

#[test]
fn a_failure_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("a.json");
    fs::write(&path, "old").expect("a file");
    let Destination::File(file) = Destination::of(&path).expect("a file") else {
        panic!("a file is no stream")
    };
    file.write(Readers::AsBefore, |out| {
        out.write_all(b"half")?;
        Err(io::ErrorKind::StorageFull.into())
    })
    .expect_err("the disk is full");
    assert_eq!(content(&path), "old");
    assert_eq!(names(folder.path()), ["a.json"]);
}

#[test]
fn links_are_followed_to_their_end() {
    let folder = tempfile::tempdir().expect("a directory");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("sub")).expect("a directory");
    fs::write(at("sub/file"), "old").expect("a file");
    symlink("sub/middle", at("chain")).expect("a link");
    symlink("file", at("sub/middle")).expect("a link");
    symlink("sub/new", at("dangling")).expect("a link");
    symlink(at("sub"), at("through")).expect("a link");
    save(&at("chain"), "by a chain").expect("written");
    assert_eq!(content(&at("sub/file")), "by a chain");
    save(&at("dangling"), "by a dangling one").expect("written");
    assert_eq!(content(&at("sub/new")), "by a dangling one");
    save(&at("through/file"), "by a folder").expect("written");
    assert_eq!(content(&at("sub/file")), "by a folder");
    for link in ["chain", "dangling", "sub/middle"] {
        assert!(at(link).is_symlink(), "{link} is still a link");
    }
    assert_eq!(names(&at("sub")), ["file", "middle", "new"]);
}

#[test]
fn what_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().expect("a directory");
    let at = |name: &str| folder.path().join(name);
    symlink("b", at("a")).expect("a link");
    symlink("a", at("b")).expect("a link");
    symlink(".", at("here")).expect("a link");
    symlink("there/", at("slash")).expect("a link");
    fs::write(at("file"), "").expect("a file");
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).expect("a socket");
    for (path, reason) in [
        (PathBuf::new(), "the name is empty"),
        (at("new/"), "it names a directory"),
        (at("new/."), "it names a directory"),
        (at(".."), "it names a directory"),
        (at("slash"), "it names a directory"),
        (at("here"), "it names a directory"),
        (folder.path().to_owned(), "it is a directory"),
        (at("a"), "its links form a loop"),
        (at("socket"), "it is a socket"),
    ] {
        let error = save(&path, "x").expect_err("it cannot be written");
        assert!(error.to_string().ends_with(reason), "{}: {error}", path.display());
        assert!(matches!(error, DestinationError::Unusable { .. }), "{error:?}");
    }
    for path in [at("missing/a"), at("file/a"), PathBuf::from("/proc/self/a")] {
        let error = save(&path, "x").expect_err("it cannot be written");
        assert!(!matches!(error, DestinationError::Unusable { .. }), "{error:?}");
    }
    assert_eq!(
        names(folder.path()),
        ["a", "b", "file", "here", "slash", "socket"]
    );
}

#[test]
fn a_pipe_is_written_through() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &path,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .expect("a pipe");
    let reader = {
        let path = path.clone();
        std::thread::spawn(move || {
            let mut text = String::new();
            File::open(path)
                .and_then(|mut pipe| pipe.read_to_string(&mut text))
                .map(|_| text)
        })
    };
    let long = "x".repeat(1 << 20);
    save(&path, &long).expect("written");
    assert_eq!(reader.join().expect("no panic").expect("read"), long);
    assert!(path.metadata().expect("metadata").file_type().is_fifo());
}

#[test]
fn one_file_is_known_by_all_its_names() {
    let folder = tempfile::tempdir().expect("a directory");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("sub")).expect("a directory");
    fs::write(at("file"), "").expect("a file");
    fs::write(at("other"), "").expect("a file");
    symlink("file", at("link")).expect("a link");
    symlink("new", at("dangling")).expect("a link");
    fs::hard_link(at("file"), at("hard")).expect("a link");
    let of = |name: &str| FileIdentity::of(&at(name));
    for name in ["./file", "sub/../file", "link", "hard"] {
        assert_eq!(of(name), of("file"), "{name}");
    }
    assert_ne!(of("other"), of("file"));
    for name in ["./new", "dangling", "sub/../new"] {
        assert_eq!(of(name), of("new"), "{name}");
    }
    assert_ne!(of("newer"), of("new"));
    assert_eq!(FileIdentity::of(Path::new("/dev/null")), None);
}
