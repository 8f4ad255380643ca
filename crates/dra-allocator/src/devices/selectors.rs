//! Expressions of classes and requests: each compiled once, each evaluated once on devices that it cannot tell apart.
//!
//! Programs and results are shared by all demands and threads, and by the inputs that come from one another: a change of the
//! cluster costs evaluations only for the devices that it changes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use foldhash::fast::RandomState;

use dra_cel::{
    CompileError, DeviceInput, Environment, EvalError, KeptReadings, Known, Mode, Program, Readings,
    SliceDevice,
};
use dra_model::{AttributeValue, Capacity, Cluster, Device, Meter, Slice, Str, TOO_MUCH_WORK};

/// The reason why an expression has no value, in the words of kube-scheduler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// It does not compile.
    #[error("{0}")]
    Compile(Str),
    /// It fails on this device.
    #[error("{0}")]
    Runtime(Str),
    /// The command's work on expressions was used up before, so that it was not tried.
    #[error("{}", TOO_MUCH_WORK)]
    NotTried,
}

/// Every expression that was asked for, and the numbers of all devices.
#[derive(Debug)]
pub(crate) struct SelectorCache {
    environment: Environment,
    meter: Arc<Meter>,
    selectors: Mutex<HashMap<Str, Arc<CachedSelector>>>,
    derived: Mutex<HashMap<Str, Arc<DerivedAttribute>>>,
    next_device: AtomicU32,
}

/// A slice whose devices have numbers.
#[derive(Debug)]
pub(crate) struct NumberedSlice {
    pub(crate) slice: Arc<Slice>,
    /// Number of the first device.
    base: u32,
    /// The devices as expressions see them, made when one is evaluated.
    inputs: OnceLock<Box<[OnceLock<DeviceInput>]>>,
}

/// A device by its place in a slice.
#[derive(Clone, Copy)]
pub(crate) struct Numbered<'a> {
    pub(crate) slice: &'a NumberedSlice,
    pub(crate) index: u32,
}

/// An expression that selects devices, with its results so far.
#[derive(Debug)]
pub struct CachedSelector {
    /// The expression.
    pub(crate) text: Str,
    program: Result<Program, SelectorError>,
    results: Results,
    errors: Mutex<HashMap<u32, Str>>,
    answers: Answers,
}

/// An expression that computes an attribute, with the values so far.
#[derive(Debug)]
pub(crate) struct DerivedAttribute {
    program: Result<Program, SelectorError>,
    values: Mutex<HashMap<u32, Result<AttributeValue, Str>>>,
}

impl SelectorCache {
    pub(crate) fn new(environment: Environment, meter: &Arc<Meter>) -> Self {
        Self {
            environment,
            meter: Arc::clone(meter),
            selectors: Mutex::default(),
            derived: Mutex::default(),
            next_device: AtomicU32::new(0),
        }
    }

    /// Returns what a command may spend on expressions and on looking at devices.
    pub(crate) fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// Numbers the devices of `slice`.
    pub(crate) fn number(&self, slice: &Arc<Slice>) -> Arc<NumberedSlice> {
        let devices = slice.spec.devices.len() as u32;
        Arc::new(NumberedSlice {
            slice: Arc::clone(slice),
            base: self.next_device.fetch_add(devices, Ordering::Relaxed),
            inputs: OnceLock::new(),
        })
    }

    fn program(&self, compiled: Result<Program, CompileError>) -> Result<Program, SelectorError> {
        match compiled {
            Ok(program) => Ok(program.metered(&self.meter)),
            Err(error) => Err(SelectorError::Compile(error.to_string().into())),
        }
    }

    /// The selector `text`.
    pub(crate) fn selector(&self, text: &Str) -> Arc<CachedSelector> {
        let mut known = locked(&self.selectors);
        let selector = known.entry(text.clone()).or_insert_with(|| {
            Arc::new(CachedSelector {
                text: text.clone(),
                program: self.program(self.environment.compile(text, Mode::Stored)),
                results: Results::default(),
                errors: Mutex::default(),
                answers: Answers::default(),
            })
        });
        Arc::clone(selector)
    }

    /// The expression `text` that computes an attribute.
    pub(crate) fn derived_attribute(&self, text: &Str) -> Arc<DerivedAttribute> {
        let mut known = locked(&self.derived);
        let attribute = known.entry(text.clone()).or_insert_with(|| {
            Arc::new(DerivedAttribute {
                program: self.program(self.environment.compile_attribute(text, Mode::Stored)),
                values: Mutex::default(),
            })
        });
        Arc::clone(attribute)
    }
}

/// State left behind by a thread that panicked is complete: entries are built before they are inserted.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns what selectors read of `device`, a device of `driver`.
pub fn slice_device<'a>(driver: &'a str, device: &'a Device) -> SliceDevice<'a, Capacity> {
    SliceDevice {
        driver,
        attributes: &device.attributes,
        capacity: &device.capacity,
        allow_multiple_allocations: device.allow_multiple_allocations,
    }
}

/// The names of attributes and capacities that published devices have.
pub fn known_names(cluster: &Cluster) -> Known {
    let mut known = Known::default();
    for pool in cluster.pools() {
        for (slice, device) in pool.devices() {
            known.add(&DeviceInput::of(slice_device(&slice.spec.driver, device)));
        }
    }
    known
}

impl<'a> Numbered<'a> {
    fn number(self) -> u32 {
        self.slice.base + self.index
    }

    /// The device itself.
    pub(super) fn device(self) -> &'a Device {
        &self.slice.slice.spec.devices[self.index as usize]
    }

    /// Returns what `program` reads of it, if that can be listed.
    fn readings(self, program: &Program) -> Option<Readings<'a>> {
        let reads = program.reads()?;
        reads.read(slice_device(&self.slice.slice.spec.driver, self.device()))
    }

    fn input(self) -> &'a DeviceInput {
        let spec = &self.slice.slice.spec;
        let inputs = self
            .slice
            .inputs
            .get_or_init(|| spec.devices.iter().map(|_| OnceLock::new()).collect());
        inputs[self.index as usize].get_or_init(|| DeviceInput::of(slice_device(&spec.driver, self.device())))
    }
}

impl CachedSelector {
    /// The program, or why the expression does not compile.
    pub fn program(&self) -> Result<&Program, SelectorError> {
        self.program.as_ref().map_err(Clone::clone)
    }

    /// Returns whether it selects the device.
    pub(crate) fn matches(&self, device: Numbered<'_>) -> Result<bool, SelectorError> {
        let program = self.program()?;
        let number = device.number();
        let known = self.results.of(number);
        match known.load(Ordering::Acquire) {
            NO => return Ok(false),
            YES => return Ok(true),
            FAILED => {
                if let Some(why) = locked(&self.errors).get(&number) {
                    return Err(SelectorError::Runtime(why.clone()));
                }
            }
            _ => {}
        }
        match self.answer(program, device) {
            Ok(matches) => {
                known.store(if matches { YES } else { NO }, Ordering::Release);
                Ok(matches)
            }
            Err(SelectorError::Runtime(why)) => {
                locked(&self.errors).insert(number, why.clone());
                known.store(FAILED, Ordering::Release);
                Err(SelectorError::Runtime(why))
            }
            Err(other) => Err(other),
        }
    }

    /// The answer of `program`, which is that of the selector, for a device that is not asked about again.
    pub(super) fn answer(&self, program: &Program, device: Numbered<'_>) -> Result<bool, SelectorError> {
        let readings = device.readings(program);
        if let Some(known) = readings.as_ref().and_then(|readings| self.answers.get(readings)) {
            return known.map_err(SelectorError::Runtime);
        }
        let input = device.input();
        let answer = tried(program.evaluate(input).result)?;
        if let Some(readings) = readings.filter(|_| input.is_readable()) {
            self.answers.add(&readings, &answer);
        }
        answer.map_err(SelectorError::Runtime)
    }
}

/// The result of an evaluation that was tried, which is kept.
fn tried<T>(result: Result<T, EvalError>) -> Result<Result<T, Str>, SelectorError> {
    match result {
        Err(error) if error.is_not_tried() => Err(SelectorError::NotTried),
        result => Ok(result.map_err(|error| error.to_string().into())),
    }
}

/// Asks `selectors` about a device in their order, and returns the first that does not match. `matches` asks one.
///
/// Mirrors `allocator_incubating.go`, `selectorsMatch`, v1.37.2.
///
/// # Errors
/// The first that fails, if none before it does not match, with its error.
pub fn first_unmatched<S, E>(
    selectors: impl IntoIterator<Item = S>,
    matches: impl Fn(&S) -> Result<bool, E>,
) -> Result<Option<S>, (S, E)> {
    for selector in selectors {
        match matches(&selector) {
            Ok(true) => {}
            Ok(false) => return Ok(Some(selector)),
            Err(error) => return Err((selector, error)),
        }
    }
    Ok(None)
}

/// Selection result of a device, or why it is unknown.
type Answer = Result<bool, Str>;

/// Readings of a device, and their result.
type Answered = (KeptReadings, Answer);

/// Answers by what an expression reads of a device: by its code.
#[derive(Debug, Default)]
struct Answers(RwLock<HashMap<u64, Vec<Answered>, RandomState>>);

/// Codes that are kept for one expression. Where each device is different nothing is gained by more.
const MOST_CODES: usize = 1_024;

/// Answers that are kept for one code.
const MOST_ALIKE: usize = 8;

impl Answers {
    fn get(&self, readings: &Readings<'_>) -> Option<Answer> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let alike = known.get(&readings.code())?;
        let (_, answer) = alike.iter().find(|(kept, _)| readings.are(kept))?;
        Some(answer.clone())
    }

    fn add(&self, readings: &Readings<'_>, answer: &Answer) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let code = readings.code();
        if known.len() >= MOST_CODES && !known.contains_key(&code) {
            return;
        }
        let alike = known.entry(code).or_default();
        if alike.len() < MOST_ALIKE {
            alike.push((readings.keep(), answer.clone()));
        }
    }
}

impl DerivedAttribute {
    /// The value that it has for the device.
    pub(crate) fn value(&self, device: Numbered<'_>) -> Result<AttributeValue, SelectorError> {
        let program = self.program.as_ref().map_err(Clone::clone)?;
        let number = device.number();
        if let Some(known) = locked(&self.values).get(&number) {
            return known.clone().map_err(SelectorError::Runtime);
        }
        let value = tried(program.derive(device.input()))?;
        locked(&self.values).insert(number, value.clone());
        value.map_err(SelectorError::Runtime)
    }
}

const NO: u8 = 1;
const YES: u8 = 2;
const FAILED: u8 = 3;

/// A byte for each device, zero while nothing is known. Bytes lie in chunks, each as large as all before it, so that there may
/// always be more devices, and reading takes no lock.
#[derive(Debug, Default)]
struct Results {
    chunks: [OnceLock<Box<[AtomicU8]>>; u32::BITS as usize],
}

/// Size of the first chunk.
const FIRST: u64 = 256;

impl Results {
    fn of(&self, number: u32) -> &AtomicU8 {
        // Places are counted from `FIRST`, so that the highest bit of a place is the size of its chunk.
        let place = u64::from(number) + FIRST;
        let size = 1_u64 << place.ilog2();
        let chunk = self.chunks[(size.ilog2() - FIRST.ilog2()) as usize]
            .get_or_init(|| (0..size).map(|_| AtomicU8::new(0)).collect());
        &chunk[(place - size) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_cel::Features;
    use dra_model::{Kind, Object};

    const EXPRESSIONS: &[&str] = &[
        r#"device.attributes["d"].model == "a""#,
        r#"device.attributes["d"].?model.orValue("a") == "a""#,
        r#"has(device.attributes["d"].model) && device.capacity["d"].memory.isGreaterThan(quantity("1Gi"))"#,
        r#"device.attributes["e"].model == "a" || device.driver == "d" && device.allowMultipleAllocations"#,
        r#""model" in device.attributes["d"]"#,
        r#"device.attributes["d"].exists(name, name.startsWith("m"))"#,
        r#"device.attributes["d"].version.isGreaterThan(semver("1.0.0"))"#,
        r#"device.attributes[device.driver].model == "a""#,
        r#"device.capacity["d"].memory == quantity("1024Mi")"#,
    ];

    const DEVICES: &str = r#"[
        {"name": "0"},
        {"name": "1", "attributes": {"model": {"string": "a"}, "uuid": {"string": "1"}}},
        {"name": "2", "attributes": {"model": {"string": "a"}, "uuid": {"string": "2"}}},
        {"name": "3", "attributes": {"model": {"string": "b"}}, "capacity": {"memory": {"value": "2Gi"}}},
        {"name": "4", "attributes": {"d/model": {"string": "a"}, "model": {"string": "b"}}},
        {"name": "5", "attributes": {"model": {"int": 1}}, "allowMultipleAllocations": true},
        {"name": "6", "attributes": {"e/model": {"string": "a"}}, "capacity": {"d/memory": {"value": "1Gi"}}},
        {"name": "7", "attributes": {"model": {"string": "a"}, "version": {"version": "1.2.3"}}},
        {"name": "8", "attributes": {"model": {"string": "a"}, "version": {"version": "none"}}},
        {"name": "9", "attributes": {"model": {"string": "a"}, "other": {"version": "none"}}},
        {"name": "10", "attributes": {"model": {"string": "a"}, "list": {"strings": ["a"]}}},
        {"name": "11", "attributes": {"model": {"string": "a"}, "odd": {}}},
        {"name": "12", "capacity": {"memory": {"value": "1Gi"}}, "attributes": {"model": {"string": "a"}}},
        {"name": "13", "capacity": {"memory": {"value": "1024Mi"}}, "attributes": {"model": {"string": "a"}}},
        {"name": "14", "attributes": {"model": {"string": "a"}, "version": {"version": "0.2.3"}}}
    ]"#;

    fn environment(list_type_attributes: bool) -> Environment {
        let features = Features {
            consumable_capacity: true,
            list_type_attributes,
        };
        Environment::new(37, features)
    }

    #[test]
    fn each_device_gets_its_own_answer_whatever_was_answered_before() {
        let json =
            format!(r#"{{"metadata": {{"name": "s"}}, "spec": {{"driver": "d", "devices": {DEVICES}}}}}"#);
        let Ok(Object::ResourceSlice(slice)) = Object::from_json(Kind::ResourceSlice, json.as_bytes()) else {
            panic!("not a slice: {json}");
        };
        for list_type_attributes in [false, true] {
            let environment = environment(list_type_attributes);
            for text in EXPRESSIONS {
                let program = environment.compile(text, Mode::Stored).expect(text);
                let selectors = SelectorCache::new(environment, &Arc::default());
                let selector = selectors.selector(&Str::from(*text));
                let numbered = selectors.number(&slice);
                for (index, device) in (0..).zip(&slice.spec.devices) {
                    let alone = program
                        .evaluate(&DeviceInput::of(slice_device("d", device)))
                        .result;
                    let place = Numbered {
                        slice: &numbered,
                        index,
                    };
                    let expected = alone.map_err(|why| SelectorError::Runtime(why.to_string().into()));
                    assert_eq!(selector.matches(place), expected, "{text} on {}", device.name);
                }
            }
        }
    }

    #[test]
    fn few_evaluations_serve_many_devices() {
        let environment = environment(false);
        let selectors = SelectorCache::new(environment, &Arc::default());
        for (text, kept) in [
            (r#"device.attributes["d"].model == "a""#, 2),
            (r#"device.attributes["d"].seven > 3"#, 7),
            (r#"device.attributes["d"].exists(name, name == "model")"#, 0),
        ] {
            let selector = selectors.selector(&Str::from(text));
            for number in 0..20 {
                let json = format!(
                    r#"{{"metadata": {{"name": "s"}}, "spec": {{"driver": "d", "devices": [{{"name": "0",
                        "attributes": {{"model": {{"string": "{}"}}, "seven": {{"int": {}}}, "uuid": {{"string": "{number}"}}}}}}]}}}}"#,
                    if number % 2 == 0 { "a" } else { "b" },
                    number % 7
                );
                let Ok(Object::ResourceSlice(slice)) =
                    Object::from_json(Kind::ResourceSlice, json.as_bytes())
                else {
                    panic!("not a slice: {json}");
                };
                let numbered = selectors.number(&slice);
                let place = Numbered {
                    slice: &numbered,
                    index: 0,
                };
                selector.matches(place).expect("it can be evaluated");
            }
            let answers = selector.answers.0.read().expect("no thread has panicked");
            assert_eq!(answers.values().map(Vec::len).sum::<usize>(), kept, "{text}");
        }
    }
}
