//! JSON as EXPLAIN FORMAT=JSON prints it.

/// A JSON value in the form that EXPLAIN prints.
pub(super) enum Json {
    Plain(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

impl Json {
    pub(super) fn object() -> Json {
        Json::Object(Vec::new())
    }

    pub(super) fn of(name: &'static str, value: Json) -> Json {
        Json::Object(vec![(name, value)])
    }

    pub(super) fn text(s: &str) -> Json {
        Json::Text(s.to_string())
    }

    pub(super) fn put(&mut self, name: &'static str, value: Json) {
        if let Json::Object(o) = self {
            o.push((name, value));
        }
    }

    pub(super) fn merge(&mut self, other: Json) {
        if let (Json::Object(o), Json::Object(p)) = (self, other) {
            o.extend(p);
        }
    }

    pub(super) fn write(&self, indent: usize, out: &mut String) {
        let line = |n: usize, out: &mut String| {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', n));
        };
        match self {
            Json::Plain(s) => out.push_str(s),
            Json::Text(s) => {
                out.push('"');
                for c in s.chars() {
                    match c {
                        '"' => out.push_str("\\\""),
                        '\\' => out.push_str("\\\\"),
                        c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
                        c => out.push(c),
                    }
                }
                out.push('"');
            }
            // Lists of plain values stand on one line.
            Json::List(v) if !v.iter().any(|j| matches!(j, Json::Object(_))) => {
                out.push('[');
                for (i, j) in v.iter().enumerate() {
                    if i > 0 {
                        out.push_str(", ");
                    }
                    j.write(indent, out);
                }
                out.push(']');
            }
            Json::List(v) => {
                out.push('[');
                for (i, j) in v.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    line(indent + 2, out);
                    j.write(indent + 2, out);
                }
                line(indent, out);
                out.push(']');
            }
            Json::Object(o) => {
                out.push('{');
                for (i, (name, j)) in o.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    line(indent + 2, out);
                    out.push_str(&format!("\"{name}\": "));
                    j.write(indent + 2, out);
                }
                line(indent, out);
                out.push('}');
            }
        }
    }
}
