//! From bytes of a file to pieces of UTF-8 text: decompression, limits and encoding.
//!
//! The format of a file is detected from its first bytes, never from its name: `kubectl get … | gzip > x.yaml` is
//! common. Text is returned in pieces of bounded size, so that a file of any size takes the same memory.

use std::cell::Cell;
use std::io::{self, BufReader, Cursor, Read};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use thiserror::Error;

use super::error::ReadError;
use super::options::Limits;

/// Amount of text to return at a time. It stays in the second-level cache while it is checked, cut and copied.
pub(super) const PIECE: usize = 256 << 10;
/// The largest window that a zstd file may ask for, as a power of two: 128 MiB, which is what the zstd program grants as well.
const WINDOW_LOG: u32 = 27;
/// The zstd library's error for a larger one.
const WINDOW_TOO_LARGE: &str = "requires too much memory";
/// Number of bytes examined to detect the format of a file. A tar archive is detected by bytes 257 to 261.
const SNIFFED: usize = 512;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text of one file.
pub(super) struct Text {
    pub(super) file: Arc<str>,
    reader: Box<dyn Read>,
    compression: Option<&'static str>,
    /// The piece returned last.
    piece: String,
    /// Text after that piece: at first the beginning, then the start of a character whose rest has
    /// not been read.
    ahead: Vec<u8>,
    /// Bytes of text before `piece`.
    offset: u64,
    ended: bool,
}

impl Text {
    /// Opens the text in `raw`, which may be compressed. `size` is how much of it there is, as far as that is known.
    pub(super) fn open(
        file: Arc<str>,
        raw: impl Read + 'static,
        size: u64,
        limits: &Limits,
        bytes_read: Option<Arc<AtomicU64>>,
    ) -> Result<Self, ReadError> {
        let compressed = Rc::new(Cell::new(0));
        let raw = Counting {
            reader: raw,
            here: Rc::clone(&compressed),
            total: bytes_read,
        };
        let (head, raw) = sniff(raw).map_err(|source| ReadError::Read {
            file: Arc::clone(&file),
            source,
        })?;
        let compression = Compression::of(&head);
        let reader: Box<dyn Read> = match compression {
            None => Box::new(raw),
            Some(compression) => {
                let decoder = match compression {
                    Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::new(raw))),
                    Compression::Zstd => {
                        zstd_decoder(raw).map_err(|source| ReadError::CorruptCompression {
                            file: Arc::clone(&file),
                            compression: compression.name(),
                            offset: 0,
                            source,
                        })?
                    }
                };
                Box::new(Guard {
                    reader: decoder,
                    compressed,
                    size,
                    expanded: 0,
                    limits: limits.clone(),
                })
            }
        };
        let mut text = Self {
            file,
            reader,
            compression: compression.map(Compression::name),
            piece: String::new(),
            ahead: Vec::new(),
            offset: 0,
            ended: false,
        };
        text.start()?;
        Ok(text)
    }

    /// Looks at the beginning of the decompressed text, and steps over a byte order mark.
    fn start(&mut self) -> Result<(), ReadError> {
        let mut head = Vec::with_capacity(SNIFFED);
        self.fill(&mut head, SNIFFED)?;
        let unsupported = if self.compression.is_some() && Compression::of(&head).is_some() {
            Some(("compressed twice", "unpack it once"))
        } else {
            unsupported(&head)
        };
        if let Some((format, remedy)) = unsupported {
            return Err(ReadError::Unsupported {
                file: Arc::clone(&self.file),
                format,
                remedy,
            });
        }
        if head.starts_with(BYTE_ORDER_MARK) {
            self.offset = BYTE_ORDER_MARK.len() as u64;
            head.drain(..BYTE_ORDER_MARK.len());
        }
        self.ahead = head;
        Ok(())
    }

    /// The piece of text that was read last. Empty before the first and after the last one.
    pub(super) fn piece(&self) -> &str {
        &self.piece
    }

    /// Reads the next piece of text. False at the end.
    pub(super) fn advance(&mut self) -> Result<bool, ReadError> {
        self.offset += self.piece.len() as u64;
        // One allocation serves all pieces, and a single check, at memory speed, turns the bytes into text.
        let mut bytes = std::mem::take(&mut self.piece).into_bytes();
        bytes.clear();
        bytes.append(&mut self.ahead);
        self.fill(&mut bytes, PIECE)?;
        let error = match String::from_utf8(bytes) {
            Ok(text) => {
                self.piece = text;
                self.refuse_nul()?;
                return Ok(!self.piece.is_empty());
            }
            Err(error) => error,
        };
        let valid = error.utf8_error().valid_up_to();
        let cut_off = error.utf8_error().error_len().is_none() && !self.ended;
        bytes = error.into_bytes();
        if !cut_off {
            return Err(ReadError::NotUtf8 {
                file: Arc::clone(&self.file),
                offset: self.offset + valid as u64,
                byte: bytes.get(valid).copied().unwrap_or_default(),
            });
        }
        self.ahead = bytes.split_off(valid);
        self.piece = String::from_utf8(bytes).unwrap_or_default();
        self.refuse_nul()?;
        Ok(true)
    }

    /// No text has a zero byte, and parsers differ in what they take it for: one would end there, and what follows be forgotten.
    fn refuse_nul(&mut self) -> Result<(), ReadError> {
        let Some(place) = memchr::memchr(0, self.piece.as_bytes()) else {
            return Ok(());
        };
        self.piece.clear();
        self.ended = true;
        Err(ReadError::NotText {
            file: Arc::clone(&self.file),
            offset: self.offset + place as u64,
        })
    }

    /// Reads until `bytes` has the given length or the file ends.
    fn fill(&mut self, bytes: &mut Vec<u8>, length: usize) -> Result<(), ReadError> {
        // A terminal would wait for a second end.
        if self.ended {
            return Ok(());
        }
        // `read_to_end` would begin with small reads each time.
        let mut filled = bytes.len();
        bytes.resize(length.max(filled), 0);
        let mut outcome = Ok(());
        while filled < length {
            match self.reader.read(&mut bytes[filled..]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    outcome = Err(self.read_error(error));
                    break;
                }
            }
        }
        bytes.truncate(filled);
        outcome
    }

    fn read_error(&self, source: io::Error) -> ReadError {
        let file = Arc::clone(&self.file);
        let offset = self.offset;
        match self.compression {
            _ if source.get_ref().is_some_and(|inner| inner.is::<Expanded>()) => {
                match source.downcast::<Expanded>() {
                    Ok(Expanded { compressed, expanded }) => ReadError::Bomb {
                        file,
                        compression: self.compression.unwrap_or_default(),
                        compressed,
                        expanded,
                    },
                    Err(source) => ReadError::Read { file, source },
                }
            }
            // What the system reports has a number; the rest comes from the decoder.
            Some(compression) if source.raw_os_error().is_none() => match source.kind() {
                _ if source.to_string().contains(WINDOW_TOO_LARGE) => ReadError::Window {
                    file,
                    limit: 1 << WINDOW_LOG,
                },
                io::ErrorKind::UnexpectedEof => ReadError::TruncatedCompression {
                    file,
                    compression,
                    offset,
                },
                _ => ReadError::CorruptCompression {
                    file,
                    compression,
                    offset,
                    source,
                },
            },
            _ => ReadError::Read { file, source },
        }
    }
}

fn sniff<R: Read>(mut raw: R) -> io::Result<(Vec<u8>, impl Read)> {
    let mut head = Vec::with_capacity(SNIFFED);
    raw.by_ref().take(SNIFFED as u64).read_to_end(&mut head)?;
    Ok((head.clone(), Cursor::new(head).chain(raw)))
}

fn zstd_decoder(raw: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let mut decoder = zstd::stream::read::Decoder::new(raw)?;
    // The window is memory that the file asks for.
    decoder.window_log_max(WINDOW_LOG)?;
    Ok(Box::new(decoder))
}

#[derive(Debug, Clone, Copy)]
enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            // The second form is a frame to be skipped; parallel compressors begin with one.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// Returns what a file is that is not read, and what to do about it.
fn unsupported(head: &[u8]) -> Option<(&'static str, &'static str)> {
    const ENCODING: &str = "convert it with `iconv -f UTF-16 -t UTF-8`; in PowerShell save it with \
                            `| Out-File -Encoding utf8`";
    const COMPRESSION: &str = "unpack it, or compress it with gzip or zstd instead";
    Some(match head {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => (
            "in UTF-32, not UTF-8",
            "convert it with `iconv -f UTF-32 -t UTF-8`",
        ),
        // Without a byte order mark, every second byte of what is mostly ASCII tells.
        [0xff, 0xfe, ..]
        | [0xfe, 0xff, ..]
        | [0, 1..=0x7f, 0, 1..=0x7f, ..]
        | [1..=0x7f, 0, 1..=0x7f, 0, ..] => ("in UTF-16, not UTF-8", ENCODING),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => ("compressed with bzip2, which is not supported", COMPRESSION),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => ("compressed with xz, which is not supported", COMPRESSION),
        [0x04, 0x22, 0x4d, 0x18, ..] => ("compressed with lz4, which is not supported", COMPRESSION),
        [b'P', b'K', 3 | 5, 4 | 6, ..] => ("a zip archive", "unpack it and name the directory"),
        _ if head.get(257..262) == Some(b"ustar") => ("a tar archive", "unpack it and name the directory"),
        // etcd keeps objects like this.
        [b'k', b'8', b's', 0, ..] => ("Kubernetes protobuf", "save the objects as YAML or JSON"),
        _ => return None,
    })
}

/// Counts what is read from a file.
struct Counting<R> {
    reader: R,
    here: Rc<Cell<u64>>,
    total: Option<Arc<AtomicU64>>,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.here.set(self.here.get() + count as u64);
        if let Some(total) = &self.total {
            total.fetch_add(count as u64, Ordering::Relaxed);
        }
        Ok(count)
    }
}

/// Ends reading when a compressed file unpacks to too much.
struct Guard {
    reader: Box<dyn Read>,
    compressed: Rc<Cell<u64>>,
    size: u64,
    expanded: u64,
    limits: Limits,
}

#[derive(Debug, Error)]
#[error("unpacks to too much")]
struct Expanded {
    compressed: u64,
    expanded: u64,
}

impl Read for Guard {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.expanded += count as u64;
        // What compresses best often stands at the beginning.
        let allowed = self.limits.expanded(self.compressed.get().max(self.size));
        if self.expanded > allowed {
            return Err(io::Error::other(Expanded {
                compressed: self.compressed.get().max(self.size),
                expanded: allowed,
            }));
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn open(bytes: &[u8], limits: &Limits) -> Result<Text, ReadError> {
        Text::open("file".into(), Cursor::new(bytes.to_vec()), 0, limits, None)
    }

    fn text(bytes: &[u8]) -> Result<String, ReadError> {
        let mut text = open(bytes, &Limits::default())?;
        let mut all = String::new();
        while text.advance()? {
            all.push_str(text.piece());
        }
        assert_eq!(text.piece(), "");
        Ok(all)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).expect("in memory");
        encoder.finish().expect("in memory")
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 1).expect("in memory")
    }

    /// A reader that gives one byte at a time, as a slow pipe may.
    struct Trickle(Cursor<Vec<u8>>);

    impl Read for Trickle {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(1);
            self.0.read(&mut buffer[..length])
        }
    }

    #[test]
    fn text_comes_out_whatever_it_is_packed_in() {
        let long = "a ü 日 😀 \n".repeat(100_000);
        for expected in ["", "a", "ü", "kind: Pod\n", &long] {
            let bytes = expected.as_bytes();
            assert_eq!(text(bytes).expect("plain"), expected);
            assert_eq!(text(&gzip(bytes)).expect("gzip"), expected);
            assert_eq!(text(&zstd(bytes)).expect("zstd"), expected);
            assert_eq!(
                text(&[b"\xef\xbb\xbf", bytes].concat()).expect("with a byte order mark"),
                expected
            );
            let joined = expected.repeat(2);
            assert_eq!(text(&gzip(bytes).repeat(2)).expect("two gzip members"), joined);
            assert_eq!(text(&zstd(bytes).repeat(2)).expect("two zstd frames"), joined);
            let skipped = [&b"\x50\x2a\x4d\x18\x04\0\0\0abcd"[..], &zstd(bytes)].concat();
            assert_eq!(text(&skipped).expect("a frame to be skipped"), expected);
        }
    }

    #[test]
    fn characters_survive_any_division() {
        let expected = "aü日😀".repeat(1000);
        let reader = Trickle(Cursor::new(expected.clone().into_bytes()));
        let mut text = Text::open("file".into(), reader, 0, &Limits::default(), None).expect("text");
        let mut all = String::new();
        while text.advance().expect("text") {
            all.push_str(text.piece());
        }
        assert_eq!(all, expected);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_named() {
        let far = [&vec![b'x'; 2 * PIECE + 10][..], b"\xe9t\xe9"].concat();
        for (bytes, offset, byte) in [
            (&b"kind: caf\xe9\n"[..], 9, 0xe9),
            (b"\xef\xbb\xbfa\xff", 4, 0xff),
            (b"ends inside \xf0\x9f\x98", 12, 0xf0),
            (&far, 2 * PIECE as u64 + 10, 0xe9),
        ] {
            match text(bytes) {
                Err(ReadError::NotUtf8 {
                    offset: at,
                    byte: found,
                    ..
                }) => assert_eq!((at, found), (offset, byte)),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn files_that_are_something_else_are_named() {
        let utf16: Vec<u8> = "apiVersion: v1"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let tar = [&[b'x'; 257][..], b"ustar\x0000"].concat();
        for (bytes, expected) in [
            (&b"\xff\xfea\0b\0"[..], "in UTF-16"),
            (b"\xfe\xff\0a\0b", "in UTF-16"),
            (&utf16, "in UTF-16"),
            (b"\xff\xfe\0\0a\0\0\0", "in UTF-32"),
            (b"\xfd7zXZ\0", "xz"),
            (b"BZh91AY", "bzip2"),
            (b"PK\x03\x04", "zip"),
            (b"k8s\0\n", "protobuf"),
            (&tar, "tar"),
            (&gzip(&tar), "tar"),
            (&gzip(&gzip(b"kind: Pod")), "compressed twice"),
            (&zstd(&gzip(b"kind: Pod")), "compressed twice"),
        ] {
            let error = text(bytes).expect_err(expected);
            assert!(matches!(error, ReadError::Unsupported { .. }), "{error:?}");
            assert!(error.to_string().contains(expected), "{error}");
            assert!(error.hint().is_some());
        }
    }

    #[test]
    fn files_that_are_cut_off_are_an_error_wherever_they_are_cut() {
        let content = "apiVersion: v1\n".repeat(5000);
        for (compression, whole) in [
            ("gzip", gzip(content.as_bytes())),
            ("zstd", zstd(content.as_bytes())),
        ] {
            for end in (5..whole.len()).step_by(7).chain([whole.len() - 1]) {
                match text(&whole[..end]) {
                    Err(ReadError::TruncatedCompression {
                        compression: found, ..
                    }) => assert_eq!(found, compression),
                    other => panic!("{compression} cut at {end}: {other:?}"),
                }
            }
        }
    }

    #[test]
    fn damaged_files_are_an_error() {
        let content: String = (0..5000)
            .map(|number| format!("name: pod-{}\n", number * 7919 % 5003))
            .collect();
        for mut bytes in [gzip(content.as_bytes()), zstd(content.as_bytes())] {
            let middle = bytes.len() / 2;
            bytes[middle..middle + 8].copy_from_slice(b"\xff\xff\xff\xff\0\0\0\0");
            let error = text(&bytes).expect_err("damaged");
            let expected = matches!(
                error,
                ReadError::CorruptCompression { .. } | ReadError::TruncatedCompression { .. }
            );
            assert!(expected, "{error:?}");
        }
        let trailing = [&gzip(b"kind: Pod")[..], b"garbage after the end"].concat();
        assert!(matches!(
            text(&trailing),
            Err(ReadError::CorruptCompression { .. })
        ));
    }

    #[test]
    fn a_file_that_unpacks_to_too_much_is_an_error() {
        let zeros = vec![b' '; 8 << 20];
        let limits = Limits {
            expansion_allowance: 1 << 20,
            expansion_ratio: 100,
            expanded_bytes: 4 << 20,
            ..Limits::default()
        };
        let read = |bytes: &[u8], limits: &Limits| {
            let mut text = open(bytes, limits)?;
            while text.advance()? {}
            Ok(())
        };
        for bytes in [gzip(&zeros), zstd(&zeros)] {
            match read(&bytes, &limits) {
                Err(ReadError::Bomb { expanded, .. }) => {
                    assert!((1 << 20..2 << 20).contains(&expanded), "{expanded}");
                }
                other => panic!("{other:?}"),
            }
            assert!(
                read(
                    &bytes,
                    &Limits {
                        expansion_ratio: 1_000_000,
                        ..limits.clone()
                    }
                )
                .is_err()
            );
            assert!(read(&bytes, &Limits::default()).is_ok());
        }
        assert!(read(&zeros, &limits).is_ok(), "plain files may be of any size");
    }

    #[test]
    fn bytes_are_counted_as_they_are_in_the_file() {
        let bytes = gzip("kind: Pod\n".repeat(100_000).as_bytes());
        let counter = Arc::new(AtomicU64::new(5));
        let mut text = Text::open(
            "file".into(),
            Cursor::new(bytes.clone()),
            0,
            &Limits::default(),
            Some(Arc::clone(&counter)),
        )
        .expect("text");
        while text.advance().expect("text") {}
        assert_eq!(counter.load(Ordering::Relaxed), bytes.len() as u64 + 5);
    }
}
