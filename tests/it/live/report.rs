//! `kubectl dra report` on a cluster: what may be read is on the page, and what may not is unknown.

use crate::support::cluster::Cluster;

#[test]
fn a_page_has_what_may_be_read_and_warns_of_the_rest() {
    let cluster = Cluster::shared();
    let claims = cluster.kubectl_dra(["claims", "-A", "-o", "name"]).run().exits(0);
    let page = cluster.kubectl_dra(["report"]).run().exits(0).stdout;
    assert!(claims.stdout.lines().count() > 3, "{}", claims.stdout);
    for claim in claims.stdout.lines() {
        let (_, name) = claim.split_once('/').expect("a kind and a name");
        assert!(page.contains(&format!("<td>{name}<td>")), "{name}: {page}");
    }
    assert!(!page.contains("<dt>Warnings</dt>"), "{page}");
    assert!(!page.contains("&lt;unknown&gt;"), "{page}");

    let viewer = cluster.user("page-viewer").with_role("view");
    let run = viewer.kubectl_dra(["report"]).run().exits(0);
    let (_, warnings) = run.stdout.split_once("<dt>Warnings</dt>").expect("warnings");
    let (warnings, _) = warnings.split_once("</div>").expect("their end");
    assert!(warnings.contains("resourceslices"), "{warnings}");
    assert!(run.stdout.contains("&lt;unknown&gt;"), "{}", run.stdout);
    assert!(!run.stdout.contains("no pod would be evicted"), "{}", run.stdout);
}
