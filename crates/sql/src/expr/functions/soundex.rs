//! SOUNDEX: the first letter, then a digit for each sound, at least four characters.

/// The digit of a letter; `0` for vowels and the like.
fn code(c: char) -> Option<u8> {
    Some(match c.to_ascii_uppercase() {
        'B' | 'F' | 'P' | 'V' => b'1',
        'C' | 'G' | 'J' | 'K' | 'Q' | 'S' | 'X' | 'Z' => b'2',
        'D' | 'T' => b'3',
        'L' => b'4',
        'M' | 'N' => b'5',
        'R' => b'6',
        c if c.is_alphabetic() => b'0',
        _ => return None,
    })
}

/// Beyond ASCII all characters from here on are letters.
const FIRST_LETTER: char = 'À';

/// SOUNDEX(text).
pub(super) fn soundex(text: &str) -> String {
    let mut letters = text
        .chars()
        .filter(|c| c.is_ascii_alphabetic() || *c >= FIRST_LETTER);
    let Some(first) = letters.next() else {
        return String::new();
    };
    let mut out = String::new();
    out.push(first.to_ascii_uppercase());
    let mut n = 1;
    let mut last = code(first);
    for c in letters {
        let d = code(c);
        // A letter without a sound does not end a run of equal sounds.
        if d == Some(b'0') || d.is_none() || d == last {
            continue;
        }
        last = d;
        out.push(d.unwrap_or(b'0') as char);
        n += 1;
    }
    for _ in n..4 {
        out.push('0');
    }
    out
}
