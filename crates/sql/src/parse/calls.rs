//! Calls whose arguments are no plain lists, and other expressions that sqlparser does not know or reads in another way.
//!
//! They become calls of functions whose names start with a space, or of the plain function.

use sqlparser::ast::{
    BinaryOperator, CastKind, CharacterLength, DataType, DateTimeField, Expr, ExtractSyntax,
    Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident,
    Interval, ObjectName, TrimWhereField, Value, ValueWithSpan,
};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Span, Token};

type Parsed = Result<Expr, ParserError>;

/// A call of a function.
fn call(name: &str, args: Vec<Expr>) -> Expr {
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: args
                .into_iter()
                .map(|e| FunctionArg::Unnamed(FunctionArgExpr::Expr(e)))
                .collect(),
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

fn value(v: Value) -> Expr {
    Expr::Value(ValueWithSpan {
        value: v,
        span: Span::empty(),
    })
}

fn number(n: u64) -> Expr {
    value(Value::Number(n.to_string(), false))
}

fn text(s: &str) -> Expr {
    value(Value::SingleQuotedString(s.to_string()))
}

fn error<T>(parser: &Parser, expected: &str) -> Result<T, ParserError> {
    parser.expected(expected, parser.peek_token())
}

/// The unquoted word that is `n` tokens ahead.
fn word<'p>(parser: &'p Parser<'_>, n: usize) -> Option<&'p str> {
    match &parser.peek_nth_token_ref(n).token {
        Token::Word(w) if w.quote_style.is_none() => Some(&w.value),
        _ => None,
    }
}

fn is_word(parser: &Parser, n: usize, name: &str) -> bool {
    word(parser, n).is_some_and(|w| w.eq_ignore_ascii_case(name))
}

/// Takes a word if it is next.
fn take(parser: &mut Parser, name: &str) -> bool {
    let found = is_word(parser, 0, name);
    if found {
        parser.advance_token();
    }
    found
}

/// An expression that starts with a word of this file's; `None` for all others, without having read anything.
pub(super) fn prefix(parser: &mut Parser) -> Option<Parsed> {
    let w = word(parser, 0)?;
    if let Some(bits) = w.strip_prefix("0b")
        && !bits.is_empty()
        && bits.bytes().all(|b| matches!(b, b'0' | b'1'))
    {
        let bits = bits.to_string();
        parser.advance_token();
        return Some(Ok(value(Value::SingleQuotedByteStringLiteral(bits))));
    }
    let opened = parser.peek_nth_token_ref(1).token == Token::LParen;
    let read: fn(&mut Parser) -> Parsed = match w.to_ascii_lowercase().as_str() {
        "interval" if opened && is_interval_call(parser) => interval_call,
        "interval" => interval,
        "cast" if opened => cast,
        "binary" => binary,
        "char" if opened => char_using,
        "extract" if opened => extract,
        "get_format" if opened => get_format,
        "trim" if opened => trim,
        "weight_string" if opened => weight_string,
        "nextval" if opened => |p| sequence_call(p, "nextval"),
        "lastval" if opened => |p| sequence_call(p, "lastval"),
        "setval" if opened => set_value,
        "next" if is_word(parser, 1, "value") && is_word(parser, 2, "for") => {
            |p| value_for(p, "nextval")
        }
        "previous" if is_word(parser, 1, "value") && is_word(parser, 2, "for") => {
            |p| value_for(p, "lastval")
        }
        _ => return None,
    };
    parser.advance_token();
    Some(read(parser))
}

/// INTERVAL(n, a, b): a comma at the first level of the parentheses tells it from INTERVAL (n) DAY.
fn is_interval_call(parser: &Parser) -> bool {
    let mut depth = 0;
    for n in 1.. {
        match parser.peek_nth_token_ref(n).token {
            Token::LParen => depth += 1,
            Token::RParen if depth == 1 => return false,
            Token::RParen => depth -= 1,
            Token::Comma if depth == 1 => return true,
            Token::EOF => return false,
            _ => {}
        }
    }
    false
}

fn arguments(parser: &mut Parser) -> Result<Vec<Expr>, ParserError> {
    parser.expect_token(&Token::LParen)?;
    let args = parser.parse_comma_separated(Parser::parse_expr)?;
    parser.expect_token(&Token::RParen)?;
    Ok(args)
}

fn interval_call(parser: &mut Parser) -> Parsed {
    Ok(call("interval", arguments(parser)?))
}

/// BINARY e: of what stands next alone, with or without parentheses, and its COLLATE.
fn binary(parser: &mut Parser) -> Parsed {
    let mut expr = Box::new(parser.parse_prefix()?);
    if take(parser, "collate") {
        let collation = parser.parse_object_name(false)?;
        expr = Box::new(Expr::Collate { expr, collation });
    }
    Ok(Expr::Cast {
        kind: CastKind::Cast,
        expr,
        data_type: DataType::Binary(None),
        format: None,
    })
}

/// A unit of time.
fn unit(parser: &mut Parser) -> Result<DateTimeField, ParserError> {
    match word(parser, 0) {
        Some(w) => {
            let field = DateTimeField::Custom(Ident::new(w.to_ascii_lowercase()));
            parser.advance_token();
            Ok(field)
        }
        None => error(parser, "a unit"),
    }
}

fn interval(parser: &mut Parser) -> Parsed {
    let amount = parser.parse_expr()?;
    Ok(Expr::Interval(Interval {
        value: Box::new(amount),
        leading_field: Some(unit(parser)?),
        leading_precision: None,
        last_field: None,
        fractional_seconds_precision: None,
    }))
}

fn extract(parser: &mut Parser) -> Parsed {
    parser.expect_token(&Token::LParen)?;
    let field = unit(parser)?;
    parser.expect_keyword_is(Keyword::FROM)?;
    let expr = Box::new(parser.parse_expr()?);
    parser.expect_token(&Token::RParen)?;
    Ok(Expr::Extract {
        field,
        syntax: ExtractSyntax::From,
        expr,
    })
}

/// TRIM([[BOTH | LEADING | TRAILING] [what] FROM] s)
fn trim(parser: &mut Parser) -> Parsed {
    parser.expect_token(&Token::LParen)?;
    let side = if take(parser, "both") {
        Some(TrimWhereField::Both)
    } else if take(parser, "leading") {
        Some(TrimWhereField::Leading)
    } else if take(parser, "trailing") {
        Some(TrimWhereField::Trailing)
    } else {
        None
    };
    let what = if side.is_some() && is_word(parser, 0, "from") {
        Some(text(" "))
    } else {
        Some(parser.parse_expr()?)
    };
    let (what, expr) = if parser.parse_keyword(Keyword::FROM) {
        (what.map(Box::new), parser.parse_expr()?)
    } else {
        match what {
            Some(e) if side.is_none() => (None, e),
            _ => return error(parser, "FROM"),
        }
    };
    parser.expect_token(&Token::RParen)?;
    Ok(Expr::Trim {
        expr: Box::new(expr),
        trim_where: side,
        trim_what: what,
        trim_characters: None,
    })
}

/// CHAR(n, ... [USING charset])
fn char_using(parser: &mut Parser) -> Parsed {
    parser.expect_token(&Token::LParen)?;
    let args = parser.parse_comma_separated(Parser::parse_expr)?;
    if !parser.parse_keyword(Keyword::USING) {
        parser.expect_token(&Token::RParen)?;
        return Ok(call("char", args));
    }
    let charset = match word(parser, 0) {
        Some(w) => text(&w.to_ascii_lowercase()),
        None => return error(parser, "a character set"),
    };
    parser.advance_token();
    parser.expect_token(&Token::RParen)?;
    let mut all = vec![charset];
    all.extend(args);
    Ok(call(" char_using", all))
}

fn get_format(parser: &mut Parser) -> Parsed {
    parser.expect_token(&Token::LParen)?;
    let kind = match word(parser, 0).map(str::to_ascii_lowercase).as_deref() {
        Some("date") => "date",
        Some("time") => "time",
        Some("datetime" | "timestamp") => "datetime",
        _ => return error(parser, "DATE, TIME or DATETIME"),
    };
    parser.advance_token();
    parser.expect_token(&Token::Comma)?;
    let place = parser.parse_expr()?;
    parser.expect_token(&Token::RParen)?;
    Ok(call(" get_format", vec![text(kind), place]))
}

fn weight_string(parser: &mut Parser) -> Parsed {
    parser.expect_token(&Token::LParen)?;
    let e = parser.parse_expr()?;
    if !parser.parse_keyword(Keyword::AS) {
        parser.expect_token(&Token::RParen)?;
        return Ok(call("weight_string", vec![e]));
    }
    let binary = if take(parser, "binary") {
        1
    } else if take(parser, "char") {
        0
    } else {
        return error(parser, "CHAR or BINARY");
    };
    parser.expect_token(&Token::LParen)?;
    let n = parser.parse_literal_uint()?;
    parser.expect_token(&Token::RParen)?;
    parser.expect_token(&Token::RParen)?;
    Ok(call(" weight_string", vec![e, number(binary), number(n)]))
}

/// A sequence's name as two arguments: its database, empty if there is none, and the name.
fn sequence_name(parser: &mut Parser) -> Result<Vec<Expr>, ParserError> {
    let first = any_word(parser)?;
    if parser.consume_token(&Token::Period) {
        return Ok(vec![first, any_word(parser)?]);
    }
    Ok(vec![text(""), first])
}

/// A name, quoted or not, as a text.
fn any_word(parser: &mut Parser) -> Parsed {
    let Token::Word(w) = &parser.peek_token_ref().token else {
        return error(parser, "a name");
    };
    let name = text(&w.value);
    parser.advance_token();
    Ok(name)
}

/// NEXTVAL(s), LASTVAL(s)
fn sequence_call(parser: &mut Parser, name: &str) -> Parsed {
    parser.expect_token(&Token::LParen)?;
    let args = sequence_name(parser)?;
    parser.expect_token(&Token::RParen)?;
    Ok(call(name, args))
}

/// NEXT VALUE FOR s, PREVIOUS VALUE FOR s, behind the first word.
fn value_for(parser: &mut Parser, name: &str) -> Parsed {
    parser.advance_token();
    parser.advance_token();
    Ok(call(name, sequence_name(parser)?))
}

/// SETVAL(s, n [, used [, round]])
fn set_value(parser: &mut Parser) -> Parsed {
    parser.expect_token(&Token::LParen)?;
    let mut args = sequence_name(parser)?;
    while parser.consume_token(&Token::Comma) {
        let minus = args.len() == 2 && parser.consume_token(&Token::Minus);
        let Token::Number(n, _) = &parser.peek_token_ref().token else {
            return error(parser, "a number");
        };
        let n = if minus { format!("-{n}") } else { n.clone() };
        parser.advance_token();
        args.push(value(Value::Number(n, false)));
    }
    if !(3..=5).contains(&args.len()) {
        return error(parser, "a number");
    }
    parser.expect_token(&Token::RParen)?;
    Ok(call("setval", args))
}

/// CAST(e AS type): MariaDB's few types, UNSIGNED INTEGER, and CHAR with a character set.
fn cast(parser: &mut Parser) -> Parsed {
    parser.expect_token(&Token::LParen)?;
    let expr = Box::new(parser.parse_expr()?);
    parser.expect_keyword_is(Keyword::AS)?;
    let name = word(parser, 0).unwrap_or("").to_ascii_lowercase();
    let data_type = match name.as_str() {
        "signed" | "unsigned" => {
            parser.advance_token();
            let _ = take(parser, "integer") || take(parser, "int");
            if name == "signed" {
                DataType::Signed
            } else {
                DataType::Unsigned
            }
        }
        "real" | "text" | "blob" | "varbinary" | "numeric" | "fixed" | "year" | "tinyint"
        | "smallint" | "mediumint" | "bigint" | "bool" | "boolean" | "enum" | "set"
        | "timestamp" | "json" | "bit" => {
            return error(parser, "a type of CAST");
        }
        _ => parser.parse_data_type()?,
    };
    let charset = if take(parser, "charset") {
        true
    } else if is_word(parser, 0, "character") && is_word(parser, 1, "set") {
        parser.advance_token();
        parser.advance_token();
        true
    } else {
        false
    };
    let plain = |data_type, expr| Expr::Cast {
        kind: CastKind::Cast,
        expr,
        data_type,
        format: None,
    };
    let cast = if charset {
        let Some(cs) = word(parser, 0).map(Ident::new) else {
            return error(parser, "a character set");
        };
        parser.advance_token();
        match (cs.value.to_ascii_lowercase().as_str(), data_type) {
            ("utf8mb4", to) => plain(to, expr),
            // Bytes need not be text on the way.
            ("binary", DataType::Char(None)) => plain(DataType::Binary(None), expr),
            ("binary", DataType::Char(Some(CharacterLength::IntegerLength { length, .. }))) => {
                plain(DataType::Binary(Some(length)), expr)
            }
            (_, to) => Expr::Convert {
                is_try: false,
                expr: Box::new(plain(to, expr)),
                data_type: None,
                charset: Some(ObjectName::from(vec![cs])),
                target_before_value: false,
                styles: Vec::new(),
            },
        }
    } else {
        plain(data_type, expr)
    };
    parser.expect_token(&Token::RParen)?;
    Ok(cast)
}

/// `a SOUNDS LIKE b`
pub(super) fn is_sounds_like(parser: &Parser) -> bool {
    is_word(parser, 0, "sounds") && is_word(parser, 1, "like")
}

/// Behind `a`: SOUNDEX(a) = SOUNDEX(b).
pub(super) fn sounds_like(parser: &mut Parser, left: &Expr, precedence: u8) -> Parsed {
    parser.advance_token();
    parser.advance_token();
    let right = parser.parse_subexpr(precedence)?;
    Ok(Expr::BinaryOp {
        left: Box::new(call("soundex", vec![left.clone()])),
        op: BinaryOperator::Eq,
        right: Box::new(call("soundex", vec![right])),
    })
}
