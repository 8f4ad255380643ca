//! Targets for the small languages: what is parsed from one text.

use crate::output;
use dra_allocator::devices::slice_device;
use dra_cel::{DeviceInput, Environment, Features, Mode};
use dra_model::{Device, LabelSelector, Quantity};

use super::program;

/// A selector: compiled as stored and as new, judged on a device, and explained.
pub(super) fn cel(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let device: Device = serde_json::from_value(serde_json::json!({
        "name": "gpu-0",
        "attributes": {
            "model": {"string": "H100"}, "index": {"int": 3}, "ecc": {"bool": true},
            "driverVersion": {"version": "550.1.2"}, "gpu.example.com/family": {"string": "hopper"},
        },
        "capacity": {"memory": {"value": "80Gi"}},
    }))
    .expect("a device");
    let features = Features {
        consumable_capacity: true,
        list_type_attributes: true,
    };
    for minor in [34, 37] {
        let environment = Environment::new(minor, features);
        // Either may refuse; both must end.
        let _ = environment.admit(text);
        for mode in [Mode::Stored, Mode::New] {
            match environment.compile(text, mode) {
                Ok(program) => {
                    let device = DeviceInput::of(slice_device("gpu.example.com", &device));
                    let evaluation = program.evaluate(&device);
                    assert_eq!(
                        format!("{:?}", evaluation.result),
                        format!("{:?}", program.evaluate(&device).result),
                        "the same selector and device, another answer"
                    );
                    let _ = program.explain(&device);
                }
                Err(error) => assert!(!error.is_internal(), "{error}"),
            }
        }
    }
}

/// A quantity: what is written of it means the same again, and arithmetic has no end it does not name.
pub(super) fn quantity(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let mut parts = text.splitn(2, '\n');
    let Some(Ok(first)) = parts.next().map(str::parse::<Quantity>) else {
        return;
    };
    let written = first.to_string();
    let again: Quantity = written.parse().expect("what is written can be read");
    // Beyond that Go itself writes `1000E` as `1`, and so do we.
    let has_suffix = first.cmp_int(i64::MAX).is_le() && first.cmp_int(i64::MIN).is_ge();
    assert!(!has_suffix || first == again, "{text:?} became {written:?}");
    assert_eq!(again.to_string(), written);
    let _ = (
        first.value(),
        first.milli_value(),
        first.nanos(),
        first.as_approximate_float(),
    );
    if let Some(Ok(second)) = parts.next().map(str::parse::<Quantity>) {
        let mut sum = first.clone();
        sum.add(&second);
        let _ = sum.to_string();
        let mut difference = first.clone();
        difference.sub(&second);
        let _ = difference.to_string();
        assert_eq!(first.cmp(&second), second.cmp(&first).reverse());
    }
}

/// Selectors of labels, sort fields, taints and versions: everything that a flag parses.
pub(super) fn selectors(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(selector) = text.parse::<LabelSelector>() {
        let _ = selector.matches(|_| None);
        let _ = selector.matches(|key| (key.len() % 2 == 0).then_some("a"));
    }
    let file = program::file("empty.json", br#"{"apiVersion":"v1","kind":"List","items":[]}"#);
    for flag in [
        "-l",
        "--sort-by",
        "--feature-gates",
        "--kubernetes-version",
        "--now",
    ] {
        let flag = format!("{flag}={text}");
        let run = program::run(["claims", "-A", "--from", &file, &flag], true);
        assert!(matches!(run.code, 0 | 2 | 3), "{flag:?}: {}", run.code);
        assert_harmless(&run.stdout);
        assert_harmless(&run.stderr);
    }
    let taint = format!("--taint={text}");
    let run = program::run(["simulate", "eviction", "--from", &file, &taint], true);
    assert!(matches!(run.code, 0 | 2 | 3 | 4), "{taint:?}: {}", run.code);
    assert_harmless(&run.stderr);
}

/// Any text on a terminal.
pub(super) fn sanitizer(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let shown = output::on_a_terminal(&text);
    assert_harmless(&shown);
    assert_eq!(output::on_a_terminal(&shown), shown, "shown twice");
}

/// Panics if a terminal would act on a character of `text`, colors aside.
pub(super) fn assert_harmless(text: &str) {
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c == '\u{1b}' {
            let sequence: String = rest.by_ref().take_while(|c| *c != 'm').collect();
            let is_color = sequence
                .strip_prefix('[')
                .is_some_and(|codes| codes.chars().all(|c| c.is_ascii_digit() || c == ';'));
            assert!(is_color && sequence.len() < 16, "an escape sequence in {text:?}");
            continue;
        }
        let hides = matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
                | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        );
        assert!(
            c == '\n' || c == '\t' || !(c.is_control() || hides),
            "{c:?} in {text:?}"
        );
    }
}
