//! Usual mistakes in selectors, and what was probably meant.
//!
//! Nothing here is sure: the edits are made on the tokens of the text, so that an expression that does not compile has
//! them too. They must be tested before they are shown. [`Known`] has the names of existing devices.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::parse::{Lexeme, Macros, Token, lex, parse, string_value};
use super::value::Value;
use super::value::device::{DeviceInput, DeviceMap};
use dra_values::is_similar;

/// A mistake that is often made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mistake {
    /// A capacity looked for among the attributes.
    CapacityAsAttribute,
    /// An attribute looked for among the capacities.
    AttributeAsCapacity,
    /// The name stands where the domain belongs.
    DomainLeftOut,
    /// The name stands where the map belongs.
    MapLeftOut,
    /// No device has the name in the domain that is written, but in another one.
    WrongDomain,
    /// `device` is missing in front of its field.
    DeviceLeftOut,
    /// No device has the name as it is written, but one that is alike.
    Misspelt,
    /// No function has the name as it is written, but one that is alike.
    FunctionMisspelt,
    /// A quantity compared with a number or a text.
    QuantityCompared,
    /// A version compared with a text.
    VersionCompared,
    /// A version without all of its three numbers, or with a letter before them.
    VersionCut,
    /// An integer compared with a text.
    IntCompared,
    /// A boolean compared with a text.
    BoolCompared,
    /// A text compared with something that is not in quotes.
    StringCompared,
    /// `=`, `&` or `|` where it has to be doubled, or a word for an operator.
    HalfOperator,
    /// Some devices do not have it.
    Missing,
    /// No device has it.
    Absent,
    /// Devices of other drivers are looked at.
    OtherDrivers,
}

/// A mistake at a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// Kind of mistake.
    pub mistake: Mistake,
    /// What it is about: an attribute, a capacity, a driver; the right name of a misspelt one, and the right operator.
    pub name: String,
}

/// An expression that may be meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The mistakes that it is without.
    pub found: Vec<Found>,
    /// The expression.
    pub expression: String,
}

/// Type of an attribute or a capacity, as far as a value in its place depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Type {
    Bool,
    Int,
    String,
    Version,
    List,
    Quantity,
}

/// Domains and types of attributes or capacities, by name.
type Names = BTreeMap<String, BTreeSet<(String, Type)>>;

/// The names that devices have.
#[derive(Debug, Default)]
pub struct Known {
    drivers: BTreeSet<String>,
    attributes: Names,
    capacities: Names,
}

impl Known {
    /// Takes in what a device has.
    pub fn add(&mut self, device: &DeviceInput) {
        self.drivers.insert(device.driver.to_string());
        for (map, names) in [
            (DeviceMap::Attributes, &mut self.attributes),
            (DeviceMap::Capacity, &mut self.capacities),
        ] {
            for domain in device.domains(map) {
                for (name, value) in &domain.entries {
                    let type_ = match value {
                        Value::Bool(_) => Type::Bool,
                        Value::Int(_) => Type::Int,
                        Value::String(_) => Type::String,
                        Value::Semver(_) => Type::Version,
                        Value::Quantity(_) => Type::Quantity,
                        _ => Type::List,
                    };
                    let domains = names.entry(name.to_string()).or_default();
                    domains.insert((domain.name.to_string(), type_));
                }
            }
        }
    }

    fn names(&self, map: DeviceMap) -> &Names {
        match map {
            DeviceMap::Attributes => &self.attributes,
            DeviceMap::Capacity => &self.capacities,
        }
    }

    /// Returns whether a device has each attribute and capacity that `expression` looks up by domain and name.
    pub fn has_all(&self, expression: &str) -> bool {
        accesses(expression).iter().all(|access| {
            let name = access.second.as_deref();
            name.is_some_and(|name| self.has(access.map, &access.first, name))
        })
    }

    /// The type of what a device has there.
    fn type_of(&self, map: DeviceMap, domain: &str, name: &str) -> Option<Type> {
        let mut domains = self.names(map).get(name)?.iter();
        let (_, type_) = domains.find(|(known, _)| known == domain)?;
        Some(*type_)
    }

    /// Returns whether a device has it there.
    fn has(&self, map: DeviceMap, domain: &str, name: &str) -> bool {
        self.type_of(map, domain, name).is_some()
    }

    /// The name that is meant by one that no device has, if one differs from it by a slip only.
    fn similar(&self, written: &str) -> Option<&str> {
        if self.attributes.contains_key(written) || self.capacities.contains_key(written) {
            return None;
        }
        let names = self.attributes.keys().chain(self.capacities.keys());
        names.map(String::as_str).find(|name| is_similar(name, written))
    }

    /// Returns where something of this name is, rather in `map` than in the other one, at best in this domain.
    fn place(&self, map: DeviceMap, domain: Option<&str>, name: &str) -> Option<(DeviceMap, &str)> {
        let place = |map: DeviceMap| {
            let domains = self.names(map).get(name)?;
            let same = domains.iter().find(|(known, _)| Some(known.as_str()) == domain);
            let (domain, _) = same.or_else(|| domains.first())?;
            Some((map, domain.as_str()))
        };
        place(map).or_else(|| place(map.other()))
    }
}

/// Fields of a device that an expression can read.
const FIELDS: [&str; 4] = ["driver", "attributes", "capacity", "allowMultipleAllocations"];

/// `device.attributes["domain"].name`, in part or in whole.
#[derive(Clone, Debug)]
struct Access {
    range: Range<usize>,
    map: DeviceMap,
    first: String,
    second: Option<String>,
    /// True if it is asked for with `?`, so that nothing is missed.
    is_optional: bool,
    /// Its first token and the one behind its last.
    tokens: Range<usize>,
}

/// Expressions that may be meant by `expression`, those with the right names and the fewest changes first. Devices that fail are of the
/// drivers `failing`.
pub fn repairs(expression: &str, known: &Known, failing: &BTreeSet<String>) -> Vec<Repair> {
    let as_it_is = Repair {
        found: Vec::new(),
        expression: expression.to_owned(),
    };
    let whole = as_it_is.with_whole_operators();
    let whole = whole.then(slips).then(|text| bare_texts(text, known));
    let moved = whole.then(|text| places(text, known));
    let compared = |base: &Repair| base.then(|text| comparisons(text, known));
    let mut bases = Vec::new();
    // A value for a name that no device has is hardly meant where another name is.
    for base in [moved.clone(), compared(&moved), whole.clone(), compared(&whole)] {
        if !bases.contains(&base) {
            bases.push(base);
        }
    }
    let mut repairs: Vec<Repair> = Vec::new();
    for base in bases {
        let guarded = base.then(|text| guard(text, known, failing));
        let given = base.then(|text| missing(text, known));
        for repair in [base, guarded, given] {
            if repair.expression != expression && !repairs.contains(&repair) {
                repairs.push(repair);
            }
        }
    }
    repairs
}

/// The tokens of a text, by their places.
struct Tokens<'t> {
    text: &'t str,
    all: Vec<Lexeme>,
}

impl<'t> Tokens<'t> {
    fn of(text: &'t str) -> Self {
        let all = lex(text).lexemes;
        Self { text, all }
    }

    fn kind(&self, place: usize) -> Option<Token> {
        Some(self.all.get(place)?.token)
    }

    fn before(&self, place: usize) -> Option<Token> {
        self.kind(place.checked_sub(1)?)
    }

    fn is(&self, place: usize, kind: Token) -> bool {
        self.kind(place) == Some(kind)
    }

    /// The token as it is written.
    fn written(&self, place: usize) -> Option<&'t str> {
        self.text.get(self.all.get(place)?.range.clone())
    }

    /// The identifier at `place`, if there is one.
    fn word(&self, place: usize) -> Option<&'t str> {
        self.written(place).filter(|_| self.is(place, Token::Identifier))
    }

    /// The bytes from one token to another.
    fn range(&self, first: usize, last: usize) -> Range<usize> {
        self.all[first].range.start..self.all[last].range.end
    }
}

/// A part of a text and what takes its place.
struct Edit {
    range: Range<usize>,
    text: String,
    found: Found,
}

impl Edit {
    fn new(range: Range<usize>, text: impl Into<String>, mistake: Mistake, name: impl Into<String>) -> Self {
        Self {
            range,
            text: text.into(),
            found: Found {
                mistake,
                name: name.into(),
            },
        }
    }
}

impl Repair {
    /// With `==`, `&&` and `||` for half of each, as far as there are few. What follows such a half is read right only once it is whole.
    fn with_whole_operators(&self) -> Self {
        const MOST: usize = 8;
        let mut repair = self.clone();
        for _ in 0..MOST {
            let next = repair.then(half_operator);
            if next == repair {
                break;
            }
            repair = next;
        }
        repair
    }

    /// With what `look` finds in it.
    fn then(&self, look: impl FnOnce(&str) -> Vec<Edit>) -> Self {
        let mut edits = look(&self.expression);
        edits.sort_by_key(|edit| edit.range.start);
        let mut repair = Self {
            found: self.found.clone(),
            expression: String::new(),
        };
        let mut end = 0;
        for edit in edits {
            // A mistake inside another is found when the result is tested.
            let Some(between) = self.expression.get(end..edit.range.start) else {
                continue;
            };
            repair.expression.push_str(between);
            repair.expression.push_str(&edit.text);
            end = edit.range.end;
            if !repair.found.contains(&edit.found) {
                repair.found.push(edit.found);
            }
        }
        repair
            .expression
            .push_str(self.expression.get(end..).unwrap_or_default());
        repair
    }
}

/// The first half of an operator without the other half.
fn half_operator(text: &str) -> Vec<Edit> {
    let errors = lex(text).errors.into_iter();
    let half = errors.filter_map(|error| {
        let range = error.start..error.start + 1;
        let whole = match text.get(range.clone())? {
            "=" => "==",
            "&" => "&&",
            "|" => "||",
            _ => return None,
        };
        Some(Edit::new(range, whole, Mistake::HalfOperator, whole))
    });
    half.take(1).collect()
}

/// Functions whose names are often misspelt.
const FUNCTIONS: [&str; 24] = [
    "all",
    "compareTo",
    "contains",
    "endsWith",
    "exists",
    "find",
    "has",
    "hasValue",
    "includes",
    "indexOf",
    "isGreaterThan",
    "isLessThan",
    "isQuantity",
    "isSemver",
    "lowerAscii",
    "matches",
    "orValue",
    "quantity",
    "replace",
    "semver",
    "size",
    "split",
    "startsWith",
    "upperAscii",
];

/// Words of other languages for operators, misspelt functions, fields without `device`, and texts without quotes.
fn slips(text: &str) -> Vec<Edit> {
    let tokens = Tokens::of(text);
    let mut edits = Vec::new();
    for (place, token) in tokens.all.iter().enumerate() {
        let Some(word) = tokens.word(place) else { continue };
        let behind = tokens.kind(place + 1);
        let is_member = matches!(tokens.before(place), Some(Token::Dot | Token::Question));
        let mut edit = |text: &str, mistake: Mistake, name: &str| {
            edits.push(Edit::new(token.range.clone(), text, mistake, name));
        };
        match word.to_ascii_lowercase().as_str() {
            "and" if !is_member => edit("&&", Mistake::HalfOperator, "&&"),
            "or" if !is_member => edit("||", Mistake::HalfOperator, "||"),
            "not" if !is_member => edit("!", Mistake::HalfOperator, "!"),
            _ if behind == Some(Token::LeftParen) && !FUNCTIONS.contains(&word) => {
                let meant = FUNCTIONS.iter().find(|function| is_similar(function, word));
                if let Some(function) = meant {
                    edit(function, Mistake::FunctionMisspelt, function);
                }
            }
            _ if !is_member
                && FIELDS.contains(&word)
                && behind.is_some_and(|behind| {
                    matches!(behind, Token::Dot | Token::LeftBracket) || is_comparison(behind)
                }) =>
            {
                edit(&format!("device.{word}"), Mistake::DeviceLeftOut, word);
            }
            _ => {}
        }
    }
    edits
}

/// Texts without quotes that are compared with the driver or with an attribute: names with dots and dashes.
fn bare_texts(text: &str, known: &Known) -> Vec<Edit> {
    let tokens = Tokens::of(text);
    let of_text = accesses(text).into_iter().filter_map(|access| {
        let name = access.second?;
        let is_text = known.type_of(DeviceMap::Attributes, &access.first, &name) == Some(Type::String);
        is_text.then_some((access.tokens.end, name, 2))
    });
    let of_driver = (0..tokens.all.len()).filter_map(|place| {
        let words = [0, 1, 2].map(|at| tokens.written(place + at));
        let is_driver = words == [Some("device"), Some("."), Some("driver")];
        is_driver.then(|| (place + 3, "driver".to_owned(), 1))
    });
    let mut edits = Vec::new();
    for (place, name, least) in of_text.chain(of_driver) {
        let is_compared = matches!(tokens.kind(place), Some(Token::Equals | Token::NotEquals));
        let rest = tokens.all.get(place + 1..).unwrap_or_default();
        let is_part = |token: Token| {
            matches!(
                token,
                Token::Identifier | Token::Dot | Token::Minus | Token::Int | Token::Float
            )
        };
        let mut end = None;
        let parts = rest.iter().take_while(|part| {
            let is_next = end.is_none_or(|end| end == part.range.start);
            end = Some(part.range.end);
            is_next && is_part(part.token)
        });
        let count = parts.count();
        let is_call = matches!(
            tokens.kind(place + 1 + count),
            Some(Token::LeftParen | Token::LeftBracket)
        );
        let is_name = tokens.word(place + 1).is_some_and(|word| word != "device");
        if is_compared && is_name && !is_call && count >= least {
            let range = tokens.range(place + 1, place + count);
            let text = quoted(&text[range.clone()]);
            edits.push(Edit::new(range, text, Mistake::StringCompared, name));
        }
    }
    edits
}

/// Names that are in another map or another domain than they are looked for.
fn places(text: &str, known: &Known) -> Vec<Edit> {
    let mut edits = Vec::new();
    for access in accesses(text) {
        let edit = |map: DeviceMap, domain: &str, name: &str, mistake: Mistake| {
            Edit::new(
                access.range.clone(),
                written(map, domain, name, ""),
                mistake,
                name,
            )
        };
        let (first, second) = (access.first.as_str(), access.second.as_deref());
        let found = match (access.map, second) {
            (map, Some(name)) if !known.has(map, first, name) => {
                let other = map.other();
                // The domain may be right rather than the map.
                let map_first = if known.has(other, first, name) { other } else { map };
                known.place(map_first, Some(first), name).map(|(place, domain)| {
                    let mistake = match (map == place, place) {
                        (true, _) => Mistake::WrongDomain,
                        (false, DeviceMap::Capacity) => Mistake::CapacityAsAttribute,
                        (false, DeviceMap::Attributes) => Mistake::AttributeAsCapacity,
                    };
                    let mut edit = edit(place, domain, name, mistake);
                    if mistake == Mistake::WrongDomain {
                        edit.found.name = format!("{domain}/{name}");
                    }
                    edit
                })
            }
            (map, None) => {
                // Manifests write the name behind the domain.
                let (domain, name) = match first.split_once('/') {
                    Some((domain, name)) => (Some(domain), name),
                    None => (None, first),
                };
                let place = known.place(map, domain, name);
                place.map(|(map, domain)| edit(map, domain, name, Mistake::DomainLeftOut))
            }
            _ => None,
        };
        let misspelt = || {
            let right = known.similar(second?)?;
            let (map, domain) = known.place(access.map, Some(first), right)?;
            Some(edit(map, domain, right, Mistake::Misspelt))
        };
        edits.extend(found.or_else(misspelt));
    }
    for (range, name) in unknown_fields(text).into_iter().chain(bare_names(text)) {
        let right = known.similar(name).unwrap_or(name);
        let Some((map, domain)) = known.place(DeviceMap::Attributes, None, right) else {
            continue;
        };
        let text = written(map, domain, right, "");
        edits.push(Edit::new(range, text, Mistake::MapLeftOut, right));
    }
    edits
}

/// Returns where `text` has `device.NAME` though a device has no such field, with the name.
fn unknown_fields(text: &str) -> Vec<(Range<usize>, &str)> {
    let tokens = Tokens::of(text);
    let field = |place: usize| {
        let name = tokens.word(place + 2).filter(|name| !FIELDS.contains(name))?;
        let is_access = tokens.word(place) == Some("device")
            && tokens.is(place + 1, Token::Dot)
            && tokens.before(place) != Some(Token::Dot)
            && !tokens.is(place + 3, Token::LeftParen);
        is_access.then(|| (tokens.range(place, place + 2), name))
    };
    (0..tokens.all.len()).filter_map(field).collect()
}

/// Names that are compared, or have a function called, and stand for nothing.
fn bare_names(text: &str) -> Vec<(Range<usize>, &str)> {
    let tokens = Tokens::of(text);
    let name = |place: usize| {
        let name = tokens.word(place)?;
        let is_member = matches!(tokens.before(place), Some(Token::Dot | Token::Question));
        let is_called = tokens.is(place + 1, Token::Dot) && tokens.is(place + 3, Token::LeftParen);
        let is_used = is_called || tokens.kind(place + 1).is_some_and(is_comparison);
        (is_used && !is_member).then(|| (tokens.range(place, place), name))
    };
    (0..tokens.all.len()).filter_map(name).collect()
}

/// Values that are compared with others than those of their type.
fn comparisons(text: &str, known: &Known) -> Vec<Edit> {
    let tokens = Tokens::of(text);
    let mut edits: Vec<Edit> = (0..tokens.all.len())
        .filter_map(|place| cut_version(&tokens, place))
        .collect();
    for access in accesses(text) {
        let Some(name) = &access.second else { continue };
        let type_ = known.type_of(DeviceMap::Attributes, &access.first, name);
        let is_version = type_ == Some(Type::Version);
        let (call, mistake) = match access.map {
            DeviceMap::Capacity => ("quantity", Mistake::QuantityCompared),
            DeviceMap::Attributes if is_version => ("semver", Mistake::VersionCompared),
            DeviceMap::Attributes => {
                edits.extend(type_.and_then(|type_| of_type(&tokens, &access, name, type_)));
                continue;
            }
        };
        if !tokens.kind(access.tokens.end).is_some_and(is_comparison) {
            continue;
        }
        let (Some((range, value)), Some(path), Some(operator)) = (
            operand(&tokens, access.tokens.end + 1, call),
            text.get(access.range.clone()),
            tokens.written(access.tokens.end),
        ) else {
            continue;
        };
        let value = if is_version { whole_version(value) } else { value };
        let text = format!("{path}.compareTo({call}({value})) {operator} 0");
        edits.push(Edit::new(access.range.start..range.end, text, mistake, name));
    }
    edits
}

/// The literal of the call of `semver` at `place` with all three numbers, where it lacks some.
fn cut_version(tokens: &Tokens<'_>, place: usize) -> Option<Edit> {
    let written = tokens.written(place + 2)?;
    let is_call = tokens.word(place) == Some("semver")
        && tokens.is(place + 1, Token::LeftParen)
        && tokens.is(place + 3, Token::RightParen);
    let whole = whole_version(written.to_owned());
    let version = string_value(&whole).filter(|version| string_value(written).as_ref() != Some(version))?;
    let range = tokens.range(place + 2, place + 2);
    is_call.then(|| Edit::new(range, whole, Mistake::VersionCut, version))
}

/// A literal text with all three numbers of a version, and no letter before them.
fn whole_version(literal: String) -> String {
    let Some(text) = string_value(&literal) else {
        return literal;
    };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.strip_prefix('v').unwrap_or(&text);
    match number.split('.').count() {
        3 if number == text => literal,
        parts @ 1..=3 if number.split('.').all(is_number) => {
            quoted(&format!("{number}{}", ".0".repeat(3 - parts)))
        }
        _ => literal,
    }
}

/// The value that an attribute is compared with, as one of the attribute's type.
fn of_type(tokens: &Tokens<'_>, access: &Access, name: &str, type_: Type) -> Option<Edit> {
    let place = access.tokens.end + 1;
    if !is_comparison(tokens.kind(access.tokens.end)?) {
        return None;
    }
    let written = tokens.written(place)?;
    let unquoted = || string_value(written);
    let behind = tokens.kind(place + 1)?;
    let is_more = matches!(behind, Token::LeftParen | Token::Dot | Token::LeftBracket);
    let (right, mistake) = match (type_, tokens.kind(place)?) {
        (Type::Int, Token::String) => (
            unquoted().filter(|text| text.parse::<i64>().is_ok())?,
            Mistake::IntCompared,
        ),
        (Type::Bool, Token::String) => (
            unquoted().filter(|text| matches!(text.as_str(), "true" | "false"))?,
            Mistake::BoolCompared,
        ),
        (Type::String, Token::Int | Token::Float | Token::True | Token::False) => {
            (quoted(written), Mistake::StringCompared)
        }
        (Type::String, Token::Identifier) if !is_more => (quoted(written), Mistake::StringCompared),
        _ => return None,
    };
    Some(Edit::new(tokens.range(place, place), right, mistake, name))
}

fn is_comparison(token: Token) -> bool {
    matches!(
        token,
        Token::Equals
            | Token::NotEquals
            | Token::Less
            | Token::LessEquals
            | Token::Greater
            | Token::GreaterEquals
    )
}

/// The literal at `place`, or what is in a call of `call` there: where it is, and as a text in quotes.
fn operand(tokens: &Tokens<'_>, place: usize, call: &str) -> Option<(Range<usize>, String)> {
    let written = tokens.written(place)?;
    match tokens.kind(place)? {
        Token::Int | Token::Float => Some((tokens.range(place, place), quoted(written))),
        Token::String => Some((tokens.range(place, place), written.to_owned())),
        Token::Identifier if written == call => {
            let is_call = tokens.is(place + 1, Token::LeftParen)
                && tokens.is(place + 2, Token::String)
                && tokens.is(place + 3, Token::RightParen);
            let value = tokens.written(place + 2)?;
            is_call.then(|| (tokens.range(place, place + 3), value.to_owned()))
        }
        _ => None,
    }
}

/// Names that some devices lack get a value there.
fn missing(text: &str, known: &Known) -> Vec<Edit> {
    let mut edits = Vec::new();
    for access in accesses(text) {
        let Some(name) = access.second.as_ref().filter(|_| !access.is_optional) else {
            continue;
        };
        let type_ = known.type_of(access.map, &access.first, name);
        let is_elsewhere = known.capacities.contains_key(name) || known.attributes.contains_key(name);
        if type_.is_none() && is_elsewhere {
            continue;
        }
        let instead = match type_ {
            Some(Type::Quantity) => "quantity(\"0\")",
            None if access.map == DeviceMap::Capacity => "quantity(\"0\")",
            Some(Type::Bool) => "false",
            Some(Type::Int) => "0",
            Some(Type::Version) => "semver(\"0.0.0\")",
            Some(Type::List) => "[]",
            Some(Type::String) => "\"\"",
            // What is compared with a number is one.
            None if follows_number(text, &access) => "0",
            None => "\"\"",
        };
        let path = written(access.map, &access.first, name, "?");
        let text = format!("{path}.orValue({instead})");
        let mistake = if type_.is_some() {
            Mistake::Missing
        } else {
            Mistake::Absent
        };
        edits.push(Edit::new(access.range, text, mistake, name));
    }
    edits
}

/// The term so that it is false for a device without the attribute that it asks for, where it fails as it is written; nothing where it does not
/// ask for one attribute of `device.attributes["DOMAIN"]`, may be true without it, or cannot be read.
///
/// A text that is compared for equality gets the empty text for want of a value, everything else is preceded by `has`.
pub fn guarded(term: &str) -> Option<String> {
    let mut accesses = accesses(term).into_iter();
    let (Some(access), None) = (accesses.next(), accesses.next()) else {
        return None;
    };
    let name = access
        .second
        .filter(|_| access.map == DeviceMap::Attributes && !access.is_optional)?;
    let tokens = lex(term).lexemes;
    let may_be_true = |one: &Lexeme| matches!(one.token, Token::Or | Token::Question);
    if tokens.iter().any(may_be_true) || parse(term, Macros { sort_by: true }).is_err() {
        return None;
    }
    let (before, behind) = (
        tokens.get(..access.tokens.start)?,
        tokens.get(access.tokens.end..)?,
    );
    let text = match (before, behind) {
        ([], [operator, value, _end]) | ([value, operator], [_end]) => Some(value)
            .filter(|value| operator.token == Token::Equals && value.token == Token::String)
            .and_then(|value| string_value(term.get(value.range.clone())?)),
        _ => None,
    };
    // The path as it is written: quotes and spaces in it are the user's.
    let path = term.get(access.range)?;
    let map = path.strip_suffix(&name)?.strip_suffix('.')?;
    Some(match text {
        Some(text) if !text.is_empty() => {
            let optional = format!("{map}.?{name}.orValue(\"\")");
            term.replacen(path, &optional, 1)
        }
        _ => format!("(has({path}) && {term})"),
    })
}

fn follows_number(text: &str, access: &Access) -> bool {
    let behind = Tokens::of(text).kind(access.tokens.end + 1);
    matches!(behind, Some(Token::Int | Token::Float))
}

/// Only devices of the driver whose domain is looked at, where others fail.
fn guard(text: &str, known: &Known, failing: &BTreeSet<String>) -> Vec<Edit> {
    let domains: BTreeSet<String> = accesses(text)
        .into_iter()
        .map(|access| access.first)
        .filter(|domain| known.drivers.contains(domain))
        .collect();
    let mut domains = domains.into_iter();
    let (Some(driver), None) = (domains.next(), domains.next()) else {
        return Vec::new();
    };
    if failing.contains(&driver) && failing.len() == 1 {
        return Vec::new();
    }
    let tokens = lex(text).lexemes;
    let is_chain = tokens
        .iter()
        .all(|token| !matches!(token.token, Token::Or | Token::Question));
    let whole = if is_chain {
        text.to_owned()
    } else {
        format!("({text})")
    };
    let guarded = format!("device.driver == {} && {whole}", quoted(&driver));
    vec![Edit::new(0..text.len(), guarded, Mistake::OtherDrivers, driver)]
}

/// The path to a value, with `mark` before its name.
fn written(map: DeviceMap, domain: &str, name: &str, mark: &str) -> String {
    let (map, domain) = (map.name(), quoted(domain));
    if is_identifier(name) {
        format!("device.{map}[{domain}].{mark}{name}")
    } else {
        format!("device.{map}[{domain}][{mark}{}]", quoted(name))
    }
}

fn is_identifier(name: &str) -> bool {
    let tokens = lex(name).lexemes;
    matches!(tokens.as_slice(), [one, end] if one.token == Token::Identifier && one.range.len() == name.len() && end.token == Token::End)
}

/// Domains and names have no characters that a literal has to escape; one that has is refused when it is tried.
fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

/// Returns where `text` looks into the maps of the device.
fn accesses(text: &str) -> Vec<Access> {
    let tokens = Tokens::of(text);
    let is = |place: usize, kind: Token| tokens.is(place, kind);
    // A member at `place`: its name, whether it may be absent, and the token behind it.
    let member = |place: usize| -> Option<(String, bool, usize)> {
        let optional = is(place + 1, Token::Question);
        let name = place + 1 + usize::from(optional);
        if is(place, Token::Dot) {
            return Some((tokens.word(name)?.to_owned(), optional, name + 1));
        }
        let is_index =
            is(place, Token::LeftBracket) && is(name, Token::String) && is(name + 1, Token::RightBracket);
        let literal = tokens.written(name)?;
        is_index.then(|| Some((string_value(literal)?, optional, name + 2)))?
    };
    let mut found = Vec::new();
    for place in 0..tokens.all.len() {
        let is_field_of_other = tokens.before(place) == Some(Token::Dot);
        if tokens.word(place) != Some("device") || !is(place + 1, Token::Dot) || is_field_of_other {
            continue;
        }
        let Some(map) = tokens.word(place + 2).and_then(DeviceMap::called) else {
            continue;
        };
        let Some((first, first_optional, next)) = member(place + 3) else {
            continue;
        };
        // A call is no member.
        let second = member(next).filter(|(_, _, behind)| !is(*behind, Token::LeftParen));
        if is(next, Token::LeftParen) {
            continue;
        }
        let (second, second_optional, end) = match second {
            Some((name, optional, end)) => (Some(name), optional, end),
            None => (None, false, next),
        };
        found.push(Access {
            range: tokens.range(place, end - 1),
            map,
            first,
            second,
            is_optional: first_optional || second_optional,
            tokens: place..end,
        });
    }
    found
}

/// `expression` in lines of at most `columns` bytes, as far as its tokens are shorter: broken where it has white space, and between tokens
/// where it has none.
pub fn in_lines(expression: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<Vec<(&str, &str)>> = vec![Vec::new()];
    let mut end = 0;
    for token in &lex(expression).lexemes {
        let (Some(between), Some(text)) = (
            expression.get(end..token.range.start),
            expression.get(token.range.clone()),
        ) else {
            continue;
        };
        // A comment ends with its line.
        if between.contains("//") {
            return expression.lines().map(str::to_owned).collect();
        }
        end = token.range.end;
        let space = if between.is_empty() { "" } else { " " };
        let Some(line) = lines.last_mut() else { continue };
        line.push((space, text));
        let length: usize = line.iter().map(|(space, text)| space.len() + text.len()).sum();
        if length <= columns {
            continue;
        }
        // A parenthesis stays with what it closes, and a call with its name.
        let is_open = |place: &usize| !matches!(line[*place].1, ")" | "]" | "(" | "[" | ",");
        let spaces = (1..line.len()).rev().find(|place| !line[*place].0.is_empty());
        let place = spaces.or_else(|| (1..line.len()).rev().find(is_open));
        if let Some(place) = place {
            let mut next = line.split_off(place);
            if let Some((space, _)) = next.first_mut() {
                *space = "";
            }
            lines.push(next);
        }
    }
    let text = |line: Vec<(&str, &str)>| line.iter().flat_map(|(space, text)| [*space, *text]).collect();
    lines.into_iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Environment, Features, Mode};
    use dra_values::AttributeValue;
    use std::collections::BTreeMap;

    fn known() -> Known {
        let attributes: BTreeMap<String, AttributeValue> = serde_json::from_value(serde_json::json!({
            "model": {"string": "H100"}, "index": {"int": 1}, "driverVersion": {"version": "1.2.0"},
            "resource.kubernetes.io/pcieRoot": {"string": "pci0"},
        }))
        .expect("attributes");
        let attributes = attributes.iter().map(|(name, value)| (name.as_str(), value));
        let memory = "80Gi".parse().expect("a quantity");
        let mut known = Known::default();
        known.add(&DeviceInput::new(
            "gpu.example.com",
            attributes,
            [("memory", &memory)],
            false,
        ));
        known.add(&DeviceInput::new("nic.example.com", [], [], false));
        known
    }

    fn all(expression: &str) -> Vec<String> {
        let failing = ["nic.example.com".to_owned(), "gpu.example.com".to_owned()].into();
        let repairs = repairs(expression, &known(), &failing);
        repairs.into_iter().map(|repair| repair.expression).collect()
    }

    #[test]
    fn a_guarded_term_is_false_where_the_attribute_is_missing() {
        for (term, expected) in [
            (
                "device.attributes['d'].firmware == '1.2'",
                Some("device.attributes['d'].?firmware.orValue(\"\") == '1.2'"),
            ),
            (
                "\"x\" == device.attributes[\"d\"].model",
                Some("\"x\" == device.attributes[\"d\"].?model.orValue(\"\")"),
            ),
            (
                "device.attributes['d'].index > 3",
                Some("(has(device.attributes['d'].index) && device.attributes['d'].index > 3)"),
            ),
            (
                "device.attributes['d'].model != 'x'",
                Some("(has(device.attributes['d'].model) && device.attributes['d'].model != 'x')"),
            ),
            (
                "device.attributes['d'].model == ''",
                Some("(has(device.attributes['d'].model) && device.attributes['d'].model == '')"),
            ),
            ("device.attributes['d'].?model.orValue('') == 'x'", None),
            (
                "device.attributes['d'].model.startsWith('x')",
                Some("(has(device.attributes['d'].model) && device.attributes['d'].model.startsWith('x'))"),
            ),
            (
                "device.attributes['d'].version.compareTo(semver('1.0.0')) >= 0",
                Some(
                    "(has(device.attributes['d'].version) && device.attributes['d'].version.compareTo(semver('1.0.0')) >= 0)",
                ),
            ),
            (
                "!device.attributes['d'].busy",
                Some("(has(device.attributes['d'].busy) && !device.attributes['d'].busy)"),
            ),
            ("device.driver == 'd' || device.attributes['d'].a == 'x'", None),
            ("device.attributes['d'].a == device.attributes['d'].b", None),
            ("device.driver == 'd'", None),
            ("device.attributes['d'].model ==", None),
        ] {
            assert_eq!(guarded(term).as_deref(), expected, "{term}");
            if let Some(guarded) = guarded(term) {
                let environment = Environment::new(
                    37,
                    Features {
                        consumable_capacity: true,
                        list_type_attributes: true,
                    },
                );
                let program = environment.compile(&guarded, Mode::Stored).expect(&guarded);
                let input = DeviceInput::new("d", [], [], false);
                assert_eq!(program.evaluate(&input).result, Ok(false), "{guarded}");
            }
        }
    }

    #[test]
    fn usual_mistakes_are_found() {
        for (wrong, right) in [
            (
                "device.attributes['gpu.example.com'].memory > 40",
                "device.capacity[\"gpu.example.com\"].memory.compareTo(quantity(\"40\")) > 0",
            ),
            (
                "device.capacity[\"gpu.example.com\"].memory >= quantity('40Gi') && true",
                "device.capacity[\"gpu.example.com\"].memory.compareTo(quantity('40Gi')) >= 0 && true",
            ),
            (
                "device.capacity['gpu.example.com'].model == \"H100\"",
                "device.attributes[\"gpu.example.com\"].model == \"H100\"",
            ),
            (
                "device.attributes.model == \"H100\"",
                "device.attributes[\"gpu.example.com\"].model == \"H100\"",
            ),
            (
                "device.attributes['gpu.example.com/model'] == \"H100\"",
                "device.attributes[\"gpu.example.com\"].model == \"H100\"",
            ),
            (
                "device.memory > 40",
                "device.capacity[\"gpu.example.com\"].memory.compareTo(quantity(\"40\")) > 0",
            ),
            (
                "device.model == 'H100' && device.driver == 'gpu.example.com'",
                "device.attributes[\"gpu.example.com\"].model == 'H100' && device.driver == 'gpu.example.com'",
            ),
            (
                "device.modle == 'H100'",
                "device.attributes[\"gpu.example.com\"].model == 'H100'",
            ),
            (
                "device.attributes['gpu.example.com'].modle == 'H100'",
                "device.attributes[\"gpu.example.com\"].model == 'H100'",
            ),
            (
                "device.attributes['gpu.example.com'].Memory > 40",
                "device.capacity[\"gpu.example.com\"].memory.compareTo(quantity(\"40\")) > 0",
            ),
            (
                "device.attributes['pcieRoot'] == \"pci0\"",
                "device.attributes[\"resource.kubernetes.io\"].pcieRoot == \"pci0\"",
            ),
            (
                "device.attributes['gpu.example.com'].driverVersion >= '1.2.0'",
                "device.attributes['gpu.example.com'].driverVersion.compareTo(semver('1.2.0')) >= 0",
            ),
            (
                "device.attributes['gpu.example.com'].driverVersion == '1.2'",
                "device.attributes['gpu.example.com'].driverVersion.compareTo(semver(\"1.2.0\")) == 0",
            ),
            (
                "device.attributes['gpu.example.com'].driverVersion.isLessThan(semver('v1.2.0'))",
                "device.attributes['gpu.example.com'].driverVersion.isLessThan(semver(\"1.2.0\"))",
            ),
            (
                "device.attributes['gpu.example.com'].index == '3'",
                "device.attributes['gpu.example.com'].index == 3",
            ),
            (
                "device.attributes['gpu.example.com'].model == H100",
                "device.attributes['gpu.example.com'].model == \"H100\"",
            ),
            (
                "device.attributes['gpu.example.com'].model ='H100' & device.driver = 'gpu.example.com'",
                "device.attributes['gpu.example.com'].model =='H100' && device.driver == 'gpu.example.com'",
            ),
            (
                "device.attributes['gpu.nvidia.com'].model == 'H100'",
                "device.attributes[\"gpu.example.com\"].model == 'H100'",
            ),
            (
                "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('1')) > 0",
                "device.capacity[\"gpu.example.com\"].memory.compareTo(quantity('1')) > 0",
            ),
            (
                "not (device.driver == 'a' and device.driver == 'b' OR true)",
                "! (device.driver == 'a' && device.driver == 'b' || true)",
            ),
            (
                "device.attributes['gpu.example.com'].model.startWith('H')",
                "device.attributes['gpu.example.com'].model.startsWith('H')",
            ),
            (
                "model.startWith('H')",
                "device.attributes[\"gpu.example.com\"].model.startsWith('H')",
            ),
            (
                "attributes['gpu.example.com'].model == 'H100'",
                "device.attributes['gpu.example.com'].model == 'H100'",
            ),
            (
                "device.driver == gpu.example.com",
                "device.driver == \"gpu.example.com\"",
            ),
            ("driver == gpu", "device.driver == \"gpu\""),
            (
                "device.attributes['gpu.example.com'].model == H100-SXM5-80GB && true",
                "device.attributes['gpu.example.com'].model == \"H100-SXM5-80GB\" && true",
            ),
            (
                "model == 'H100'",
                "device.attributes[\"gpu.example.com\"].model == 'H100'",
            ),
            (
                "device.attributes[\"gpu.example.com\"].firmware == '1'",
                "device.attributes[\"gpu.example.com\"].?firmware.orValue(\"\") == '1'",
            ),
            (
                "device.attributes[\"gpu.example.com\"].index < 2 || false",
                "device.driver == \"gpu.example.com\" && (device.attributes[\"gpu.example.com\"].index < 2 || false)",
            ),
        ] {
            let found = all(wrong);
            assert!(found.iter().any(|found| found == right), "{wrong}: {found:#?}");
        }
    }

    #[test]
    fn another_name_comes_before_a_value_for_the_wrong_one() {
        assert_eq!(
            all("device.attributes['gpu.example.com'].modle == 'H100'")[0],
            "device.attributes[\"gpu.example.com\"].model == 'H100'"
        );
    }

    #[test]
    fn what_is_right_and_what_is_no_access_stays() {
        for text in [
            "",
            "true",
            "device.driver == 'x'",
            "x.device.attributes['a'].b",
            "'device.attributes.model'",
            "device.attributes[",
            "device.colour == 'x'",
            "x.device.model",
            "device.model()",
        ] {
            assert_eq!(all(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn lines_break_between_tokens_only() {
        let text = "device.driver == \"a b c d e f g h i j\" && device.attributes[\"d\"].x > 1";
        let lines = in_lines(text, 30);
        assert!(lines.iter().all(|line| line.len() <= 30), "{lines:?}");
        assert_eq!(lines.concat().replace(' ', ""), text.replace(' ', ""));
        assert!(
            lines.iter().any(|line| line.contains("\"a b c d e f g h i j\"")),
            "{lines:?}"
        );
        assert_eq!(
            in_lines("true // why\n && false", 10),
            ["true // why", " && false"]
        );
    }
}
