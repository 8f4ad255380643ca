//! Finds the end of a JSON value without looking at its content.
//!
//! A snapshot of a large cluster has hundreds of megabytes, and a query needs a part of them. The decoder reads each
//! object once; every step before it must be almost free. So containers are skipped in blocks of 64 bytes: one bit per
//! byte for quotes, backslashes and brackets, and only blocks that may contain its end are examined bracket by bracket.
//! The technique is that of simdjson. Its vector instructions are not available without `unsafe` or one more
//! dependency; the loops here are written so that the compiler finds most of them itself.
//!
//! Brackets of both kinds count alike. A value in which they do not match ends somewhere all the same, and the decoder
//! then says what is wrong with it.

/// Progress in a value that is being skipped. Input arrives in pieces of any size.
#[derive(Debug, Clone)]
pub(super) enum Skip {
    /// An object or array, from its opening bracket.
    Container(Container),
    /// A string, from its opening quote.
    Text(Text),
    /// A number or one of `true`, `false`, `null`: it ends before the first byte that cannot belong to it.
    Word,
}

impl Skip {
    /// The state before the value that starts with `first`, or `None` when no value starts like that.
    pub(super) fn starting_with(first: u8, depth_limit: u32) -> Option<Self> {
        match first {
            b'{' | b'[' => Some(Self::Container(Container::new(depth_limit))),
            b'"' => Some(Self::Text(Text::default())),
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => Some(Self::Word),
            _ => None,
        }
    }

    /// Reads on, and returns how many of `bytes` belong to the value when it ends within them.
    pub(super) fn advance(&mut self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Container(container) => container.advance(bytes),
            Self::Text(text) => text.advance(bytes),
            Self::Word => bytes.iter().position(|&byte| ends_word(byte)),
        }
    }

    /// Returns whether the value was nested more deeply than the limit.
    pub(super) fn too_deep(&self) -> bool {
        matches!(self, Self::Container(container) if container.too_deep)
    }
}

fn ends_word(byte: u8) -> bool {
    !matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'+' | b'-' | b'.')
}

/// A partially read object or array.
#[derive(Debug, Clone)]
pub(super) struct Container {
    depth: u32,
    depth_limit: u32,
    too_deep: bool,
    /// All ones while the last byte read was inside a string, else zero.
    in_string: u64,
    /// One when the last byte read was a backslash that escapes the next one, else zero.
    escaping: u64,
}

impl Container {
    fn new(depth_limit: u32) -> Self {
        Self {
            depth: 0,
            depth_limit,
            too_deep: false,
            in_string: 0,
            escaping: 0,
        }
    }

    fn advance(&mut self, bytes: &[u8]) -> Option<usize> {
        let (blocks, tail) = bytes.as_chunks::<64>();
        for (index, block) in blocks.iter().enumerate() {
            if let Some(end) = self.advance_block(block, 64) {
                return Some(index * 64 + end);
            }
        }
        if tail.is_empty() {
            return None;
        }
        let mut block = [b' '; 64];
        block[..tail.len()].copy_from_slice(tail);
        self.advance_block(&block, tail.len())
            .map(|end| blocks.len() * 64 + end)
    }

    /// Reads a block: the first `length` bytes are input, the rest blanks.
    fn advance_block(&mut self, block: &[u8; 64], length: usize) -> Option<usize> {
        let masks = Masks::of(block);
        let escaped = self.escaped(masks.backslash, length);
        let strings = prefix_xor(masks.quote & !escaped) ^ self.in_string;
        // The sign bit says whether the block ends inside a string.
        self.in_string = if strings >> 63 == 1 { u64::MAX } else { 0 };
        let open = masks.open & !strings;
        let close = masks.close & !strings;
        let (opened, closed) = (open.count_ones(), close.count_ones());
        if self.depth > closed && self.depth.saturating_add(opened) <= self.depth_limit {
            self.depth = self.depth + opened - closed;
            return None;
        }
        let mut brackets = open | close;
        while brackets != 0 {
            let position = brackets.trailing_zeros();
            if open >> position & 1 == 1 {
                self.depth = self.depth.saturating_add(1);
                self.too_deep |= self.depth > self.depth_limit;
            } else {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    return Some(position as usize + 1);
                }
            }
            brackets &= brackets - 1;
        }
        None
    }

    /// The bytes that a backslash before them takes the meaning from.
    fn escaped(&mut self, backslash: u64, length: usize) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        if backslash == 0 {
            return std::mem::take(&mut self.escaping);
        }
        // In a run of backslashes every second one is escaped. Adding the runs that start at an odd position to the
        // backslashes carries over their ends, and so tells where runs of odd length end.
        let backslash = backslash & !self.escaping;
        let after = backslash << 1 | self.escaping;
        let odd_starts = backslash & !EVEN & !after;
        let (ends, carried) = odd_starts.overflowing_add(backslash);
        let escaped = (EVEN ^ (ends << 1)) & after;
        // The first blank after the input stands for the byte that comes next.
        self.escaping = if length == 64 {
            u64::from(carried)
        } else {
            escaped >> length & 1
        };
        escaped
    }
}

/// One bit per byte of a block, the first byte's lowest.
struct Masks {
    quote: u64,
    backslash: u64,
    open: u64,
    close: u64,
}

impl Masks {
    #[inline]
    fn of(block: &[u8; 64]) -> Self {
        // Many blocks have no backslash, and looking is cheaper than taking bits.
        #[expect(
            clippy::needless_bitwise_bool,
            reason = "without a branch the loop is vectorized"
        )]
        let any_backslash = block.iter().fold(false, |any, &byte| any | (byte == b'\\'));
        Self {
            quote: mask(block, |byte| byte == b'"'),
            backslash: if any_backslash {
                mask(block, |byte| byte == b'\\')
            } else {
                0
            },
            // `[` and `{`, and `]` and `}`, differ in this bit alone, so that one comparison finds both.
            open: mask(block, |byte| byte | 0x20 == b'{'),
            close: mask(block, |byte| byte | 0x20 == b'}'),
        }
    }
}

/// One bit for each byte that is wanted. The compiler compares sixteen or more bytes with one instruction here.
#[inline]
fn mask(block: &[u8; 64], wanted: impl Fn(u8) -> bool) -> u64 {
    let mut flags = [0_u8; 64];
    for (flag, &byte) in flags.iter_mut().zip(block) {
        *flag = u8::from(wanted(byte));
    }
    let mut bits = 0;
    for (index, flags) in flags.as_chunks::<8>().0.iter().enumerate() {
        // The product's highest byte collects the lowest bits of all eight.
        bits |= (u64::from_le_bytes(*flags).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (index * 8);
    }
    bits
}

/// Each bit becomes the parity of itself and those below: between two quotes all ones.
#[inline]
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// A partially read string.
#[derive(Debug, Clone, Default)]
pub(super) struct Text {
    opened: bool,
    escaping: bool,
}

impl Text {
    fn advance(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut position = 0;
        if !self.opened && !bytes.is_empty() {
            self.opened = true;
            position = 1;
        }
        if self.escaping && position < bytes.len() {
            self.escaping = false;
            position += 1;
        }
        while let Some(found) = memchr::memchr2(b'"', b'\\', bytes.get(position..)?) {
            position += found;
            if bytes[position] == b'"' {
                return Some(position + 1);
            }
            position += 2;
            if position > bytes.len() {
                self.escaping = true;
                return None;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMIT: u32 = 64;

    /// Returns where the value at the start of `text` ends when it is read in pieces of `size`.
    fn end(text: &str, size: usize) -> Option<usize> {
        let mut skip = Skip::starting_with(*text.as_bytes().first()?, LIMIT)?;
        for (index, piece) in text.as_bytes().chunks(size).enumerate() {
            if let Some(end) = skip.advance(piece) {
                return Some(index * size + end);
            }
        }
        None
    }

    #[test]
    fn a_value_ends_where_it_ends_however_it_is_cut() {
        let long = format!(r#"{{"a":"{}","b":[{{}},{{"c":"]}}"}}]}}"#, "x".repeat(200));
        let slashes = format!(r#"{{"a":"{}"}}"#, r"\\".repeat(80));
        let odd = format!(r#"{{"a":"{}\""}}"#, r"\\".repeat(37));
        for value in [
            "{}",
            "[]",
            r#""""#,
            r#""a\"b""#,
            r#""\\""#,
            r#"{"a":"}"}"#,
            r#"{"a":"\\"}"#,
            r#"{"a":"\\\""}"#,
            r#"{"a":[[[{"b":"[[["}]]]}"#,
            r#"["ü{","日本]","\u007b"]"#,
            "[1,2,{\n\n}]",
            &long,
            &slashes,
            &odd,
        ] {
            for rest in ["", "}", "]]]", r#","next"#] {
                let text = format!("{value}{rest}");
                for size in [1, 2, 3, 7, 63, 64, 65, 1000] {
                    assert_eq!(end(&text, size), Some(value.len()), "{text} in pieces of {size}");
                }
            }
        }
    }

    #[test]
    fn a_value_that_continues_has_no_end() {
        for text in [
            "{",
            "[{}",
            r#""abc"#,
            r#""abc\"#,
            r#""abc\""#,
            r#"{"a":"}"#,
            r#"["\\\"]"#,
        ] {
            for size in [1, 2, 3, 100] {
                assert_eq!(end(text, size), None, "{text} in pieces of {size}");
            }
        }
    }

    #[test]
    fn words_end_before_what_follows() {
        for (text, length) in [
            ("12,", 2),
            ("-1.5e+3]", 7),
            ("true}", 4),
            ("null ", 4),
            ("false\n", 5),
        ] {
            for size in [1, 2, 100] {
                assert_eq!(end(text, size), Some(length), "{text} in pieces of {size}");
            }
        }
        assert!(Skip::starting_with(b'x', LIMIT).is_none());
    }

    #[test]
    fn nesting_beyond_the_limit_is_noticed_wherever_it_occurs() {
        for (depth, too_deep) in [(LIMIT as usize, false), (LIMIT as usize + 1, true), (500, true)] {
            for pad in [0, 1, 30, 63, 64] {
                let text = format!(
                    "[{}{}{}]",
                    " ".repeat(pad),
                    "[".repeat(depth - 1),
                    "]".repeat(depth - 1)
                );
                let mut skip = Skip::starting_with(b'[', LIMIT).expect("an array");
                assert_eq!(skip.advance(text.as_bytes()), Some(text.len()));
                assert_eq!(skip.too_deep(), too_deep, "{depth} levels after {pad} blanks");
            }
        }
    }

    /// The obvious way, as a reference.
    fn end_byte_by_byte(bytes: &[u8]) -> Option<usize> {
        let (mut depth, mut string, mut escaped) = (0_u32, false, false);
        for (position, &byte) in bytes.iter().enumerate() {
            if string {
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' => escaped = true,
                    b'"' => string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => string = true,
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Some(position + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }

    proptest! {
        #[test]
        fn blocks_and_bytes_agree(body in r#"[\[\]{}"a-z :,ü\n]{0,300}"#, size in 1_usize..200) {
            let text = format!("{{{body}");
            prop_assert_eq!(end(&text, size), end_byte_by_byte(text.as_bytes()));
        }

        #[test]
        fn blocks_and_bytes_agree_on_escapes(parts in prop::collection::vec(r#""([a-z{}\[\]]|\\["\\]){0,40}""#, 0..9), size in 1_usize..200) {
            let text = format!("[{}]{{", parts.join(","));
            prop_assert_eq!(end(&text, size), end_byte_by_byte(text.as_bytes()));
        }
    }
}
