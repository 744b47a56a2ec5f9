//! A parser for a toy language.
//! Second line.

#![allow(dead_code)]

extern crate alloc;

use std::collections::HashMap;
use std::{
    fmt::{self, Display},
    io,
};
pub use self::lexer::Token as Tok;

mod lexer;
pub(crate) mod errors;

/// The largest file that is read.
pub const MAX_SIZE: usize = 1 << 20;
static mut COUNTER: u32 = 0;
static NAMES: &[&str] = &["a", "b"];

pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
///
/// With details.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Error {
    /// Input ended.
    Eof,
    Unexpected(char, usize),
    #[allow(missing_docs)]
    Nested { inner: Box<Error>, depth: u8 },
    Code = 4,
}

#[derive(Default)]
pub struct Parser<'a, T = ()> {
    /// The text.
    source: &'a str,
    pub(crate) position: usize,
    state: T,
}

pub struct Unit;
struct Pair(pub i32, String);

#[repr(C)]
union Bits {
    int: u32,
    float: f32,
}

pub trait Visitor: Sized {
    type Output;
    const NAME: &'static str;

    fn visit(&mut self, node: &Node) -> Self::Output;

    /// Has a body.
    fn finish(self) -> bool {
        true
    }
}

pub unsafe trait Marker {}

impl<'a, T> Parser<'a, T>
where
    T: Default,
{
    pub const DEFAULT_DEPTH: usize = 4;

    /// Makes a parser.
    #[must_use]
    pub fn new(source: &'a str) -> Self {
        let check = |c: char| -> bool { c.is_alphabetic() };
        fn inner_helper(x: u32) -> u32 {
            x + 1
        }
        struct Frame {
            depth: usize,
        }
        Self {
            source,
            position: 0,
            state: T::default(),
        }
    }

    async fn load(&mut self) -> io::Result<()> {
        Ok(())
    }

    const fn depth() -> usize {
        4
    }

    unsafe fn raw(&self) -> *const u8 {
        self.source.as_ptr()
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Eof => write!(f, "eof"),
            _ => Ok(()),
        }
    }
}

impl<T> From<Vec<T>> for Pair {
    fn from(_: Vec<T>) -> Self {
        Pair(0, String::new())
    }
}

unsafe impl Marker for Unit {}

pub struct Node {
    kind: u8,
    children: Vec<Node>,
}

/// Counts.
macro_rules! count {
    () => { 0 };
    ($head:expr $(, $tail:expr)*) => { 1 + count!($($tail),*) };
}

#[macro_export]
macro_rules! point {
    ($x:expr) => {
        $x
    };
}

pub mod tree {
    use super::Node;

    pub fn walk(node: &Node, depth: usize) {
        for child in &node.children {
            walk(child, depth + 1);
        }
    }

    pub(super) mod deep {
        pub static FLAG: bool = true;
    }
}

extern "C" {
    fn strlen(s: *const u8) -> usize;
    static errno: i32;
}

#[no_mangle]
pub extern "C" fn entry(argc: i32) -> i32 {
    argc
}

#[cfg(unix)]
fn platform() -> &'static str {
    "unix"
}

#[cfg(not(unix))]
fn platform() -> &'static str {
    "other"
}

pub fn generic<T: Display, const N: usize>(items: [T; N]) -> impl Iterator<Item = T> {
    items.into_iter()
}

thread_local! {
    static CURRENT: u32 = 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses() {
        assert!(true);
    }
}

fn main() {
    let table: HashMap<String, u32> = HashMap::new();
    let add = |a, b| a + b;
    println!("{}", add(1, 2));
}

lazy_static! {
    /// What is known.
    static ref TABLE: Vec<u8> = vec![1, 2];
}

cfg_if::cfg_if! {
    if #[cfg(unix)] {
        pub fn on_unix() {
            println!("{}", '{');
        }
    } else {
        fn elsewhere() {}
    }
}

not_items! { a => b, fn c }
