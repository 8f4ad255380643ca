//! Text that would be markup of a web page, in every place where a cluster or a file can put it.

use std::collections::BTreeSet;

use super::terminal::{Clusters, HOSTILE, READING, args};
use crate::report::content;
use dra_testing::effort::some_of;

/// Clusters of which all texts are hostile.
const NAMES: [&str; 3] = [
    "device-taints-marked",
    "downgrade-groups-1.37",
    "unschedulable-pods",
];

/// How a page shows the markup in [`HOSTILE`].
const SHOWN: &str = "&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;amp;&lt;script&gt;";

/// The tags of a page, each without the values in quotes.
const TAGS: &str = "!doctype html,html lang=en,head,/head,meta charset=utf-8,meta name=viewport content=,\
    meta name=referrer content=no-referrer,title,/title,body,/body,/html,header,/header,main,/main,nav aria-label=Sections,/nav,\
    h1,/h1,h2,/h2,h3,/h3,h4,/h4,section id= aria-label=,section,/section,a href=,/a,p,p class=i1,p class=i2,p class=i3,p class=i4,\
    p class=i5,/p,dl,/dl,dt,/dt,dd,/dd,ul,/ul,li class=entry,/li,div class=entry,/div,code,/code,pre,/pre,\
    div role=search id=controls hidden,label for=q,label for=level,/label,input type=search id=q autocomplete=off spellcheck=false,\
    select id=level,/select,option value=0,option value=1,option value=2,/option,output id=count for=,/output,\
    div class=scroll tabindex=0 role=group aria-label=,table,/table,thead,tbody,tr,th scope=col,td,td class=picture,\
    b class=good,b class=notice,b class=bad,b class=strong,b class=k0,b class=k1,b class=k2,b class=k3,b class=k4,b class=k5,/b";

/// `tag` without the values in quotes.
fn bare(tag: &str) -> String {
    tag.split('"').step_by(2).collect()
}

#[track_caller]
fn assert_tame(page: &str, title: &str) {
    let known: BTreeSet<&str> = TAGS.split(',').collect();
    assert_eq!(page.matches("<script").count(), 1, "{title}");
    let content = content(page);
    for part in content.split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap_or((part, ""));
        assert!(known.contains(bare(tag).as_str()), "{title}: <{tag}>");
        assert!(!text.contains(['>', '"', '\'']), "{title}: {text}");
    }
    let hidden = content
        .chars()
        .find(|&c| c != '\n' && (c.is_control() || !c.is_ascii() && HOSTILE.contains(c)));
    assert_eq!(hidden, None, "{title}");
}

/// The page of a cluster of which all texts are hostile.
pub(crate) fn hostile_page() -> String {
    let clusters = Clusters::new(&NAMES[..1]);
    clusters.command(&args("report"), NAMES[0]).run().exits(0).stdout
}

#[test]
fn no_text_of_a_cluster_is_markup_of_a_page() {
    let clusters = Clusters::new(&NAMES);
    for name in NAMES {
        let page = clusters.command(&args("report"), name).run().exits(0).stdout;
        assert_tame(&page, name);
        assert!(page.matches(SHOWN).count() > 100, "{name}");
    }
    let commands = READING
        .iter()
        .filter(|(command, name, _)| NAMES.contains(name) && !command.contains("--emit-rule"));
    let commands: Vec<_> = commands.collect();
    for (command, name, _) in some_of(&commands, 6) {
        let args = [args(command), vec!["-ohtml".to_owned()]].concat();
        let page = clusters.command(&args, name).run().stdout;
        assert_tame(&page, command);
        assert!(page.contains(SHOWN), "{command}: {page}");
    }
}
