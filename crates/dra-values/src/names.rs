//! Names as Kubernetes checks them: of objects, of labels, of whatever else is called something. Mirrors
//! `content/dns.go` and `content/kube.go` (apimachinery v0.37.1), whose messages are used.

/// That a name has more bytes than it may have.
pub fn too_long(max: usize) -> String {
    format!("must be no more than {max} bytes")
}

fn is_lower_or_digit(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
pub fn is_label(bytes: &[u8]) -> bool {
    matches!(bytes, [first, ..] if is_lower_or_digit(*first))
        && matches!(bytes, [.., last] if is_lower_or_digit(*last))
        && bytes.iter().all(|byte| *byte == b'-' || is_lower_or_digit(*byte))
}

fn is_subdomain(bytes: &[u8]) -> bool {
    bytes.split(|byte| *byte == b'.').all(is_label)
}

/// Returns what is wrong with a name of one part, such as that of a request.
pub fn label(bytes: &[u8]) -> Vec<String> {
    let mut problems = Vec::new();
    if bytes.len() > 63 {
        problems.push(too_long(63));
    }
    if !is_label(bytes) {
        problems.push(if is_subdomain(bytes) {
            "must not contain dots".to_owned()
        } else {
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and \
             end with an alphanumeric character (e.g. 'my-name', or '123-abc', regex used for validation is \
             '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
                .to_owned()
        });
    }
    problems
}

/// Returns what is wrong with a name of parts with dots between them, such as that of most objects.
pub fn subdomain(bytes: &[u8]) -> Vec<String> {
    let mut problems = Vec::new();
    if bytes.len() > 253 {
        problems.push(too_long(253));
    }
    if !is_subdomain(bytes) {
        problems.push(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
             start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
             '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
                .to_owned(),
        );
    }
    problems
}

/// `([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]`
fn is_name(bytes: &[u8]) -> bool {
    matches!(bytes, [first, ..] if first.is_ascii_alphanumeric())
        && matches!(bytes, [.., last] if last.is_ascii_alphanumeric())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

const NAME_PROBLEM: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                            alphanumeric character (e.g. 'MyName', or 'my.name', or '123-abc', regex used for \
                            validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/// Returns what is wrong with the key of a label.
pub fn qualified_name(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let parts: Vec<&str> = text.split('/').collect();
    let name = match parts.as_slice() {
        [name] => name,
        ["", name] => {
            problems.push("prefix part must be non-empty".to_owned());
            name
        }
        [prefix, name] => {
            let found = subdomain(prefix.as_bytes());
            problems.extend(found.into_iter().map(|problem| format!("prefix part {problem}")));
            name
        }
        _ => {
            return vec![format!(
                "a valid label key {NAME_PROBLEM} with an optional DNS subdomain prefix and '/' (e.g. \
                 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        problems.push(format!("name part {}", too_long(63)));
    }
    if !is_name(name.as_bytes()) {
        problems.push(format!("name part {NAME_PROBLEM}"));
    }
    problems
}

/// Returns what is wrong with the value of a label.
pub fn label_value(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 63 {
        problems.push(too_long(63));
    }
    if !text.is_empty() && !is_name(text.as_bytes()) {
        problems.push(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
             start and end with an alphanumeric character (e.g. 'MyValue', or 'my_value', or '12345', regex used for \
             validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
                .to_owned(),
        );
    }
    problems
}

/// Returns what is wrong with the name of an attribute or a capacity without its domain.
pub fn c_identifier(text: &str) -> Vec<String> {
    let mut bytes = text.bytes();
    let begins = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    if bytes.next().is_some_and(begins) && bytes.all(|byte| begins(byte) || byte.is_ascii_digit()) {
        return Vec::new();
    }
    vec![
        "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric \
         characters or '_' (e.g. 'my_name', or 'MY_NAME', or 'MyName', regex used for validation is \
         '[A-Za-z_][A-Za-z0-9_]*')"
            .to_owned(),
    ]
}

/// Returns whether the domain `name` is `domain`, or below it.
pub fn is_within(name: &str, domain: &str) -> bool {
    let rest = name.strip_suffix(domain);
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}
