//! What the kubelet of a node does with the devices of its pods, as far as the API tells of it.

mod heartbeat;

pub use heartbeat::Heartbeat;
