//! The rules of Kubernetes about claims, pods and taints, as pure functions over the cluster: who may use a claim, who is evicted, where
//! a pod fits, what the controllers do, what the API server refuses.
//!
//! Each takes state, time and gates as arguments and returns values. Which devices serve a claim is the business of `dra-allocator`.

#![cfg_attr(
    test,
    expect(clippy::disallowed_methods, reason = "tests read what they made")
)]

pub mod access;
pub mod controllers;
pub mod eviction;
pub mod health;
pub mod kubelet;
pub mod owners;
pub mod quota;
pub mod reservation;
pub mod scheduling;
pub mod simulation;
pub mod validation;
