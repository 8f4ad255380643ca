//! Where the values of an object stand in the text.

/// A value.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    /// Byte of its first character.
    pub(super) start: usize,
    /// Byte behind its last one. Of a block collection this is a guess; see [`Node::content_end`].
    pub(super) end: usize,
    /// Written in YAML's block style.
    pub(super) block: bool,
    /// Has an anchor or a tag, or stands for another value: not to be touched.
    pub(super) fixed: bool,
    pub(super) shape: Shape,
}

#[derive(Clone, Debug, Default)]
pub(super) enum Shape {
    Map(Vec<Member>),
    Seq(Vec<Node>),
    Scalar(String),
    /// An alias, or something that was looked at already.
    #[default]
    Opaque,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) key_start: usize,
    pub(super) key_end: usize,
    pub(super) value: Node,
}

impl Member {
    /// Byte behind the last character of the value, or of the key where there is none.
    pub(super) fn content_end(&self) -> usize {
        if self.value.start == self.value.end {
            // Where nothing stands may be said to stand anywhere.
            return self.key_end;
        }
        self.value.content_end().max(self.key_end)
    }
}

impl Node {
    pub(super) fn members(&self) -> Option<&[Member]> {
        match &self.shape {
            Shape::Map(members) => Some(members),
            _ => None,
        }
    }

    pub(super) fn elements(&self) -> Option<&[Self]> {
        match &self.shape {
            Shape::Seq(elements) => Some(elements),
            _ => None,
        }
    }

    pub(super) fn scalar(&self) -> Option<&str> {
        match &self.shape {
            Shape::Scalar(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn member(&self, key: &str) -> Option<&Member> {
        self.members()?.iter().find(|member| member.key == key)
    }

    /// The value at the end of `path`.
    pub(super) fn find(&self, path: &[&str]) -> Option<&Self> {
        path.iter()
            .try_fold(self, |node, key| Some(&node.member(key)?.value))
    }

    /// Byte behind the last character. A block collection ends with its last value.
    pub(super) fn content_end(&self) -> usize {
        if !self.block {
            return self.end;
        }
        let last = match &self.shape {
            Shape::Map(members) => members.iter().map(Member::content_end).max(),
            Shape::Seq(elements) => elements.iter().map(Self::content_end).max(),
            Shape::Scalar(_) | Shape::Opaque => None,
        };
        last.unwrap_or(self.end)
    }
}

/// What a value is of the text's objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// An object, or a list of objects.
    Object,
    /// The objects of a list.
    Items,
    /// Anything inside an object.
    Inner,
}

impl Role {
    /// The role of the value of `key` in a mapping of this role.
    pub(super) fn of_member(self, key: &str) -> Self {
        if self == Self::Object && key == "items" {
            Self::Items
        } else {
            Self::Inner
        }
    }

    /// The role of an element of a sequence of this role.
    pub(super) fn of_element(self) -> Self {
        if self == Self::Items {
            Self::Object
        } else {
            Self::Inner
        }
    }
}
