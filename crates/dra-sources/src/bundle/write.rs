//! Writing a snapshot: each list into a part of its own while it arrives, then all parts behind each other.
//!
//! The parts are temporary files without a name, so nothing is left behind whatever happens, and 200,000 objects never
//! sit in memory. Each part is compressed separately: gzip members and zstd frames may follow each other in one file.

use std::fs::File;
use std::io::{self, BufWriter, Seek as _, Write};
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;

use super::info::{ListInfo, SnapshotInfo};
use super::redact::Redaction;
use crate::destination::{Destination, DestinationError, NamedFile, Readers};
use dra_model::Kind;

/// Compression of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

impl Compression {
    /// As the extension of `path` says.
    pub fn of(path: &Path) -> Self {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some(extension) if extension.eq_ignore_ascii_case("gz") => Self::Gzip,
            Some(extension) if extension.eq_ignore_ascii_case("zst") => Self::Zstd,
            _ => Self::None,
        }
    }

    /// As the name says that the user gave the file, else the name that links lead to; none on standard output.
    pub fn of_destination(destination: &Destination) -> Self {
        let Destination::File(file) = destination else {
            return Self::None;
        };
        match Self::of(file.named()) {
            Self::None => Self::of(file.path()),
            named => named,
        }
    }
}

/// The reason why a snapshot could not be written.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The cluster could not be read.
    #[error(transparent)]
    Cluster(#[from] crate::live::Error),
    /// The file could not be written.
    #[error(transparent)]
    File(#[from] DestinationError),
    /// No temporary file could be written.
    #[error("cannot write a temporary file in `{}`", directory.display())]
    Temporary {
        /// Directory.
        directory: PathBuf,
        /// The reason why not.
        source: io::Error,
    },
}

impl SnapshotError {
    /// Returns what the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Cluster(error) => error.hint(),
            Self::File(error) => error.hint(),
            Self::Temporary { .. } => {
                Some("temporary files are created next to the --out file, or in TMPDIR".to_owned())
            }
        }
    }
}

/// An encoder over a file.
enum Encoder<W: Write> {
    None(BufWriter<W>),
    Gzip(GzEncoder<BufWriter<W>>),
    Zstd(zstd::stream::write::Encoder<'static, BufWriter<W>>),
}

impl<W: Write> Encoder<W> {
    fn new(out: W, compression: Compression) -> io::Result<Self> {
        let out = BufWriter::with_capacity(1 << 16, out);
        Ok(match compression {
            Compression::None => Self::None(out),
            // The fastest levels that are worth it: a cluster's objects repeat themselves.
            Compression::Gzip => Self::Gzip(GzEncoder::new(out, flate2::Compression::new(4))),
            Compression::Zstd => Self::Zstd(zstd::stream::write::Encoder::new(out, 3)?),
        })
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::None(out) => out.write_all(bytes),
            Self::Gzip(encoder) => encoder.write_all(bytes),
            Self::Zstd(encoder) => encoder.write_all(bytes),
        }
    }

    fn finish(self) -> io::Result<W> {
        let out = match self {
            Self::None(out) => out,
            Self::Gzip(encoder) => encoder.finish()?,
            Self::Zstd(encoder) => encoder.finish()?,
        };
        out.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

/// The items of one list, on their way into a snapshot.
pub(crate) struct Part {
    kind: Kind,
    api_version: String,
    redaction: Redaction,
    encoder: io::Result<Encoder<File>>,
    line: Vec<u8>,
    count: u64,
    /// Items that are not objects and were left out.
    pub(crate) broken: u64,
}

impl Part {
    /// A part whose temporary file lies in `directory`. Errors show when the part is finished.
    pub(crate) fn new(
        kind: Kind,
        api_version: String,
        redaction: Redaction,
        directory: &Path,
        compression: Compression,
    ) -> Self {
        let encoder = tempfile::tempfile_in(directory).and_then(|file| Encoder::new(file, compression));
        Self {
            kind,
            api_version,
            redaction,
            encoder,
            line: Vec::new(),
            count: 0,
            broken: 0,
        }
    }

    /// Takes one item.
    pub(crate) fn add(&mut self, json: &[u8]) {
        let Ok(encoder) = &mut self.encoder else { return };
        self.line.clear();
        // The first item of a snapshot is its info, so each of these follows another.
        self.line.extend_from_slice(b",\n");
        if self
            .redaction
            .write(self.kind, &self.api_version, json, &mut self.line)
            .is_err()
        {
            self.broken += 1;
            return;
        }
        self.count += 1;
        if let Err(error) = encoder.write_all(&self.line) {
            self.encoder = Err(error);
        }
    }

    /// Returns what was written, for the info.
    pub(crate) fn info(&self, resource_version: String) -> ListInfo {
        ListInfo {
            api_version: self.api_version.clone(),
            kind: self.kind.name().to_owned(),
            resource_version,
            count: self.count,
        }
    }
}

/// Appends an owner, of this version and kind, to the further items of a snapshot. What is no object is no owner.
pub(crate) fn add_owner(
    redaction: Redaction,
    version_and_kind: (&str, &str),
    json: &[u8],
    items: &mut Vec<u8>,
) {
    let begin = items.len();
    items.extend_from_slice(b",\n");
    if redaction.write_owner(version_and_kind, json, items).is_err() {
        items.truncate(begin);
    }
}

/// A snapshot that was taken and is to be written.
#[derive(Debug)]
pub struct Snapshot {
    info: SnapshotInfo,
    /// Everything, in order.
    pieces: Vec<File>,
}

impl Snapshot {
    /// Puts what stands before and behind the parts around them, and further items, each with a comma before it, behind them. All have the
    /// same compression and directory.
    pub(crate) fn new(
        info: SnapshotInfo,
        parts: Vec<Part>,
        further: &[u8],
        directory: &Path,
        compression: Compression,
    ) -> Result<Self, SnapshotError> {
        let encode = |bytes: &[u8]| -> io::Result<File> {
            let mut encoder = Encoder::new(tempfile::tempfile_in(directory)?, compression)?;
            encoder.write_all(bytes)?;
            encoder.finish()
        };
        let pieces = || -> io::Result<Vec<File>> {
            let mut head = br#"{"apiVersion":"v1","items":["#.to_vec();
            head.push(b'\n');
            serde_json::to_writer(&mut head, &info)?;
            let mut pieces = vec![encode(&head)?];
            for part in parts {
                pieces.push(part.encoder.and_then(Encoder::finish)?);
            }
            pieces.push(encode(further)?);
            // The kind is last, as in kubectl: a reader that converts this to YAML notices a truncated text.
            pieces.push(encode(b"\n],\"kind\":\"List\",\"metadata\":{}}\n")?);
            Ok(pieces)
        };
        let pieces = pieces().map_err(|source| SnapshotError::Temporary {
            directory: directory.to_owned(),
            source,
        })?;
        Ok(Self { info, pieces })
    }

    /// Returns what the snapshot says of itself.
    pub fn info(&self) -> &SnapshotInfo {
        &self.info
    }

    /// Copies the snapshot to `out`.
    ///
    /// # Errors
    /// When `out` takes no more.
    pub fn copy_to(&mut self, out: &mut dyn Write) -> io::Result<()> {
        for piece in &mut self.pieces {
            piece.rewind()?;
            io::copy(piece, out)?;
        }
        Ok(())
    }

    /// Writes the snapshot into `file`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(mut self, file: &NamedFile, readers: Readers) -> Result<(), SnapshotError> {
        Ok(file.write(readers, |out| self.copy_to(out))?)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;
    use crate::destination::Destination;

    fn file(path: &Path) -> NamedFile {
        match Destination::of(path).unwrap() {
            Destination::File(file) => file,
            Destination::Stdout => panic!("{} is standard output", path.display()),
        }
    }

    fn write(path: &Path, redaction: Redaction) {
        let compression = Compression::of(path);
        let directory = path.parent().unwrap();
        let mut pods = Part::new(Kind::Pod, "v1".into(), redaction, directory, compression);
        pods.add(br#"{"metadata":{"name":"a"}}"#);
        pods.add(b"[]");
        pods.add(br#"{"metadata":{"name":"b"}}"#);
        assert_eq!((pods.info(String::new()).count, pods.broken), (2, 1));
        let nodes = Part::new(Kind::Node, "v1".into(), redaction, directory, compression);
        let snapshot = Snapshot::new(
            SnapshotInfo::default(),
            vec![pods, nodes],
            b"",
            directory,
            compression,
        )
        .unwrap();
        snapshot.save(&file(path), Readers::Owner).unwrap();
    }

    #[test]
    fn parts_make_one_list_whatever_the_compression() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["a.json", "a.json.gz", "a.json.zst"] {
            let path = directory.path().join(name);
            write(&path, Redaction::On);
            let mut text = String::new();
            let file = File::open(&path).unwrap();
            match Compression::of(&path) {
                Compression::None => Box::new(file) as Box<dyn io::Read>,
                Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(file)),
                Compression::Zstd => Box::new(zstd::stream::read::Decoder::new(file).unwrap()),
            }
            .read_to_string(&mut text)
            .unwrap();
            let list: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(list["items"][2]["metadata"]["name"], "b");
            assert_eq!(list["items"].as_array().unwrap().len(), 3);
        }
        assert_eq!(
            std::fs::read_dir(directory.path()).unwrap().count(),
            3,
            "no temporary file is left"
        );
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_may_read_it_also_when_the_old_file_was_open_to_all() {
        use std::os::unix::fs::PermissionsExt as _;

        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.json");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        write(&path, Redaction::Off);
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }

    #[test]
    fn an_unwritable_place_is_named() {
        let missing = Path::new("/nonexistent");
        let part = Part::new(Kind::Pod, "v1".into(), Redaction::On, missing, Compression::None);
        let failed = Snapshot::new(
            SnapshotInfo::default(),
            vec![part],
            b"",
            missing,
            Compression::None,
        )
        .unwrap_err();
        assert_eq!(
            failed.to_string(),
            "cannot write a temporary file in `/nonexistent`"
        );
    }
}
