//! Declaration of the structs that objects are read into.

/// Makes a struct one that is read from an object: no field has to be there, `null` means absent, and texts that repeat within one source
/// are shared. A field with an attribute of serde's own is read as that says.
macro_rules! decoded {
    (@fields [$($head:tt)*] [$($done:tt)*]) => {
        $($head)* { $($done)* }
    };
    (@fields $head:tt [$($done:tt)*] $(#[doc = $doc:literal])* #[serde($($own:tt)*)] $vis:vis $field:ident: $type:ty, $($rest:tt)*) => {
        decoded! { @fields $head [$($done)* $(#[doc = $doc])* #[serde($($own)*)] $vis $field: $type,] $($rest)* }
    };
    (@fields $head:tt [$($done:tt)*] $(#[doc = $doc:literal])* $vis:vis $field:ident: $type:ty, $($rest:tt)*) => {
        decoded! {
            @fields $head
            [$($done)* $(#[doc = $doc])* #[serde(deserialize_with = "dra_values::decode::field")] $vis $field: $type,]
            $($rest)*
        }
    };
    ($(#[$attribute:meta])* $vis:vis struct $name:ident { $($fields:tt)* }) => {
        decoded! {
            @fields [
                $(#[$attribute])*
                #[derive(Clone, Debug, Default, serde::Deserialize)]
                #[serde(rename_all = "camelCase", default)]
                $vis struct $name
            ] [] $($fields)*
        }

        impl dra_values::decode::Read<'_> for $name {}
    };
}
pub(crate) use decoded;
