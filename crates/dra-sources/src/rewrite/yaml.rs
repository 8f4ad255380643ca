//! Where values stand in YAML.

use granit_parser::{Event, Parser, ScalarStyle, Span, StructureStyle};

use super::RewriteError;
use super::nodes::{Member, Node, Role, Shape};

type Visit<'v> = dyn FnMut(&Node) -> Result<(), RewriteError> + 'v;

/// Calls `visit` with every object of `text`: those of lists, and those outside.
pub(super) fn objects(text: &str, visit: &mut Visit<'_>) -> Result<(), RewriteError> {
    let mut stack: Vec<Frame> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| RewriteError::Syntax {
            line: error.marker().line(),
            message: error.to_string(),
        })?;
        let node = match event {
            Event::Scalar(value, style, anchor, tag) => {
                let (start, end) = place(&span)?;
                Node {
                    start,
                    end,
                    // What ends with the line is no part of a line.
                    block: matches!(style, ScalarStyle::Literal | ScalarStyle::Folded),
                    fixed: anchor != 0 || tag.is_some(),
                    shape: Shape::Scalar(value.into_owned()),
                }
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                let (start, end) = place(&span)?;
                Node {
                    start,
                    end,
                    fixed: true,
                    ..Node::default()
                }
            }
            Event::SequenceStart(style, anchor, tag) => {
                let role = role_of_next(&stack);
                let fixed = anchor != 0 || tag.is_some();
                stack.push(Frame::new(role, &span, style, fixed, Shape::Seq(Vec::new()))?);
                continue;
            }
            Event::MappingStart(style, anchor, tag) => {
                let role = role_of_next(&stack);
                let fixed = anchor != 0 || tag.is_some();
                stack.push(Frame::new(role, &span, style, fixed, Shape::Map(Vec::new()))?);
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(mut frame) = stack.pop() else {
                    continue;
                };
                frame.node.end = place(&span)?.1;
                if frame.role == Role::Object
                    && frame.node.members().is_some()
                    && frame.node.member("items").is_none()
                {
                    visit(&frame.node)?;
                    frame.node.end = frame.node.content_end();
                    frame.node.block = false;
                    frame.node.shape = Shape::Opaque;
                }
                frame.node
            }
            _ => continue,
        };
        if let Some(frame) = stack.last_mut() {
            frame.take(node);
        }
    }
    Ok(())
}

/// A collection that has begun.
struct Frame {
    role: Role,
    node: Node,
    /// The key whose value comes next.
    key: Option<(String, usize, usize)>,
}

impl Frame {
    fn new(
        role: Role,
        span: &Span,
        style: StructureStyle,
        fixed: bool,
        shape: Shape,
    ) -> Result<Self, RewriteError> {
        let (start, end) = place(span)?;
        Ok(Self {
            role,
            node: Node {
                start,
                end,
                block: style == StructureStyle::Block,
                fixed,
                shape,
            },
            key: None,
        })
    }

    fn take(&mut self, node: Node) {
        match &mut self.node.shape {
            Shape::Seq(elements) => elements.push(node),
            Shape::Map(members) => match self.key.take() {
                Some((key, key_start, key_end)) => members.push(Member {
                    key,
                    key_start,
                    key_end,
                    value: node,
                }),
                None => {
                    let key = node.scalar().unwrap_or_default().to_owned();
                    self.key = Some((key, node.start, node.end));
                }
            },
            Shape::Scalar(_) | Shape::Opaque => {}
        }
    }
}

/// The role of the collection that begins.
fn role_of_next(stack: &[Frame]) -> Role {
    match stack.last() {
        None => Role::Object,
        Some(frame) => match (&frame.node.shape, &frame.key) {
            (Shape::Map(_), Some((key, ..))) => frame.role.of_member(key),
            (Shape::Seq(_), _) => frame.role.of_element(),
            _ => Role::Inner,
        },
    }
}

/// The bytes of `span`.
fn place(span: &Span) -> Result<(usize, usize), RewriteError> {
    match (span.start.byte_offset(), span.end.byte_offset()) {
        (Some(start), Some(end)) => Ok((start, end)),
        _ => Err(RewriteError::Syntax {
            line: span.start.line(),
            message: "its place in the text is not known".to_owned(),
        }),
    }
}
