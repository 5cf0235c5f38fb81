//! Which passwords an account may have: MariaDB's `simple_password_check`, if it is switched on.

use crate::admin::AuthSpec;
use crate::instance::Instance;
use crate::plugins::SIMPLE;
use crate::session::ClientSession;
use narwal_types::SqlResult;
use narwal_types::errors;
use narwal_types::errors::codes;

/// What a password must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rules {
    length: u64,
    digits: u64,
    /// Of upper-case letters and of lower-case letters, each.
    letters: u64,
    others: u64,
}

impl Rules {
    /// The rules as the variables have them.
    fn of(instance: &Instance) -> Rules {
        let v = |name: &str| instance.global_value(&format!("{SIMPLE}_{name}")).as_u64();
        Rules {
            length: v("minimal_length"),
            digits: v("digits"),
            letters: v("letters_same_case"),
            others: v("other_characters"),
        }
    }

    /// What is wrong with a password, as MariaDB's warnings say it; nothing if it may be had. Bytes are judged as
    /// latin1 has them, as there.
    fn complaints(&self, user: &str, password: &str) -> Vec<String> {
        if user.as_bytes().starts_with(password.as_bytes()) {
            return vec!["The password equal to the user name".into()];
        }
        let (mut digits, mut upper, mut lower, mut others) = (0u64, 0u64, 0u64, 0u64);
        for b in password.bytes() {
            *match b {
                b'0'..=b'9' => &mut digits,
                b'A'..=b'Z' | 0xC0..=0xD6 | 0xD8..=0xDE => &mut upper,
                b'a'..=b'z' | 0xDF..=0xF6 | 0xF8..=0xFF => &mut lower,
                _ => &mut others,
            } += 1;
        }
        [
            ("Too short password", password.len() as u64, self.length),
            ("Not enough upper case letters", upper, self.letters),
            ("Not enough lower case letters", lower, self.letters),
            ("Not enough digits", digits, self.digits),
            ("Not enough special characters", others, self.others),
        ]
        .into_iter()
        .filter(|(_, has, wanted)| has < wanted)
        .map(|(what, _, wanted)| format!("{what} (< {wanted})"))
        .collect()
    }
}

/// The least length that the other rules ask for anyway: the variable is never below it.
fn least_length(get: &dyn Fn(&str) -> u64) -> u64 {
    get("simple_password_check_digits")
        + 2 * get("simple_password_check_letters_same_case")
        + get("simple_password_check_other_characters")
}

impl Instance {
    /// Raises `simple_password_check_minimal_length` to what the other rules need.
    pub(crate) fn fit_password_length(&self) {
        let least = least_length(&|n| self.global_value(n).as_u64());
        self.raise_global("simple_password_check_minimal_length", least);
    }
}

impl ClientSession {
    /// Refuses a password that the rules refuse. What an applier runs was judged where it was written.
    pub(crate) fn check_password_rules(&mut self, user: &str, auth: &AuthSpec) -> SqlResult<()> {
        if self.internal || !self.instance.plugins.has(SIMPLE) {
            return Ok(());
        }
        let plain = match auth {
            AuthSpec::Password(p) | AuthSpec::OldPassword(p) => p.as_str(),
            AuthSpec::Plugin {
                hash: None,
                password,
                ..
            } => password.as_deref().unwrap_or(""),
            AuthSpec::Hash(h) | AuthSpec::Plugin { hash: Some(h), .. } if h.is_empty() => "",
            // A hash tells nothing of its password.
            _ if !self
                .instance
                .global_value("strict_password_validation")
                .as_bool() =>
            {
                return Ok(());
            }
            _ => {
                return Err(
                    errors::OPTION_PREVENTS_STATEMENT.with([&"--strict-password-validation"])
                );
            }
        };
        let complaints = Rules::of(&self.instance).complaints(user, plain);
        if complaints.is_empty() {
            return Ok(());
        }
        for c in complaints {
            self.env
                .warn(codes::NOT_VALID_PASSWORD, format!("{SIMPLE}: {c}"));
        }
        Err(errors::NOT_VALID_PASSWORD.with([&SIMPLE]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_mariadb_judges() {
        let rules = Rules {
            length: 8,
            digits: 1,
            letters: 1,
            others: 1,
        };
        let none: [&str; 0] = [];
        assert_eq!(rules.complaints("z", "Longenough1!"), none);
        assert_eq!(
            rules.complaints("z", "short"),
            [
                "Too short password (< 8)",
                "Not enough upper case letters (< 1)",
                "Not enough digits (< 1)",
                "Not enough special characters (< 1)"
            ]
        );
        let equal = ["The password equal to the user name"];
        assert_eq!(rules.complaints("Zz12345!", "Zz12345!"), equal);
        assert_eq!(rules.complaints("Zz12345!x", "Zz12345!"), equal);
        assert_eq!(rules.complaints("Zz12345!", "Zz12345!x"), none);
        assert_eq!(rules.complaints("z", ""), equal);
        // Bytes of UTF-8 as latin1 sees them: C3 is a capital letter, A4 none at all.
        assert_eq!(rules.complaints("h", "a1!AäÖ"), none);
        assert_eq!(
            rules.complaints("g", "ÄÖÜäöüß1"),
            ["Not enough lower case letters (< 1)"]
        );
    }
}
