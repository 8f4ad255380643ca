//! Selectors as they usually are allocate nothing on the heap when they are evaluated.
//!
//! A program of its own, since the allocator that counts is that of the whole program.

use std::hint::black_box;

use dra_cel::{DeviceInput, Environment, Features, Mode};
use dra_model::{AttributeValue, Quantity};

#[test]
fn evaluating_a_usual_selector_allocates_nothing() {
    let features = Features {
        consumable_capacity: true,
        list_type_attributes: false,
    };
    let environment = Environment::new(37, features);
    let attributes = [
        ("model", AttributeValue::String("A100".into())),
        ("index", AttributeValue::Int(3)),
        ("driverVersion", AttributeValue::Version("550.54.15".into())),
    ];
    let memory: Quantity = "80Gi".parse().expect("a quantity");
    let device = DeviceInput::new(
        "d",
        attributes.iter().map(|(name, value)| (*name, value)),
        [("memory", &memory)],
        false,
    );
    for expression in [
        r#"device.attributes["d"].model == "A100" && device.capacity["d"].memory.compareTo(quantity("40Gi")) >= 0"#,
        r#"device.driver == "d" && device.attributes["d"].index < 4"#,
        r#"device.attributes["d"].model in ["A100", "H100"] || device.attributes["other"].x"#,
        r#"device.attributes["d"].driverVersion.compareTo(semver("550.0.0")) >= 0"#,
        r#"device.attributes["d"].model.startsWith("A") && has(device.attributes["d"].index)"#,
    ] {
        let program = environment.compile(expression, Mode::Stored).expect(expression);
        assert_eq!(program.evaluate(&device).result, Ok(true), "{expression}");
        let counted = allocation_counter::measure(|| {
            for _ in 0..1_000 {
                let _ = black_box(program.evaluate(black_box(&device)));
            }
        });
        assert_eq!(counted.count_total, 0, "{expression}");
    }
    // The counter counts.
    let counted = allocation_counter::measure(|| drop(black_box(String::from("text"))));
    assert_eq!(counted.count_total, 1);
}
