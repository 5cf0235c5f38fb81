//! Command lines of the sub-commands that clap reads.

use crate::Failure;
use clap::Parser;

/// Reads the arguments behind `command`, which is named as on the command line (`narwal check`). `None`: they asked for
/// help, which was shown.
pub fn parse<T: Parser>(command: &str, args: &[String]) -> Result<Option<T>, Failure> {
    let words = std::iter::once(command).chain(args.iter().map(String::as_str));
    match T::try_parse_from(words) {
        Ok(args) => Ok(Some(args)),
        Err(e) if e.use_stderr() => Err(Failure::Usage(e.to_string().trim_end().to_owned())),
        Err(e) => {
            // Help is no failure; neither is a reader that went away.
            let _ = e.print();
            Ok(None)
        }
    }
}
