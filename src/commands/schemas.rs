//! The JSON Schemas in `docs/reference/schema`, generated from the types of the reports.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, json_schema};
use serde_json::{Map, Value, json};

use super::check::page::CodePage;
use super::convert::carry_out::ConversionResult;
use super::convert::plan::Planned;
use super::convert::restore::RestorationResult;
use super::describe::Described;
use super::fleet::Fleet;
use super::{check, explain, version};
use crate::generated;
use crate::output::{Document, Report};
use dra_reports::allocation::AllocationReport;
use dra_reports::conversion::ConversionVerification;
use dra_reports::describe::{
    ClaimDescription, ClassDescription, DeviceDescription, NodeDescription, PodDescription, PoolDescription,
};
use dra_reports::difference::Difference;
use dra_reports::{
    ClaimList, ClusterStatus, ControllerTrace, DeviceList, DriverChain, ExplanationList, NodeRoom,
    ReservationList, SelectorReport, ShadowReport, TaintList,
};
use dra_rules::simulation::EvictionReport;

/// The file with the fields that all reports have.
const ENVELOPE: &str = "envelope";

/// The file with the definitions that several reports use.
const PARTS: &str = "parts";

/// The beginning of the page that lists the files.
const INDEX: &str = "\
# Schemas

JSON Schemas, draft 2020-12, of the reports that `-o json` and `-o yaml` print. The kind of a report is the
name of its file. [Output](../output.md#json-and-yaml) describes the fields that all reports have.

| Kind | Report of |
|---|---|
";

/// A report without fields of its own.
#[derive(JsonSchema)]
struct Nothing {}

impl<R> JsonSchema for Fleet<R> {
    fn schema_name() -> Cow<'static, str> {
        Fleet::<ClusterStatus>::KIND.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let kinds = [ClusterStatus::KIND, check::Checked::KIND, ExplanationList::KIND];
        let kinds = kinds.map(|kind| json!({ "$ref": format!("{kind}.json") }));
        json_schema!({
            "type": "object",
            "properties": {
                "clusters": {
                    "description": "The clusters, in the order of `--context`, or of their names. Each is a line of `-o ndjson`.",
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "cluster": {
                                "description": "The context, or the name of the file or directory without endings.",
                                "type": "string",
                            },
                            "report": {
                                "description": "The report on this cluster alone; absent if it could not be read.",
                                "anyOf": kinds,
                            },
                            "error": {
                                "description": "Why it could not be read.",
                                "type": "string",
                            },
                        },
                        "required": ["cluster"],
                    },
                },
            },
            "required": ["clusters"],
        })
    }
}

/// The schemas by the names of their files.
struct Schemas {
    generator: SchemaGenerator,
    files: BTreeMap<&'static str, Schema>,
}

impl Schemas {
    fn envelope(&mut self) {
        let mut schema = Document::<Nothing>::json_schema(&mut self.generator);
        RecursiveTransform(strict).transform(&mut schema);
        // Reports have more fields.
        schema.remove("additionalProperties");
        self.add(ENVELOPE, "What every report says about itself", schema);
    }

    fn report<R: Report + JsonSchema>(&mut self, title: &str) {
        let mut schema = R::json_schema(&mut self.generator);
        RecursiveTransform(strict).transform(&mut schema);
        schema.insert("$ref".to_owned(), format!("{ENVELOPE}.json").into());
        // It knows the fields of the envelope, which `additionalProperties` does not.
        schema.remove("additionalProperties");
        schema.insert("unevaluatedProperties".to_owned(), false.into());
        schema.get_mut("properties").expect("a report has fields")["kind"] = json!({ "const": R::KIND });
        self.add(R::KIND, title, schema);
    }

    fn add(&mut self, file: &'static str, title: &str, mut schema: Schema) {
        schema.insert(
            "$schema".to_owned(),
            "https://json-schema.org/draft/2020-12/schema".into(),
        );
        schema.insert(
            "$id".to_owned(),
            format!("https://dra.kubectl.io/schema/v1/{file}.json").into(),
        );
        schema.insert("title".to_owned(), title.into());
        schema.remove("description");
        self.files.insert(file, schema);
    }

    /// The contents of the files. A definition is in the file that uses it, or among the parts if several do.
    fn contents(mut self) -> impl Iterator<Item = (&'static str, String)> {
        let mut definitions = self.generator.take_definitions(false);
        for (name, definition) in &mut definitions {
            // Types of one name get numbers, in no order that lasts.
            assert!(
                !name.ends_with(char::is_numeric),
                "one more type is called {name}"
            );
            RecursiveTransform(strict).transform(definition.try_into().expect("a schema"));
        }
        let mut users: BTreeMap<&str, &str> = BTreeMap::new();
        for (file, schema) in &self.files {
            let mut used = BTreeSet::new();
            collect(schema.as_value(), &definitions, &mut used);
            for name in used {
                let user = users.entry(name).or_insert(file);
                if user != file {
                    *user = PARTS;
                }
            }
        }
        let mut own: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
        for (name, user) in &users {
            let definition = definitions[*name].clone();
            own.entry(user)
                .or_default()
                .insert((*name).to_owned(), definition);
        }
        let shared: Vec<String> = own[PARTS].keys().cloned().collect();
        self.add(PARTS, "What several reports have in common", Schema::default());
        self.files.into_iter().map(move |(file, mut schema)| {
            if let Some(definitions) = own.remove(file) {
                schema.insert("$defs".to_owned(), definitions.into());
            }
            let mut text = serde_json::to_string_pretty(&schema).expect("JSON");
            if file != PARTS {
                for name in &shared {
                    let here = format!("\"#/$defs/{name}\"");
                    text = text.replace(&here, &format!("\"{PARTS}.json#/$defs/{name}\""));
                }
            }
            (file, text + "\n")
        })
    }
}

/// Adds the names of the definitions that `value` leads to.
fn collect<'a>(value: &'a Value, definitions: &'a Map<String, Value>, names: &mut BTreeSet<&'a str>) {
    if let Some(name) = value["$ref"].as_str().and_then(|to| to.strip_prefix("#/$defs/"))
        && names.insert(name)
    {
        collect(&definitions[name], definitions, names);
    }
    let fields = value.as_object().into_iter().flat_map(Map::values);
    let items = value.as_array().into_iter().flatten();
    for part in fields.chain(items) {
        collect(part, definitions, names);
    }
}

/// Leaves no room for what no report has, and says the rest as a reader expects it.
fn strict(schema: &mut Schema) {
    let Some(fields) = schema.as_object_mut() else {
        return;
    };
    // What is absent is left out; no report has a null.
    if let Some(Value::Array(types)) = fields.get("type")
        && let [one, null] = types.as_slice()
        && null == "null"
    {
        let one = one.clone();
        fields.insert("type".to_owned(), one);
    }
    if let Some(Value::Array(forms)) = fields.get("anyOf")
        && let [Value::Object(one), null] = forms.as_slice()
        && *null == json!({ "type": "null" })
    {
        let one = one.clone();
        fields.remove("anyOf");
        fields.extend(one);
    }
    if let Some(Value::String(description)) = fields.get_mut("description") {
        *description = plain(description);
    }
    // Values with descriptions are reported as the Kubernetes API reports them.
    if let Some(Value::Array(forms)) = fields.get("oneOf")
        && forms.iter().all(|form| form.get("const").is_some())
    {
        let values: Value = forms.iter().map(|form| form["const"].clone()).collect();
        let mut description = fields["description"].as_str().expect("each has one").to_owned();
        description += "\n\nPossible values:";
        for form in forms {
            let (value, meaning) = (form["const"].as_str(), form["description"].as_str());
            description += &format!(
                "\n- `{}`: {}",
                value.expect("a text"),
                plain(meaning.expect("each has one"))
            );
        }
        fields.remove("oneOf");
        fields.insert("description".to_owned(), description.into());
        fields.insert("enum".to_owned(), values);
        fields.insert("type".to_owned(), "string".into());
    }
    if fields.get("type") == Some(&"integer".into()) {
        // The type in Rust.
        fields.remove("format");
    }
    if fields.contains_key("required") {
        // Of what was flattened into it: it has more.
        fields.remove("minProperties");
    }
    if fields.contains_key("properties") {
        fields.insert("additionalProperties".to_owned(), false.into());
    }
}

/// A doc comment without the line breaks and links of the source.
fn plain(doc: &str) -> String {
    let paragraphs = doc.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
    paragraphs
        .collect::<Vec<_>>()
        .join("\n\n")
        .replace("[`", "`")
        .replace("`]", "`")
}

#[test]
fn schemas_are_those_of_the_reports() {
    let mut schemas = Schemas {
        generator: SchemaSettings::draft2020_12().for_serialize().into_generator(),
        files: BTreeMap::new(),
    };
    schemas.envelope();
    schemas.report::<AllocationReport>("kubectl dra simulate allocation");
    schemas.report::<Described<ClaimDescription>>("kubectl dra describe claim");
    schemas.report::<ClaimList>("kubectl dra claims");
    schemas.report::<Described<ClassDescription>>("kubectl dra describe class");
    schemas.report::<ClusterStatus>("kubectl dra status");
    schemas.report::<CodePage>("kubectl dra check --explain");
    schemas.report::<ControllerTrace>("kubectl dra run --from FILE --until DURATION");
    schemas.report::<Planned>(
        "kubectl dra convert plan, and the file that kubectl dra convert apply --plan takes",
    );
    schemas.report::<ConversionResult>("kubectl dra convert, and kubectl dra convert apply");
    schemas.report::<ConversionVerification>("kubectl dra convert verify");
    schemas.report::<Described<DeviceDescription>>("kubectl dra describe device");
    schemas.report::<DeviceList>("kubectl dra devices");
    schemas.report::<Difference>("kubectl dra diff");
    schemas.report::<DriverChain>("kubectl dra explain driver/NAME");
    schemas.report::<EvictionReport>("kubectl dra simulate eviction");
    schemas.report::<Fleet<ClusterStatus>>(
        "kubectl dra status, check and explain, with several contexts or --fleet",
    );
    schemas.report::<explain::Explained>("kubectl dra explain");
    schemas.report::<ExplanationList>("kubectl dra explain, without an argument");
    schemas.report::<check::Checked>("kubectl dra check");
    schemas.report::<Described<NodeDescription>>("kubectl dra describe node");
    schemas.report::<NodeRoom>("kubectl dra explain node/NAME");
    schemas.report::<Described<PodDescription>>("kubectl dra describe pod");
    schemas.report::<Described<PoolDescription>>("kubectl dra describe pool");
    schemas.report::<ReservationList>("kubectl dra reserved");
    schemas.report::<RestorationResult>("kubectl dra convert restore");
    schemas.report::<SelectorReport>("kubectl dra cel");
    schemas.report::<ShadowReport>("kubectl dra run");
    schemas.report::<TaintList>("kubectl dra taints");
    schemas.report::<version::Versions>("kubectl dra version");
    let mut index = INDEX.to_owned();
    for (file, text) in schemas.contents() {
        generated::check(&format!("docs/reference/schema/{file}.json"), &text);
        let schema: Value = serde_json::from_str(&text).expect("JSON");
        let title = schema["title"].as_str().expect("each has one");
        index += &format!("| [{file}]({file}.json) | {title} |\n");
    }
    generated::check("docs/reference/schema/README.md", &index);
}
