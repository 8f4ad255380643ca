//! Path of names to a value, as cel-go keeps it.
//!
//! cel-go extends a path with Go's `append`, which writes into the array of the shorter path if that has room left. So
//! two paths that extend the same one can share an array, and the second changes the first: the key of a comprehension
//! with two variables takes over the path, and with it the size, of the value. Estimates follow from that, so the arrays
//! are here as they are there.

use super::place::Place;

/// The first names of an array. Without an array it is empty.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Path {
    array: Option<usize>,
    length: usize,
}

#[derive(Debug, Default)]
pub(super) struct Paths<'c> {
    arrays: Vec<Array<'c>>,
}

#[derive(Debug)]
struct Array<'c> {
    names: Vec<&'c str>,
    capacity: usize,
}

impl<'c> Paths<'c> {
    /// Mirrors Go's `append`, which doubles the capacity of short slices.
    pub(super) fn append(&mut self, path: Path, name: &'c str) -> Path {
        let length = path.length + 1;
        if let Some(index) = path.array
            && let Some(array) = self.arrays.get_mut(index)
            && path.length < array.capacity
        {
            match array.names.get_mut(path.length) {
                Some(place) => *place = name,
                None => array.names.push(name),
            }
            let array = path.array;
            return Path { array, length };
        }
        let mut names = self.names(path).to_vec();
        names.push(name);
        let capacity = (2 * path.length).max(1);
        self.arrays.push(Array { names, capacity });
        let array = Some(self.arrays.len() - 1);
        Path { array, length }
    }

    fn names(&self, path: Path) -> &[&'c str] {
        path.array
            .and_then(|index| self.arrays.get(index)?.names.get(..path.length))
            .unwrap_or_default()
    }

    /// Returns where in `device` a path leads.
    pub(super) fn place(&self, path: Path) -> Place {
        self.names(path)
            .iter()
            .fold(Place::Nowhere, |place, name| place.step(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_extension_of_a_path_with_room_changes_the_first() {
        let mut paths = Paths::default();
        let device = paths.append(Path::default(), "device");
        let attributes = paths.append(device, "attributes");
        let driver = paths.append(device, "driver");
        assert_eq!(paths.place(driver), Place::Driver);
        assert_eq!(paths.place(attributes), Place::Attributes, "no room: a new array");
        let domain = paths.append(attributes, "@values");
        let key = paths.append(domain, "@keys");
        assert_eq!(paths.place(key), Place::Identifier);
        let value = paths.append(domain, "@values");
        assert_eq!(paths.place(value), Place::Attribute);
        assert_eq!(paths.place(key), Place::Attribute);
    }
}
