//! Which devices an expression selects, and why not the others:
//!
//!     cargo run -p dra-cel --example select -- "device.attributes['gpu.example.com'].model == 'A100'"

#![expect(clippy::print_stdout, reason = "an example prints")]
#![expect(clippy::disallowed_methods, reason = "an example reads its arguments")]

use std::error::Error;

use dra_cel::{DeviceInput, Environment, Features, Mode};
use dra_values::{AttributeValue, Quantity};

const DRIVER: &str = "gpu.example.com";
const DEFAULT: &str = "device.attributes['gpu.example.com'].model == 'A100' && \
                       device.capacity['gpu.example.com'].memory.compareTo(quantity('60Gi')) >= 0";

fn main() -> Result<(), Box<dyn Error>> {
    let expression = std::env::args().nth(1).unwrap_or_else(|| DEFAULT.to_owned());
    let features = Features {
        consumable_capacity: true,
        list_type_attributes: true,
    };
    let environment = Environment::new(37, features);
    println!("estimated cost: {}", environment.admit(&expression)?);
    let program = environment.compile(&expression, Mode::Stored)?;
    for (name, model, memory) in [
        ("gpu-0", "A100", "80Gi"),
        ("gpu-1", "A100", "40Gi"),
        ("gpu-2", "T4", "16Gi"),
    ] {
        let model = AttributeValue::String(model.into());
        let memory: Quantity = memory.parse()?;
        let device = DeviceInput::new(DRIVER, [("model", &model)], [("memory", &memory)], false);
        let evaluation = program.evaluate(&device);
        match evaluation.result {
            Ok(matches) => println!("{name}: {matches} (cost {})", evaluation.cost),
            Err(error) => println!("{name}: {error}"),
        }
        for term in program.explain(&device) {
            println!("  {}", term.text);
        }
    }
    Ok(())
}
