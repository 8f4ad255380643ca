//! The question of `convert` at a terminal.

use std::io::Write as _;

use rustix::termios::{LocalModes, tcgetattr};

use super::{ON, Records, cluster, groups, list, several, sorted};
use crate::support::wait::wait_for;

#[test]
fn nothing_is_written_without_a_yes() {
    let cluster = cluster();
    groups(&cluster, &["llm"], 2);
    several(&cluster);
    let lists = || ["llm", "pair", "mixed", "batch"].map(|name| list(&cluster, &format!("claim/{name}")));
    let before = lists();
    // Enter alone is no, as the capital letter says.
    for (answer, code) in [("n", 1), ("\r", 1), ("\u{3}", 130), ("y", 0)] {
        let records = Records::new();
        let (process, mut keyboard) = cluster
            .kubectl_dra(["convert", ON, "--all-kinds"])
            .args([format!("--backup={}", records.backup().display())])
            .start_at_terminal();
        let question = wait_for("the question", || {
            Some(process.stderr()).filter(|text| text.contains("Write?"))
        });
        // The terminal's width may part any two words.
        let said: Vec<&str> = question.split_whitespace().collect();
        let said = said.join(" ");
        for words in [
            "On cluster `test`",
            &cluster.server(),
            "4 claims will be converted",
            "1 jobs.batch, 4 podgroups.scheduling.k8s.io replaced by",
        ] {
            assert!(said.contains(words), "{words}: {question}");
        }
        assert_eq!(lists(), before);
        // Before that a key would be the terminal's, which swallows Ctrl-C.
        wait_for("each key goes to the program", || {
            let modes = tcgetattr(&keyboard).expect("a terminal").local_modes;
            (!modes.intersects(LocalModes::ICANON | LocalModes::ISIG)).then_some(())
        });
        keyboard
            .write_all(answer.as_bytes())
            .expect("the terminal is open");
        process.finish().exits(code);
        assert_eq!(lists() == before, code != 0, "{answer:?}");
        assert_eq!(records.backup().exists(), code == 0, "{answer:?}");
    }
    assert_eq!(sorted(&cluster, "claim/llm"), ["pods/llm-0", "pods/llm-1"]);
}
