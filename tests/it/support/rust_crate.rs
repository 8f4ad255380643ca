//! A crate's source as modules, and what the names in it stand for.
//!
//! A name is followed through imports, re-exports and other names for types to the module that it comes from. What a macro
//! makes of its arguments and which type a value has is not known here.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::rust_source::{
    Use, inline_modules, paths, public_aliases, test_modules, uses, without_comments_and_texts, without_tests,
};

/// The names of the modules from the root of the crate on.
pub(crate) type ModulePath = Vec<String>;

pub(crate) struct File {
    /// From the root of the workspace, with `/`.
    pub(crate) name: String,
    pub(crate) text: String,
    /// The text without comments, texts and code for tests.
    pub(crate) code: String,
    /// True if it is compiled for tests only.
    pub(crate) is_test: bool,
    pub(crate) module: ModulePath,
    pub(crate) named: Vec<Named>,
    inline: Vec<(Range<usize>, String)>,
}

/// A path that a file names.
pub(crate) struct Named {
    pub(crate) at: usize,
    pub(crate) path: String,
}

/// Meaning of a path.
#[derive(Debug, PartialEq)]
pub(crate) struct Meaning {
    /// Begins with `crate` or with the name of an outside crate, unless the path names something of its own module.
    pub(crate) path: Vec<String>,
    /// The modules of this crate that hand the name on; in the last one is what it stands for.
    pub(crate) through: Vec<ModulePath>,
}

/// Meaning of imported names in a module.
type Imports = BTreeMap<String, Vec<Vec<String>>>;

pub(crate) struct Crate {
    /// From the root of the workspace.
    pub(crate) folder: String,
    pub(crate) files: Vec<File>,
    modules: BTreeMap<ModulePath, Imports>,
}

impl Crate {
    /// The crates of the workspace, read once.
    pub(crate) fn all() -> &'static [Self] {
        static ALL: OnceLock<Vec<Crate>> = OnceLock::new();
        ALL.get_or_init(|| {
            let root = Path::new(env!("CARGO_MANIFEST_DIR"));
            let crates = std::fs::read_dir(root.join("crates")).expect("the folder of crates");
            let mut names: Vec<String> = crates
                .map(|entry| entry.expect("an entry"))
                .filter(|entry| entry.path().is_dir())
                .map(|entry| entry.file_name().display().to_string())
                .collect();
            names.sort();
            let roots = names.iter().map(|name| format!("crates/{name}/src"));
            std::iter::once("src".to_owned())
                .chain(roots)
                .map(|folder| Self::read(root, &folder))
                .collect()
        })
    }

    /// The files of all crates.
    pub(crate) fn all_files() -> impl Iterator<Item = &'static File> {
        Self::all().iter().flat_map(|krate| &krate.files)
    }

    fn read(root: &Path, folder: &str) -> Self {
        let folder_path = root.join(folder);
        let texts = rust_files(&folder_path).into_iter().map(|path| {
            let name = path.strip_prefix(&folder_path).expect("a path below the folder");
            let name = name.display().to_string();
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
            (name.replace('\\', "/"), text)
        });
        Self::new(folder, texts.collect())
    }

    /// Of names from `folder` on and texts.
    pub(crate) fn new(folder: &str, texts: Vec<(String, String)>) -> Self {
        let plain: Vec<(ModulePath, String)> = texts
            .iter()
            .map(|(name, text)| (module_of(name), without_comments_and_texts(text)))
            .collect();
        let mut for_tests: BTreeSet<ModulePath> = BTreeSet::new();
        for (module, code) in &plain {
            for name in test_modules(code) {
                for_tests.insert(below(module, &name));
            }
        }
        let mut modules: BTreeMap<ModulePath, Imports> = BTreeMap::new();
        let mut files = Vec::new();
        for ((name, text), (module, code)) in texts.into_iter().zip(plain) {
            let is_test = name.ends_with("/tests.rs")
                || name.contains("/tests/")
                || (1..=module.len()).any(|length| for_tests.contains(&module[..length]));
            let code = if is_test {
                String::new()
            } else {
                without_tests(&code)
            };
            let inline = inline_modules(&code);
            modules.entry(module.clone()).or_default();
            for (_, inside) in &inline {
                modules.entry(below(&module, inside)).or_default();
            }
            let (imports, rest) = uses(&code);
            let mut file = File {
                name: format!("{folder}/{name}"),
                text,
                code,
                is_test,
                module,
                named: Vec::new(),
                inline,
            };
            for Use { at, path, name } in imports {
                let names = modules.entry(file.module_at(at)).or_default();
                let target = path.split("::").map(str::to_owned).collect();
                names.entry(name).or_default().push(target);
                file.named.push(Named { at, path });
            }
            for (at, name, stands_for) in public_aliases(&rest) {
                let names = modules.entry(file.module_at(at)).or_default();
                let targets = stands_for
                    .iter()
                    .map(|path| path.split("::").map(str::to_owned).collect::<Vec<_>>())
                    .filter(|path| *path != [name.as_str()]);
                names.entry(name.clone()).or_default().extend(targets);
            }
            // A single word is a variable, something of the module, or what an import says already.
            let named = paths(&rest).into_iter().filter(|path| path.text.contains("::"));
            file.named.extend(named.map(|path| Named {
                at: path.at,
                path: path.text,
            }));
            files.push(file);
        }
        Self {
            folder: folder.to_owned(),
            files,
            modules,
        }
    }

    /// Returns what a path that stands in the module `inside` can mean; of imports that depend on the platform there are several.
    pub(crate) fn meanings(&self, inside: &[String], path: &str) -> Vec<Meaning> {
        /// More hops than any name takes.
        const MOST: usize = 16;
        let mut found = Vec::new();
        let segments: Vec<String> = path.split("::").map(str::to_owned).collect();
        let mut open = vec![(inside.to_vec(), segments, Vec::new(), None)];
        while let Some((inside, segments, through, import)) = open.pop() {
            if through.len() >= MOST {
                continue;
            }
            let (mut module, mut next) = match segments[0].as_str() {
                "crate" => (Vec::new(), 1),
                "self" | "super" => (inside.clone(), usize::from(segments[0] == "self")),
                first if self.knows(&inside, first, import.as_deref()) => (inside.clone(), 0),
                _ => {
                    found.push(Meaning {
                        path: segments,
                        through,
                    });
                    continue;
                }
            };
            while segments.get(next).is_some_and(|segment| segment == "super") {
                module.pop();
                next += 1;
            }
            while let Some(segment) = segments.get(next)
                && self.modules.contains_key(&below(&module, segment))
            {
                module.push(segment.clone());
                next += 1;
            }
            let mut handed_on = through;
            handed_on.push(module.clone());
            let rest = &segments[next..];
            let targets = rest.first().and_then(|name| {
                let own = module == inside && import.as_ref() == Some(name);
                self.modules.get(&module)?.get(name).filter(|_| !own)
            });
            match targets {
                Some(targets) => open.extend(targets.iter().map(|target| {
                    let path = target.iter().chain(&rest[1..]).cloned().collect();
                    (module.clone(), path, handed_on.clone(), rest.first().cloned())
                })),
                None => found.push(Meaning {
                    path: std::iter::once("crate".to_owned())
                        .chain(module)
                        .chain(rest.iter().cloned())
                        .collect(),
                    through: handed_on,
                }),
            }
        }
        found
    }

    /// Returns whether a path that stands in `module` can begin with `name`; `import` is the name that it is to explain.
    fn knows(&self, module: &[String], name: &str, import: Option<&str>) -> bool {
        let is_imported = self
            .modules
            .get(module)
            .is_some_and(|names| names.contains_key(name));
        self.modules.contains_key(&below(module, name)) || (is_imported && import != Some(name))
    }
}

impl File {
    /// The module that the place `at` of the code belongs to.
    pub(crate) fn module_at(&self, at: usize) -> ModulePath {
        let around = self.inline.iter().filter(|(range, _)| range.contains(&at));
        self.module
            .iter()
            .chain(around.map(|(_, name)| name))
            .cloned()
            .collect()
    }

    pub(crate) fn line(&self, at: usize) -> usize {
        self.code[..at].matches('\n').count() + 1
    }
}

/// Every Rust file below `folder`, in the order of names.
pub(crate) fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    let mut found = Vec::new();
    for path in entries {
        if path.is_dir() {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// The module of a file; the library's root has no name, the binary's root is apart.
fn module_of(file: &str) -> ModulePath {
    let module = file.strip_suffix(".rs").unwrap_or(file);
    let module = module.strip_suffix("/mod").unwrap_or(module);
    if module == "lib" {
        return Vec::new();
    }
    module.split('/').map(str::to_owned).collect()
}

fn below(module: &[String], name: &str) -> ModulePath {
    module.iter().cloned().chain([name.to_owned()]).collect()
}

mod tests {
    use super::*;

    #[test]
    fn names_are_followed_to_where_they_come_from() {
        let krate = Crate::new(
            "src",
            vec![
            ("lib.rs".to_owned(), String::new()),
            (
                "a/mod.rs".to_owned(),
                "mod b; pub use b::X; pub use crate::c::{Y as Z, deep}; pub type Alias = Vec<crate::c::Y>;"
                    .to_owned(),
            ),
            (
                "a/b.rs".to_owned(),
                "pub struct X; use super::super::c as d; use std as s;".to_owned(),
            ),
            (
                "c.rs".to_owned(),
                "pub use std::io; pub mod deep { pub struct W; }".to_owned(),
            ),
        ],
        );
        for (inside, path, expected) in [
            ("a", "b::X", &["crate::a::b::X"][..]),
            ("a", "X::new", &["crate::a::b::X::new"]),
            ("c", "crate::a::X", &["crate::a::b::X"]),
            ("c", "crate::a::Z::f", &["crate::c::Y::f"]),
            ("c", "crate::a::deep::W", &["crate::c::deep::W"]),
            ("a/b", "d::Y", &["crate::c::Y"]),
            ("a/b", "d::io::stdout", &["std::io::stdout"]),
            ("a/b", "s::fs::read", &["std::fs::read"]),
            ("a/b", "self::super::X", &["crate::a::b::X"]),
            ("c", "crate::a::Alias", &["Vec", "crate::c::Y"]),
            ("c", "kube::Client", &["kube::Client"]),
        ] {
            let inside: Vec<String> = inside.split('/').map(str::to_owned).collect();
            let mut found: Vec<String> = krate
                .meanings(&inside, path)
                .iter()
                .map(|meaning| meaning.path.join("::"))
                .collect();
            found.sort();
            assert_eq!(found, expected, "{path}");
        }
    }
}
