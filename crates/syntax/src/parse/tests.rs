//! Texts and their trees.

use super::*;
