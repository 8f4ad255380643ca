//! The devices that kube-scheduler would allocate to a claim on each node of a small cluster:
//!
//!     cargo run -p dra-allocator --example allocate

#![expect(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::sync::Arc;

use dra_allocator::devices::Features;
use dra_allocator::{Inputs, Limits, Outcome};
use dra_model::{ClusterBuilder, Environment, Kind, Object};

const OBJECTS: &[(Kind, &str)] = &[
    (
        Kind::DeviceClass,
        r#"{"metadata": {"name": "gpu"}, "spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}]}}"#,
    ),
    (Kind::Node, r#"{"metadata": {"name": "node-1"}}"#),
    (Kind::Node, r#"{"metadata": {"name": "node-2"}}"#),
    (
        Kind::ResourceSlice,
        r#"{"metadata": {"name": "slice-1"}, "spec": {"driver": "gpu.example.com", "nodeName": "node-1",
            "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "gpu-0"}, {"name": "gpu-1"}]}}"#,
    ),
    (
        Kind::ResourceClaim,
        r#"{"metadata": {"namespace": "default", "name": "two-gpus"}, "spec": {"devices": {"requests": [
            {"name": "gpus", "exactly": {"deviceClassName": "gpu", "count": 2}}]}}}"#,
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut builder = ClusterBuilder::default();
    for (kind, json) in OBJECTS {
        builder.add(Object::from_json(*kind, json.as_bytes())?);
    }
    let environment = Environment::default();
    let features = Features::of(&environment);
    let (cluster, _) = builder.build(environment);
    let inputs = Inputs::new(&cluster, features);
    let claims: Vec<_> = cluster.claims().map(Arc::clone).collect();
    let demand = inputs.demand(&claims);
    for node in cluster.nodes() {
        match inputs.allocate(node, &demand, Limits::default(), &()).outcome {
            Outcome::Allocated(allocations) => {
                let devices = allocations
                    .iter()
                    .flat_map(|allocation| &allocation.devices.results);
                let names: Vec<_> = devices.map(|device| device.device.as_str()).collect();
                println!("{}: {}", node.metadata.name, names.join(", "));
            }
            other => println!("{}: {other:?}", node.metadata.name),
        }
    }
    Ok(())
}
