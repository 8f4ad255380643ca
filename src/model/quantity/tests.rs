use super::*;
fn q(text: &str) -> Quantity {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}
#[test]
fn smoke() {
    for (text, canonical) in [
        ("1.5Gi", "1536Mi"),
        ("+1", "+1"),
        ("1.500", "1.500"),
        ("1000E", "1"),
        ("0.5", "500m"),
        ("Mi", "0"),
        ("-", "0"),
        (
            "9999999999999999999999999999999999999G",
            "9999999999999999999999999999999999999G",
        ),
        ("100Ki", "100Ki"),
        ("1024Ki", "1Mi"),
        ("1e3", "1e3"),
        ("1E3", "1E3"),
        ("10Ei", "9223372036854775807"),
    ] {
        assert_eq!(q(text).to_string(), canonical, "{text}");
    }
}
