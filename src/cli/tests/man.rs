//! The man pages in `man`, which archives and packages have. They are committed as the completion scripts are, so that no release needs a
//! generator, and the program does not have one.

use std::collections::BTreeSet;
use std::io;

use clap::builder::StyledStr;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use super::{all_commands, command_line, help};
use crate::cli::EXIT_CODES;
use crate::generated;

/// Appends a section whose lines stay as they are.
fn section(page: &mut Vec<u8>, title: &str, text: &str) -> io::Result<()> {
    let mut roff = Roff::new();
    roff.control("SH", [title]).control("nf", []);
    for line in text.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []).to_writer(page)
}

/// What `kubectl dra help COMMAND` prints, in the order of man pages.
fn page(command: &clap::Command, is_root: bool) -> io::Result<String> {
    let text = |part: Option<&StyledStr>| part.map(StyledStr::to_string).unwrap_or_default();
    let top = text(command.get_before_help());
    // The page of the program has the options that all commands share.
    let shown = command.clone().mut_args(|arg| {
        let is_hidden = arg.is_hide_set() || !is_root && arg.is_hide_long_help_set();
        let heading = arg.get_help_heading().map(str::to_owned);
        let arg = arg.hide(is_hidden);
        match heading {
            // Where to find the other options is another command in a terminal.
            Some(heading) => arg.help_heading(heading.split(" (").next().unwrap_or_default().to_owned()),
            None => arg,
        }
    });
    let man = Man::new(shown).source("kubectl-dra").manual("kubectl dra");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some((_, examples)) = top.split_once("Examples:\n") {
        section(&mut page, "EXAMPLES", examples)?;
    }
    if is_root {
        let (_, codes) = EXIT_CODES.split_once('\n').unwrap_or_default();
        section(&mut page, "EXIT STATUS", codes)?;
    } else {
        section(
            &mut page,
            "SEE ALSO",
            "kubectl-dra(1) has the options of every command",
        )?;
    }
    Ok(String::from_utf8_lossy(&page).into_owned())
}

#[test]
fn committed_man_pages_are_those_of_the_command_line() {
    let mut root = command_line();
    for word in [help::HELP, help::OPTIONS] {
        root = root.mut_subcommand(word, |command| command.hide(true));
    }
    root.build();
    let commands = all_commands(&root).into_iter().map(|(_, command)| command);
    let mut names = BTreeSet::new();
    for command in commands
        .filter(|command| !command.is_hide_set())
        .chain([root.clone()])
    {
        let name = command.get_display_name().unwrap_or("kubectl-dra").to_owned();
        let is_root = !name.starts_with("kubectl-dra-");
        let text = page(&command, is_root).expect("memory takes it");
        generated::check(&format!("man/{name}.1"), &text);
        names.insert(format!("{name}.1"));
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/man");
    let committed = std::fs::read_dir(folder).expect("the folder is there");
    let committed: BTreeSet<String> = committed
        .map(|file| file.expect("a file").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(committed, names, "each page is of a command");
}
