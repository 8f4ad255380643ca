//! Tokens of service accounts that end soon. The API server issues none for less than ten minutes, so one that it has issued gets an
//! earlier end and is signed again with the server's key.

use std::path::Path;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use rustls_pki_types::PrivatePkcs8KeyDer;
use rustls_pki_types::pem::PemObject as _;
use serde_json::{Value, json};

/// For how many seconds the API server accepts a token after its end, for clocks that differ. Mirrors `jwt/validation.go`, `DefaultLeeway`, of
/// go-jose v2, which Kubernetes v1.37.2 uses.
const LEEWAY: u64 = 60;

/// The token `issued`, but refused once `lifetime` is over. `signer` is the file with the key of the server.
pub(super) fn ending(issued: &str, signer: &Path, lifetime: Duration) -> String {
    let mut parts = issued.split('.');
    let header = parts.next().expect("a token has a header");
    let claims = parts.next().expect("a token has claims");
    let claims = BASE64_URL_SAFE_NO_PAD.decode(claims).expect("claims are base64");
    let mut claims: Value = serde_json::from_slice(&claims).expect("claims are JSON");
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .expect("it is later than 1970");
    claims["exp"] = json!((now + lifetime).as_secs() - LEEWAY);

    let key = PrivatePkcs8KeyDer::from_pem_file(signer).expect("the key is in the cluster's folder");
    let random = SystemRandom::new();
    // As RFC 7518, section 3.4, has it for ES256.
    let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, key.secret_pkcs8_der(), &random)
        .expect("clusters sign with keys of P-256");
    let signed = format!("{header}.{}", BASE64_URL_SAFE_NO_PAD.encode(claims.to_string()));
    let signature = key
        .sign(&random, signed.as_bytes())
        .expect("the system has randomness");
    format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
}
