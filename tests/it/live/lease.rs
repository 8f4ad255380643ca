//! Leases on a real API server: whoever writes what somebody else has written meanwhile is refused.

use dra_model::Key;
use dra_sources::live::{Connection, Error, Live};
use serde_json::json;

use crate::support::cluster::{Cluster, runtime};

#[test]
fn a_lease_is_written_by_its_last_reader() {
    let cluster = Cluster::shared();
    let flags = Connection {
        kubeconfig: Some(cluster.kubeconfig().to_owned()),
        ..Connection::default()
    };
    let key = Key::new("default", "kubectl-dra");
    let spec = |holder: &str| {
        json!({"holderIdentity": holder, "leaseDurationSeconds": 15, "leaseTransitions": 0,
            "acquireTime": "2026-11-23T10:00:00.250000Z", "renewTime": "2026-11-23T10:00:02.000001Z"})
    };
    runtime().block_on(async {
        let live = Live::connect(&flags).await.expect("the kubeconfig is right");
        assert!(live.lease(&key).await.expect("it may be read").is_none());
        let created = live.create_lease(&key, spec("a")).await.expect("it is new");
        let again = live.create_lease(&key, spec("b")).await;
        assert!(
            matches!(again, Err(Error::Refused { code: 409, .. })),
            "{again:?}"
        );

        let read = live
            .lease(&key)
            .await
            .expect("it may be read")
            .expect("it is there");
        assert_eq!(read["spec"], spec("a"));
        assert_eq!(
            read["metadata"]["resourceVersion"],
            created["metadata"]["resourceVersion"]
        );
        let mut mine = read.clone();
        mine["spec"] = spec("");
        let freed = live
            .replace_lease(&key, &mine)
            .await
            .expect("nobody wrote it meanwhile");
        assert_eq!(freed["spec"], spec(""));
        let mut late = read;
        late["spec"] = spec("b");
        let refused = live.replace_lease(&key, &late).await;
        assert!(
            matches!(refused, Err(Error::Refused { code: 409, .. })),
            "{refused:?}"
        );
    });
}
