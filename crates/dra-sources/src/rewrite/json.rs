//! Where values stand in JSON. The text has been read by the ordinary reader before, so little is checked.

use super::RewriteError;
use super::nodes::{Member, Node, Role, Shape};
use dra_model::json;

/// Deeper than the reader goes.
const DEEPEST: usize = 256;

/// Why the text was left.
enum Failure {
    /// It is no JSON from the beginning to the end.
    NotJson,
    /// The visitor has had enough.
    Visit(RewriteError),
}

/// Whether the text is JSON from the beginning to the end.
pub(super) fn is_json(text: &str) -> bool {
    scan(text, &mut |_| Ok(())).is_ok()
}

type Visit<'v> = dyn FnMut(&Node) -> Result<(), RewriteError> + 'v;

/// Calls `visit` with every object of `text`, which is JSON: those of lists, and those outside.
pub(super) fn objects(text: &str, visit: &mut Visit<'_>) -> Result<(), RewriteError> {
    scan(text, visit).map_err(|failure| match failure {
        Failure::Visit(error) => error,
        Failure::NotJson => RewriteError::Syntax {
            line: 1,
            message: "not JSON".to_owned(),
        },
    })
}

fn scan(text: &str, visit: &mut Visit<'_>) -> Result<(), Failure> {
    let mut scanner = Scanner {
        text,
        at: 0,
        depth: 0,
    };
    scanner.space();
    if scanner.peek() != Some(b'{') {
        return Err(Failure::NotJson);
    }
    while scanner.at < text.len() {
        scanner.value(Role::Object, visit)?;
        scanner.space();
    }
    Ok(())
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|byte| b" \t\r\n".contains(&byte)) {
            self.at += 1;
        }
    }

    /// Steps over `byte`.
    fn expect(&mut self, byte: u8) -> Result<(), Failure> {
        if self.peek() == Some(byte) {
            self.at += 1;
            Ok(())
        } else {
            Err(Failure::NotJson)
        }
    }

    fn value(&mut self, role: Role, visit: &mut Visit<'_>) -> Result<Node, Failure> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Failure::NotJson);
        }
        self.space();
        let start = self.at;
        let shape = match self.peek() {
            Some(b'{') => self.object(role, visit)?,
            Some(b'[') => self.array(role, visit)?,
            Some(b'"') => Shape::Scalar(self.string()?),
            Some(byte) if byte == b'-' || byte.is_ascii_alphanumeric() => {
                let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
                while self.peek().is_some_and(is_part) {
                    self.at += 1;
                }
                Shape::Scalar(self.text[start..self.at].to_owned())
            }
            _ => return Err(Failure::NotJson),
        };
        self.depth -= 1;
        let mut node = Node {
            start,
            end: self.at,
            shape,
            ..Node::default()
        };
        if role == Role::Object && node.members().is_some() && node.member("items").is_none() {
            visit(&node).map_err(Failure::Visit)?;
            // It is not looked at again, and a list may have many.
            node.shape = Shape::Opaque;
        }
        Ok(node)
    }

    fn object(&mut self, role: Role, visit: &mut Visit<'_>) -> Result<Shape, Failure> {
        self.expect(b'{')?;
        let mut members = Vec::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Shape::Map(members));
        }
        loop {
            self.space();
            let key_start = self.at;
            let key = self.string()?;
            let key_end = self.at;
            self.space();
            self.expect(b':')?;
            let value = self.value(role.of_member(&key), visit)?;
            members.push(Member {
                key,
                key_start,
                key_end,
                value,
            });
            self.space();
            if self.peek() == Some(b',') {
                self.at += 1;
            } else {
                self.expect(b'}')?;
                return Ok(Shape::Map(members));
            }
        }
    }

    fn array(&mut self, role: Role, visit: &mut Visit<'_>) -> Result<Shape, Failure> {
        self.expect(b'[')?;
        let mut elements = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Shape::Seq(elements));
        }
        loop {
            elements.push(self.value(role.of_element(), visit)?);
            self.space();
            if self.peek() == Some(b',') {
                self.at += 1;
            } else {
                self.expect(b']')?;
                return Ok(Shape::Seq(elements));
            }
        }
    }

    fn string(&mut self) -> Result<String, Failure> {
        let start = self.at;
        self.expect(b'"')?;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
                None => return Err(Failure::NotJson),
            }
        }
        self.at += 1;
        let quoted = self.text.get(start..self.at).ok_or(Failure::NotJson)?;
        json::from_str(quoted).map_err(|_| Failure::NotJson)
    }
}
