//! `top` on a real control plane: what happens in the cluster is on the screen soon.

use crate::support::cluster::objects::{Manifest, claim_spec, gpu, pod, template};
use crate::support::cluster::{Cluster, Options};
use crate::top::User;

#[test]
fn pods_appear_and_go_without_a_key() {
    let cluster = Cluster::start(&Options::default());
    cluster.add_gpu_nodes(2);
    let mut user = User::of_cluster(env!("CARGO_BIN_EXE_kubectl-dra"), cluster.kubeconfig(), 80, 24);
    user.sees("0/32 in use, 0 pending");

    cluster.create(&template("two", claim_spec([gpu().count(2)])));
    cluster.run(&[pod("fits").template_claim("gpu", "two")]);
    user.sees("2/32 in use, 0 pending");

    cluster.create_all(&[
        template("nine", claim_spec([gpu().count(9)])),
        pod("too-many").template_claim("gpu", "nine"),
    ]);
    user.sees("2/32 in use, 1 pending");
    user.types("3");
    user.sees("pod/default/too-many");
    user.types("\r");
    user.sees("pod/default/too-many is pending");
    user.types("\x1b");

    cluster.delete("pod/fits");
    cluster.delete("pod/too-many");
    cluster.finish_deletions();
    user.sees("0/32 in use, 0 pending");
    user.leaves();
}
