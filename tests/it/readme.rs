//! What the README shows is what the program prints.

use crate::support::command::Dra;

/// The commands of the README with what stands below them.
fn shown() -> Vec<(String, String)> {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).expect("the README");
    let mut shown: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("    $ kubectl dra ") {
            shown.push((command.to_owned(), String::new()));
            inside = true;
        } else if let (true, Some(output)) = (inside, line.strip_prefix("    ")) {
            let (_, outputs) = shown.last_mut().expect("a command");
            outputs.push_str(output);
            outputs.push('\n');
        } else {
            inside = false;
        }
    }
    shown
}

#[test]
fn the_tour_prints_what_it_shows() {
    let shown = shown();
    assert!(shown.len() >= 3, "the README shows {} commands", shown.len());
    for (command, expected) in shown {
        let args: Vec<&str> = command.split(' ').collect();
        let output = Dra::new(&args).output();
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            expected,
            "kubectl dra {command}"
        );
        assert!(output.status.success(), "kubectl dra {command}");
    }
}
