//! What is written like a call but has a syntax of its own: the binder makes operators and hidden functions of it. They are
//! here so that the documentation has all names.

/// A name, what stands in its parentheses, and what it is.
pub(super) type Form = (&'static str, &'static str, &'static str);

pub(super) static FORMS: &[Form] = &[
    ("add_months", "date, n", "The date n months later."),
    (
        "adddate",
        "date, n",
        "The date n days, or an interval, later.",
    ),
    ("cast", "value AS type", "The value as one of another type."),
    (
        "char",
        "n, ... USING set",
        "The characters of these numbers in a character set.",
    ),
    (
        "column_add",
        "columns, name, value AS type, ...",
        "The dynamic columns with others put to them.",
    ),
    (
        "column_create",
        "name, value AS type, ...",
        "Dynamic columns. Without a type, a value keeps its own.",
    ),
    (
        "column_get",
        "columns, name AS type",
        "The value of a dynamic column as one of a type.",
    ),
    (
        "convert",
        "value, type",
        "The value as one of another type; `CONVERT(text USING set)` changes the character set.",
    ),
    (
        "date_add",
        "date, INTERVAL n unit",
        "The date an interval later.",
    ),
    (
        "date_sub",
        "date, INTERVAL n unit",
        "The date an interval earlier.",
    ),
    ("default", "column", "The default of a column."),
    (
        "extract",
        "unit FROM moment",
        "A part of a moment as a number.",
    ),
    (
        "get_format",
        "kind, place",
        "The format of dates, times or datetimes that a place uses.",
    ),
    ("mod", "a, b", "The rest of a division."),
    (
        "subdate",
        "date, n",
        "The date n days, or an interval, earlier.",
    ),
    (
        "timestampadd",
        "unit, n, moment",
        "The moment n units later.",
    ),
    (
        "timestampdiff",
        "unit, from, to",
        "How many whole units lie between two moments.",
    ),
    (
        "trim",
        "LEADING what FROM text",
        "The text without another one at an end; also TRAILING and BOTH.",
    ),
    (
        "values",
        "column",
        "In ON DUPLICATE KEY UPDATE: what the row would have had in the column.",
    ),
    (
        "weight_string",
        "text AS CHAR(n)",
        "The bytes that a collation compares the first n characters by; also AS BINARY(n), and LEVEL.",
    ),
];
