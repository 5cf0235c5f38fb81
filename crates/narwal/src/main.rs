//! The `narwal` command: `serve`, `stream`, `binlog`, `backup`, `restore`, `diverge`, `rejoin`, `archive`, `replica`, `check`,
//! `repair`, `verify-log`, `rotate-key`, `encrypt`, `decrypt`.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod allocator;
mod archive;
mod backup;
mod binlog;
mod check;
mod cli;
mod diverge;
mod failure;
mod folder;
mod glue;
mod help;
mod init_file;
mod local;
mod machine;
mod open_files;
mod options;
mod page_pool;
mod promote;
mod rejoin;
mod repair;
mod replica;
mod reserve;
mod restore;
mod serve;
mod stream;
mod time_slice;
mod variables;
mod verify;

use failure::Failure;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: page_pool::Allocator = page_pool::Allocator::new();

fn main() -> ExitCode {
    allocator::keep_together();
    let args: Result<Vec<String>, _> = std::env::args_os()
        .skip(1)
        .map(std::ffi::OsString::into_string)
        .collect();
    let outcome = match args {
        Ok(args) => run(&args),
        Err(bad) => Err(Failure::Usage(format!("not UTF-8: {}", bad.display()))),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage(text)) => {
            eprintln!("narwal: {text}");
            eprintln!("narwal --help tells more");
            ExitCode::from(2)
        }
        Err(Failure::Run(text)) => {
            eprintln!("narwal: {text}");
            ExitCode::FAILURE
        }
        Err(Failure::Damaged(text)) => {
            eprintln!("narwal: {text}");
            ExitCode::from(3)
        }
        Err(Failure::Gone(text)) => {
            eprintln!("narwal: {text}");
            ExitCode::from(4)
        }
        Err(Failure::Parted(text)) => {
            eprintln!("narwal: {text}");
            ExitCode::from(5)
        }
    }
}

fn run(args: &[String]) -> Result<(), Failure> {
    let Some((command, rest)) = args.split_first() else {
        print!("{}", help::MAIN);
        return Ok(());
    };
    let wants_help = rest
        .iter()
        .any(|a| matches!(a.as_str(), "--help" | "-h" | "-?"));
    let show = |text: &str| {
        print!("{text}");
        Ok(())
    };
    match command.as_str() {
        "--help" | "-h" | "-?" | "help" => match rest.first().map(String::as_str) {
            Some("serve") => show(help::SERVE),
            Some("binlog") => binlog::run(&["--help".to_owned()]),
            Some("diverge") => diverge::run(&["--help".to_owned()]),
            Some("promote") => promote::run(&["--help".to_owned()]),
            Some("rejoin") => rejoin::run(&["--help".to_owned()]),
            Some("backup") => backup::run(&["--help".to_owned()]),
            Some("restore") => restore::run(&["--help".to_owned()]),
            Some("check") => check::run(&["--help".to_owned()]),
            Some("repair") => repair::run(&["--help".to_owned()]),
            Some("stream") => stream::run(&["--help".to_owned()]),
            Some("archive") => archive::run(&["--help".to_owned()]),
            Some("replica") => replica::run(&["--help".to_owned()]),
            Some("export-binlog") => show(help::EXPORT),
            Some("verify-log") => show(help::VERIFY),
            Some("rotate-key" | "encrypt" | "decrypt") => show(help::KEYS),
            _ => show(help::MAIN),
        },
        "--version" | "-V" | "version" => {
            println!("narwal {}", env!("CARGO_PKG_VERSION"));
            Ok(())
        }
        "serve" if wants_help => show(help::SERVE),
        "export-binlog" if wants_help => show(help::EXPORT),
        "verify-log" if wants_help => show(help::VERIFY),
        "rotate-key" | "encrypt" | "decrypt" if wants_help => show(help::KEYS),
        "binlog" => binlog::run(rest),
        "backup" => backup::run(rest),
        "restore" => restore::run(rest),
        "check" => check::run(rest),
        "repair" => repair::run(rest),
        "diverge" => diverge::run(rest),
        "promote" => promote::run(rest),
        "rejoin" => rejoin::run(rest),
        "stream" => stream::run(rest),
        "archive" => archive::run(rest),
        "replica" => replica::run(rest),
        "serve" => serve::run(options::serve(rest)?),
        "export-binlog" => binlog::export_binlog(options::export(rest)?),
        "verify-log" => verify::run(options::verify(rest)?),
        "rotate-key" => folder::run(folder::KeyCommand::Rotate, &options::keys(rest, true)?),
        "encrypt" => folder::run(folder::KeyCommand::Encrypt, &options::keys(rest, false)?),
        "decrypt" => folder::run(folder::KeyCommand::Decrypt, &options::keys(rest, false)?),
        other => {
            let nearest = options::nearest(
                other,
                [
                    "serve",
                    "binlog",
                    "backup",
                    "restore",
                    "check",
                    "diverge",
                    "promote",
                    "rejoin",
                    "stream",
                    "archive",
                    "replica",
                    "export-binlog",
                    "verify-log",
                    "rotate-key",
                    "encrypt",
                    "decrypt",
                ]
                .into_iter(),
            );
            let hint = nearest.map_or(String::new(), |n| format!("; did you mean {n}?"));
            Err(Failure::Usage(format!("unknown command {other:?}{hint}")))
        }
    }
}
