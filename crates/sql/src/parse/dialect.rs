//! sqlparser's MySQL dialect with MySQL's own operator precedence, `!` and `MOD`, and the calls whose arguments are no plain
//! lists ([`calls`]).

use super::calls;
use sqlparser::ast::{BinaryOperator, Expr};
use sqlparser::dialect::{Dialect, MySqlDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;
use std::any::TypeId;

static MYSQL: MySqlDialect = MySqlDialect {};

/// The dialect that expressions are parsed in.
#[derive(Debug)]
pub(super) struct Narwal {
    /// PIPES_AS_CONCAT: `||` binds tighter than `^`.
    pub(super) pipes_as_concat: bool,
}

impl Dialect for Narwal {
    // sqlparser asks for the type where it has no method.
    fn dialect(&self) -> TypeId {
        TypeId::of::<MySqlDialect>()
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        MYSQL.is_identifier_start(ch)
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        MYSQL.is_identifier_part(ch)
    }

    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        MYSQL.is_delimited_identifier_start(ch)
    }

    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        MYSQL.identifier_quote_style(identifier)
    }

    fn supports_string_literal_backslash_escape(&self) -> bool {
        true
    }

    fn supports_string_literal_concatenation(&self) -> bool {
        true
    }

    fn ignores_wildcard_escapes(&self) -> bool {
        true
    }

    fn supports_numeric_prefix(&self) -> bool {
        true
    }

    fn supports_bitwise_shift_operators(&self) -> bool {
        true
    }

    fn require_interval_qualifier(&self) -> bool {
        true
    }

    fn requires_single_line_comment_whitespace(&self) -> bool {
        true
    }

    fn supports_match_against(&self) -> bool {
        true
    }

    fn supports_data_type_signed_suffix(&self) -> bool {
        true
    }

    fn supports_double_ampersand_operator(&self) -> bool {
        true
    }

    fn supports_binary_kw_as_cast(&self) -> bool {
        true
    }

    fn supports_bang_not_operator(&self) -> bool {
        true
    }

    // LIKE, REGEXP, IN and BETWEEN are tighter than comparisons: `1 = a IN (2)` is `1 = (a IN (2))`.
    fn prec_value(&self, prec: Precedence) -> u8 {
        match prec {
            Precedence::Like | Precedence::Between => 21,
            p => MYSQL.prec_value(p),
        }
    }

    /// From loose to tight: OR, XOR, AND, NOT, comparisons, LIKE and IN and BETWEEN, `|`, `&`, shifts, `+ -`, `* / DIV % MOD`, `^`.
    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        Some(Ok(match &parser.peek_token_ref().token {
            Token::StringConcat if self.pipes_as_concat => 47,
            Token::StringConcat => 5,
            Token::Overlap => 10,
            Token::Pipe => 22,
            Token::Ampersand => 24,
            Token::ShiftLeft | Token::ShiftRight => 26,
            Token::Caret => 45,
            Token::ExclamationMark => 0,
            Token::Word(w) if w.quote_style.is_none() && w.keyword == Keyword::XOR => 7,
            Token::Word(w) if w.quote_style.is_none() && w.keyword == Keyword::MOD => 40,
            Token::Word(_) if calls::is_sounds_like(parser) => 20,
            _ => return None,
        }))
    }

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        narwal_memory::check_or_unwind();
        calls::prefix(parser)
    }

    fn parse_infix(
        &self,
        parser: &mut Parser,
        expr: &Expr,
        precedence: u8,
    ) -> Option<Result<Expr, ParserError>> {
        if calls::is_sounds_like(parser) {
            return Some(calls::sounds_like(parser, expr, precedence));
        }
        if let Some(negated) = regexp_follows(parser) {
            return Some(parser.parse_subexpr(precedence).map(|pattern| Expr::RLike {
                negated,
                expr: Box::new(expr.clone()),
                pattern: Box::new(pattern),
                regexp: true,
            }));
        }
        if let Some(negated) = between_follows(parser) {
            return Some(between(parser, expr, negated, precedence));
        }
        let op = if parser.parse_keyword(Keyword::DIV) {
            BinaryOperator::MyIntegerDivide
        } else if parser.parse_keyword(Keyword::MOD) {
            BinaryOperator::Modulo
        } else {
            return None;
        };
        Some(
            parser
                .parse_subexpr(precedence)
                .map(|right| Expr::BinaryOp {
                    left: Box::new(expr.clone()),
                    op,
                    right: Box::new(right),
                }),
        )
    }
}

/// Takes `[NOT] BETWEEN` if that is next; whether there was a NOT.
fn between_follows(parser: &mut Parser) -> Option<bool> {
    if parser.parse_keyword(Keyword::BETWEEN) {
        return Some(false);
    }
    parser
        .parse_keywords(&[Keyword::NOT, Keyword::BETWEEN])
        .then_some(true)
}

/// Behind BETWEEN: `a AND b IN (c)` ends with `b IN (c)`, as with LIKE and another BETWEEN there.
fn between(
    parser: &mut Parser,
    expr: &Expr,
    negated: bool,
    precedence: u8,
) -> Result<Expr, ParserError> {
    let low = parser.parse_subexpr(precedence - 1)?;
    parser.expect_keyword_is(Keyword::AND)?;
    let high = parser.parse_subexpr(precedence - 1)?;
    Ok(Expr::Between {
        expr: Box::new(expr.clone()),
        negated,
        low: Box::new(low),
        high: Box::new(high),
    })
}

/// Takes `[NOT] REGEXP` or `RLIKE` if that is next; whether there was a NOT. (sqlparser takes a NULL behind it for part of it.)
fn regexp_follows(parser: &mut Parser) -> Option<bool> {
    let is = |n: usize, k: Keyword| matches!(&parser.peek_nth_token_ref(n).token, Token::Word(w) if w.quote_style.is_none() && w.keyword == k);
    let negated = is(0, Keyword::NOT);
    let n = usize::from(negated);
    if !(is(n, Keyword::REGEXP) || is(n, Keyword::RLIKE)) {
        return None;
    }
    for _ in 0..=n {
        parser.advance_token();
    }
    Some(negated)
}
