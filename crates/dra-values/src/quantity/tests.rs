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

#[test]
fn the_api_server_keeps_what_its_text_says() {
    for (amount, stored) in [
        (Quantity::new(3_000_000_000, Format::BinarySi), "3G"),
        (Quantity::new(3_000_000_000, Format::DecimalSi), "3G"),
        (Quantity::new(3 << 30, Format::BinarySi), "3Gi"),
        (Quantity::new(3 << 30, Format::DecimalSi), "3221225472"),
        (Quantity::new(1_024_000, Format::BinarySi), "1000Ki"),
    ] {
        assert_eq!(amount.as_stored().to_string(), stored, "{amount:?}");
        assert_eq!(amount.as_stored(), amount);
    }
}
