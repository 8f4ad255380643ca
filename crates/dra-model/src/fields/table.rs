//! The fields that the API has, kind by kind, with the versions that have them.
//!
//! Those of `resource.k8s.io` are all there; a live test compares them with the OpenAPI of the server. Of other kinds only the parts that
//! decide about devices are here, and what else they have is not looked at.

use super::super::Kind;

/// What a field holds.
#[derive(Debug)]
pub(super) enum Shape {
    Text,
    Bool,
    Integer,
    Quantity,
    Time,
    /// Whatever it likes, such as the parameters of a driver.
    Anything,
    List(&'static Shape),
    Map(&'static Shape),
    /// These fields and no others.
    Object(&'static [Field]),
    /// These fields, and others that are not looked at.
    Part(&'static [Field]),
}

/// A field of an object.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) shape: &'static Shape,
    /// The versions that have it there.
    pub(super) versions: Versions,
}

/// A set of versions of `resource.k8s.io`. Other kinds have every field in each of theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Versions(u8);

impl Versions {
    const NAMES: [&'static str; 4] = ["v1", "v1beta2", "v1beta1", "v1alpha3"];
    const ALL: Self = Self(0b1111);
    /// Those of the same shape as `v1`.
    const NEW: Self = Self(0b0011);
    const V1BETA1: Self = Self(0b0100);
    const V1ALPHA3: Self = Self(0b1000);

    /// The set of this version alone; nothing for one that is not known.
    pub(super) fn of(version: &str) -> Option<Self> {
        let place = Self::NAMES.iter().position(|name| *name == version)?;
        Some(Self(1 << place))
    }

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn names(self) -> impl Iterator<Item = &'static str> {
        let places = 0..Self::NAMES.len();
        places
            .filter(move |place| self.0 & (1 << place) != 0)
            .map(|place| Self::NAMES[place])
    }
}

/// What an object of `kind` holds; nothing for a kind whose fields are not known here.
pub(super) fn shape_of(kind: Kind) -> Option<&'static Shape> {
    Some(match kind {
        Kind::DeviceClass => &CLASS,
        Kind::ResourceSlice => &SLICE,
        Kind::DeviceTaintRule => &RULE,
        Kind::ResourceClaimTemplate => &TEMPLATE,
        Kind::ResourceClaim => &CLAIM,
        Kind::Pod => &POD,
        Kind::Node => &NODE,
        _ => return None,
    })
}

const fn field(name: &'static str, shape: &'static Shape) -> Field {
    only(Versions::ALL, name, shape)
}

const fn only(versions: Versions, name: &'static str, shape: &'static Shape) -> Field {
    Field {
        name,
        shape,
        versions,
    }
}

static TEXT: Shape = Shape::Text;
static BOOL: Shape = Shape::Bool;
static INTEGER: Shape = Shape::Integer;
static QUANTITY: Shape = Shape::Quantity;
static TIME: Shape = Shape::Time;
static ANYTHING: Shape = Shape::Anything;
static TEXTS: Shape = Shape::List(&TEXT);
static BOOLS: Shape = Shape::List(&BOOL);
static INTEGERS: Shape = Shape::List(&INTEGER);
static QUANTITIES: Shape = Shape::Map(&QUANTITY);
static LABELS: Shape = Shape::Map(&TEXT);

static METADATA: Shape = Shape::Object(&[
    field("name", &TEXT),
    field("generateName", &TEXT),
    field("namespace", &TEXT),
    field("selfLink", &TEXT),
    field("uid", &TEXT),
    field("resourceVersion", &TEXT),
    field("generation", &INTEGER),
    field("creationTimestamp", &TIME),
    field("deletionTimestamp", &TIME),
    field("deletionGracePeriodSeconds", &INTEGER),
    field("labels", &LABELS),
    field("annotations", &LABELS),
    field(
        "ownerReferences",
        &Shape::List(&Shape::Object(&[
            field("apiVersion", &TEXT),
            field("kind", &TEXT),
            field("name", &TEXT),
            field("uid", &TEXT),
            field("controller", &BOOL),
            field("blockOwnerDeletion", &BOOL),
        ])),
    ),
    field("finalizers", &TEXTS),
    field(
        "managedFields",
        &Shape::List(&Shape::Object(&[
            field("manager", &TEXT),
            field("operation", &TEXT),
            field("apiVersion", &TEXT),
            field("time", &TIME),
            field("fieldsType", &TEXT),
            field("fieldsV1", &ANYTHING),
            field("subresource", &TEXT),
        ])),
    ),
]);

static CONDITIONS: Shape = Shape::List(&Shape::Object(&[
    field("type", &TEXT),
    field("status", &TEXT),
    field("observedGeneration", &INTEGER),
    field("lastTransitionTime", &TIME),
    field("reason", &TEXT),
    field("message", &TEXT),
]));

static NODE_REQUIREMENTS: Shape = Shape::List(&Shape::Object(&[
    field("key", &TEXT),
    field("operator", &TEXT),
    field("values", &TEXTS),
]));

static NODE_SELECTOR: Shape = Shape::Object(&[field(
    "nodeSelectorTerms",
    &Shape::List(&Shape::Object(&[
        field("matchExpressions", &NODE_REQUIREMENTS),
        field("matchFields", &NODE_REQUIREMENTS),
    ])),
)]);

static SELECTORS: Shape = Shape::List(&Shape::Object(&[field(
    "cel",
    &Shape::Object(&[field("expression", &TEXT)]),
)]));

static OPAQUE: Shape = Shape::Object(&[field("driver", &TEXT), field("parameters", &ANYTHING)]);

static TOLERATIONS: Shape = Shape::List(&Shape::Object(&[
    field("key", &TEXT),
    field("operator", &TEXT),
    field("value", &TEXT),
    field("effect", &TEXT),
    field("tolerationSeconds", &INTEGER),
]));

static TAINT: Shape = Shape::Object(&[
    field("key", &TEXT),
    field("value", &TEXT),
    field("effect", &TEXT),
    field("timeAdded", &TIME),
]);

static CLASS: Shape = Shape::Object(&[
    field("apiVersion", &TEXT),
    field("kind", &TEXT),
    field("metadata", &METADATA),
    field(
        "spec",
        &Shape::Object(&[
            field("selectors", &SELECTORS),
            field(
                "config",
                &Shape::List(&Shape::Object(&[field("opaque", &OPAQUE)])),
            ),
            field("extendedResourceName", &TEXT),
        ]),
    ),
]);

static RULE: Shape = Shape::Object(&[
    field("apiVersion", &TEXT),
    field("kind", &TEXT),
    field("metadata", &METADATA),
    field(
        "spec",
        &Shape::Object(&[
            field(
                "deviceSelector",
                &Shape::Object(&[
                    field("driver", &TEXT),
                    field("pool", &TEXT),
                    field("device", &TEXT),
                    // Of release 1.34 alone.
                    only(Versions::V1ALPHA3, "deviceClassName", &TEXT),
                    only(Versions::V1ALPHA3, "selectors", &SELECTORS),
                ]),
            ),
            field("taint", &TAINT),
        ]),
    ),
    field("status", &Shape::Object(&[field("conditions", &CONDITIONS)])),
]);

static CAPACITY_REQUIREMENTS: Shape = Shape::Object(&[field("requests", &QUANTITIES)]);

static DERIVED_ATTRIBUTES: Shape = Shape::List(&Shape::Object(&[
    field("name", &TEXT),
    field("expression", &TEXT),
]));

/// What is asked of each device: in `exactly`, or beside the name in an alternative and in v1beta1.
macro_rules! request {
    ($versions:expr $(, $beside:expr)*) => {
        Shape::Object(&[
            $($beside,)*
            only($versions, "deviceClassName", &TEXT),
            only($versions, "selectors", &SELECTORS),
            only($versions, "allocationMode", &TEXT),
            only($versions, "count", &INTEGER),
            only($versions, "tolerations", &TOLERATIONS),
            only($versions, "capacity", &CAPACITY_REQUIREMENTS),
            only($versions, "derivedAttributes", &DERIVED_ATTRIBUTES),
        ])
    };
}

static EXACT_REQUEST: Shape = request!(Versions::NEW, field("adminAccess", &BOOL));

static SUBREQUESTS: Shape = Shape::List(&request!(Versions::ALL, field("name", &TEXT)));

static REQUESTS: Shape = Shape::List(&request!(
    Versions::V1BETA1,
    field("name", &TEXT),
    only(Versions::NEW, "exactly", &EXACT_REQUEST),
    field("firstAvailable", &SUBREQUESTS),
    only(Versions::V1BETA1, "adminAccess", &BOOL)
));

static CLAIM_SPEC: Shape = Shape::Object(&[field(
    "devices",
    &Shape::Object(&[
        field("requests", &REQUESTS),
        field(
            "constraints",
            &Shape::List(&Shape::Object(&[
                field("requests", &TEXTS),
                field("matchAttribute", &TEXT),
                field("distinctAttribute", &TEXT),
            ])),
        ),
        field(
            "config",
            &Shape::List(&Shape::Object(&[
                field("requests", &TEXTS),
                field("opaque", &OPAQUE),
            ])),
        ),
    ]),
)]);

static TEMPLATE: Shape = Shape::Object(&[
    field("apiVersion", &TEXT),
    field("kind", &TEXT),
    field("metadata", &METADATA),
    field(
        "spec",
        &Shape::Object(&[field("metadata", &METADATA), field("spec", &CLAIM_SPEC)]),
    ),
]);

static ALLOCATION: Shape = Shape::Object(&[
    field(
        "devices",
        &Shape::Object(&[
            field(
                "results",
                &Shape::List(&Shape::Object(&[
                    field("request", &TEXT),
                    field("driver", &TEXT),
                    field("pool", &TEXT),
                    field("device", &TEXT),
                    field("adminAccess", &BOOL),
                    field("tolerations", &TOLERATIONS),
                    field("bindingConditions", &TEXTS),
                    field("bindingFailureConditions", &TEXTS),
                    field("shareID", &TEXT),
                    field("consumedCapacity", &QUANTITIES),
                    field("skipNodeOperations", &TEXTS),
                ])),
            ),
            field(
                "config",
                &Shape::List(&Shape::Object(&[
                    field("source", &TEXT),
                    field("requests", &TEXTS),
                    field("opaque", &OPAQUE),
                ])),
            ),
        ]),
    ),
    field("nodeSelector", &NODE_SELECTOR),
    field("allocationTimestamp", &TIME),
]);

static CLAIM: Shape = Shape::Object(&[
    field("apiVersion", &TEXT),
    field("kind", &TEXT),
    field("metadata", &METADATA),
    field("spec", &CLAIM_SPEC),
    field(
        "status",
        &Shape::Object(&[
            field("allocation", &ALLOCATION),
            field(
                "reservedFor",
                &Shape::List(&Shape::Object(&[
                    field("apiGroup", &TEXT),
                    field("resource", &TEXT),
                    field("name", &TEXT),
                    field("uid", &TEXT),
                ])),
            ),
            field(
                "devices",
                &Shape::List(&Shape::Object(&[
                    field("driver", &TEXT),
                    field("pool", &TEXT),
                    field("device", &TEXT),
                    field("shareID", &TEXT),
                    field("conditions", &CONDITIONS),
                    field("data", &ANYTHING),
                    field(
                        "networkData",
                        &Shape::Object(&[
                            field("interfaceName", &TEXT),
                            field("ips", &TEXTS),
                            field("hardwareAddress", &TEXT),
                        ]),
                    ),
                ])),
            ),
        ]),
    ),
]);

static ATTRIBUTES: Shape = Shape::Map(&Shape::Object(&[
    field("int", &INTEGER),
    field("bool", &BOOL),
    field("string", &TEXT),
    field("version", &TEXT),
    field("ints", &INTEGERS),
    field("bools", &BOOLS),
    field("strings", &TEXTS),
    field("versions", &TEXTS),
]));

static CAPACITY: Shape = Shape::Map(&Shape::Object(&[
    field("value", &QUANTITY),
    field(
        "requestPolicy",
        &Shape::Object(&[
            field("default", &QUANTITY),
            field("validValues", &Shape::List(&QUANTITY)),
            field(
                "validRange",
                &Shape::Object(&[
                    field("min", &QUANTITY),
                    field("max", &QUANTITY),
                    field("step", &QUANTITY),
                ]),
            ),
        ]),
    ),
]));

static COUNTERS: Shape = Shape::Map(&Shape::Object(&[field("value", &QUANTITY)]));

static CONSUMED_COUNTERS: Shape = Shape::List(&Shape::Object(&[
    field("counterSet", &TEXT),
    field("counters", &COUNTERS),
    field("compatibilityGroups", &TEXTS),
]));

static NODE_RESOURCES: Shape = Shape::Map(&Shape::Object(&[
    field(
        "mapping",
        &Shape::Object(&[
            field("capacityKey", &TEXT),
            field("capacityMultiplier", &QUANTITY),
            field("deviceMultiplier", &QUANTITY),
        ]),
    ),
    field(
        "overhead",
        &Shape::Object(&[field("perPod", &QUANTITY), field("perContainer", &QUANTITY)]),
    ),
]));

static TAINTS: Shape = Shape::List(&TAINT);

/// What a device has besides its name: in `basic` in v1beta1, beside the name otherwise.
macro_rules! device {
    ($versions:expr $(, $before:expr)*) => {
        Shape::Object(&[
            $($before,)*
            only($versions, "attributes", &ATTRIBUTES),
            only($versions, "capacity", &CAPACITY),
            only($versions, "consumesCounters", &CONSUMED_COUNTERS),
            only($versions, "nodeName", &TEXT),
            only($versions, "nodeSelector", &NODE_SELECTOR),
            only($versions, "allNodes", &BOOL),
            only($versions, "taints", &TAINTS),
            only($versions, "bindsToNode", &BOOL),
            only($versions, "bindingConditions", &TEXTS),
            only($versions, "bindingFailureConditions", &TEXTS),
            only($versions, "allowMultipleAllocations", &BOOL),
            only($versions, "nodeAllocatableResources", &NODE_RESOURCES),
        ])
    };
}

static BASIC: Shape = device!(Versions::V1BETA1);

static DEVICES: Shape = Shape::List(&device!(
    Versions::NEW,
    field("name", &TEXT),
    only(Versions::V1BETA1, "basic", &BASIC)
));

static SLICE: Shape = Shape::Object(&[
    field("apiVersion", &TEXT),
    field("kind", &TEXT),
    field("metadata", &METADATA),
    field(
        "spec",
        &Shape::Object(&[
            field("driver", &TEXT),
            field(
                "pool",
                &Shape::Object(&[
                    field("name", &TEXT),
                    field("generation", &INTEGER),
                    field("resourceSliceCount", &INTEGER),
                ]),
            ),
            field("nodeName", &TEXT),
            field("nodeSelector", &NODE_SELECTOR),
            field("allNodes", &BOOL),
            field("devices", &DEVICES),
            field("perDeviceNodeSelection", &BOOL),
            field(
                "sharedCounters",
                &Shape::List(&Shape::Object(&[
                    field("name", &TEXT),
                    field("counters", &COUNTERS),
                ])),
            ),
            field("partitionTypeAttribute", &TEXT),
            field("skipNodeOperations", &TEXTS),
        ]),
    ),
]);

static CONTAINERS: Shape = Shape::List(&Shape::Part(&[
    field("name", &TEXT),
    field(
        "resources",
        &Shape::Part(&[
            field("requests", &QUANTITIES),
            field("limits", &QUANTITIES),
            field(
                "claims",
                &Shape::List(&Shape::Object(&[field("name", &TEXT), field("request", &TEXT)])),
            ),
        ]),
    ),
]));

static POD: Shape = Shape::Part(&[
    field("metadata", &METADATA),
    field(
        "spec",
        &Shape::Part(&[
            field("nodeName", &TEXT),
            field(
                "resourceClaims",
                &Shape::List(&Shape::Object(&[
                    field("name", &TEXT),
                    field("resourceClaimName", &TEXT),
                    field("resourceClaimTemplateName", &TEXT),
                ])),
            ),
            field("containers", &CONTAINERS),
            field("initContainers", &CONTAINERS),
            field("nodeSelector", &LABELS),
            field("overhead", &QUANTITIES),
            field("hostNetwork", &BOOL),
            field("priority", &INTEGER),
            field("schedulerName", &TEXT),
        ]),
    ),
]);

static NODE: Shape = Shape::Part(&[
    field("metadata", &METADATA),
    field(
        "spec",
        &Shape::Part(&[field("unschedulable", &BOOL), field("taints", &TAINTS)]),
    ),
    field(
        "status",
        &Shape::Part(&[field("capacity", &QUANTITIES), field("allocatable", &QUANTITIES)]),
    ),
]);
