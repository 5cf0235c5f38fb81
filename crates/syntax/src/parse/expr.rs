//! Expressions: operators by precedence climbing, and what they stand between.

use crate::ast::{
    BinaryOp, Expr, IsTest, Literal, Qualified, Special, SystemVar, TableName, TemporalKind,
    UnaryOp, VarScope,
};
use crate::keyword::Kw;
use crate::lexer::string_value;
use crate::parse::call::call_without_arguments;
use crate::parse::level;
use crate::parser::Parser;
use crate::sql_mode::SqlMode;
use crate::token::{Tok, Token};
use narwal_types::SqlResult;

/// What stands behind an operand.
enum Infix {
    Binary(BinaryOp),
    Is,
    Between,
    In,
    Like,
    Regexp,
    SoundsLike,
    MemberOf,
}

impl Parser<'_> {
    /// An expression.
    pub(crate) fn expr(&mut self) -> SqlResult<Expr> {
        // Lone literals (rows of INSERT) need not go through the operators.
        if matches!(self.peek_at(1), Tok::Comma | Tok::RParen | Tok::End) {
            match self.peek() {
                Tok::Int | Tok::Decimal | Tok::Float => return Ok(self.number_literal()),
                Tok::String => return Ok(Expr::Literal(self.string_literal()?)),
                Tok::Param(n) => {
                    self.bump();
                    return Ok(Expr::Param(usize::from(n)));
                }
                Tok::Word(Kw::NULL) => {
                    self.bump();
                    return Ok(Expr::Literal(Literal::Null));
                }
                _ => {}
            }
        }
        self.operators(level::OR)
    }

    /// An expression without operators that are looser than `min`. Where LIKE wants an operand, NOT LIKE and its kind may
    /// follow it nevertheless: `a LIKE b NOT LIKE c` is `a LIKE (b NOT LIKE c)`.
    pub(super) fn operators(&mut self, min: u8) -> SqlResult<Expr> {
        narwal_memory::check()?;
        let beside = std::mem::take(&mut self.height);
        let e = self.chained(min);
        self.height = self.height.max(beside);
        e
    }

    fn chained(&mut self, min: u8) -> SqlResult<Expr> {
        let (mut left, mut holds) = self.prefix(min)?;
        loop {
            let Some((infix, level, negated)) = self.infix() else {
                return Ok(left);
            };
            // A comparison is no operand of LIKE, nor NOT of a comparison.
            let fits = level >= min || (negated && min == level::OPERAND);
            if !fits || holds < level {
                return Ok(left);
            }
            // A list of AND or OR is flat.
            let flat = matches!(infix, Infix::Binary(BinaryOp::And | BinaryOp::Or));
            left = self.behind_operand(left, infix, level, negated)?;
            self.one_higher(!flat)?;
            // BETWEEN and LIKE may be operands of each other on the left side.
            holds = if level == level::BETWEEN {
                level::LIKE
            } else {
                level
            };
        }
    }

    /// The operator that is next, how tightly it holds, and whether NOT stands before it. Nothing is read.
    #[inline]
    fn infix(&self) -> Option<(Infix, u8, bool)> {
        use BinaryOp as B;
        let (op, level) = match self.peek() {
            Tok::Comma | Tok::RParen | Tok::End => return None,
            Tok::Eq => (B::Eq, level::COMPARE),
            Tok::Plus => (B::Add, level::ADD),
            Tok::Minus => (B::Sub, level::ADD),
            Tok::Star => (B::Mul, level::MULTIPLY),
            Tok::Slash => (B::Div, level::MULTIPLY),
            Tok::Percent => (B::Mod, level::MULTIPLY),
            Tok::NullSafeEq => (B::NullSafeEq, level::COMPARE),
            Tok::Ne => (B::Ne, level::COMPARE),
            Tok::Lt => (B::Lt, level::COMPARE),
            Tok::Le => (B::Le, level::COMPARE),
            Tok::Gt => (B::Gt, level::COMPARE),
            Tok::Ge => (B::Ge, level::COMPARE),
            Tok::AmpAmp => (B::And, level::AND),
            // Oracle's `||` binds as `+` does.
            Tok::PipePipe if self.oracle() => (B::Concat, level::ADD),
            Tok::PipePipe if self.mode.has(SqlMode::PIPES_AS_CONCAT) => (B::Concat, level::CONCAT),
            Tok::PipePipe => (B::Or, level::OR),
            Tok::Pipe => (B::BitOr, level::BIT_OR),
            Tok::Amp => (B::BitAnd, level::BIT_AND),
            Tok::Caret => (B::BitXor, level::BIT_XOR),
            Tok::Shl => (B::Shl, level::SHIFT),
            Tok::Shr => (B::Shr, level::SHIFT),
            Tok::Word(k) => return self.infix_word(k),
            _ => return None,
        };
        Some((Infix::Binary(op), level, false))
    }

    fn infix_word(&self, k: Kw) -> Option<(Infix, u8, bool)> {
        use BinaryOp as B;
        let predicate = |k| match k {
            Kw::BETWEEN => Some((Infix::Between, level::BETWEEN)),
            Kw::IN => Some((Infix::In, level::LIKE)),
            Kw::LIKE => Some((Infix::Like, level::LIKE)),
            Kw::REGEXP | Kw::RLIKE => Some((Infix::Regexp, level::LIKE)),
            _ => None,
        };
        let (op, level) = match k {
            Kw::AND => (B::And, level::AND),
            Kw::OR => (B::Or, level::OR),
            Kw::XOR => (B::Xor, level::XOR),
            Kw::DIV => (B::IntDiv, level::MULTIPLY),
            Kw::MOD => (B::Mod, level::MULTIPLY),
            Kw::IS => return Some((Infix::Is, level::COMPARE, false)),
            Kw::SOUNDS if self.at_nth(1, Kw::LIKE) => {
                return Some((Infix::SoundsLike, level::LIKE, false));
            }
            Kw::NOT => {
                let Tok::Word(k) = self.peek_at(1) else {
                    return None;
                };
                let (infix, level) = predicate(k)?;
                return Some((infix, level, true));
            }
            _ if self.at_member_of() => return Some((Infix::MemberOf, level::LIKE, false)),
            k => {
                let (infix, level) = predicate(k)?;
                return Some((infix, level, false));
            }
        };
        Some((Infix::Binary(op), level, false))
    }

    /// Reads an operator and what stands behind it.
    fn behind_operand(
        &mut self,
        left: Expr,
        infix: Infix,
        level: u8,
        negated: bool,
    ) -> SqlResult<Expr> {
        let left = Box::new(left);
        if negated {
            self.bump();
        }
        self.bump();
        match infix {
            Infix::Binary(op) if level == level::COMPARE => self.comparison(left, op),
            Infix::Binary(op) => {
                if level == level::ADD && self.at_interval() {
                    let right = Box::new(self.interval()?);
                    return Ok(Expr::Binary { op, left, right });
                }
                let right = Box::new(self.operators(level + 1)?);
                match op {
                    BinaryOp::Concat => Ok(self.concat(left, right)),
                    op => Ok(Expr::Binary { op, left, right }),
                }
            }
            Infix::SoundsLike => {
                self.expect(Kw::LIKE)?;
                let right = Box::new(self.grouped(|p| p.operators(level::OPERAND))?);
                Ok(Expr::Binary {
                    op: BinaryOp::SoundsLike,
                    left,
                    right,
                })
            }
            Infix::MemberOf => self.member_of(*left),
            Infix::Is => self.is_test(left),
            Infix::Between => {
                let low = Box::new(self.grouped(|p| p.operators(level::BETWEEN))?);
                self.expect(Kw::AND)?;
                let high = Box::new(self.grouped(|p| p.operators(level::BETWEEN))?);
                Ok(Expr::Between {
                    expr: left,
                    low,
                    high,
                    negated,
                })
            }
            Infix::In => self.in_list(left, negated),
            Infix::Like => {
                let pattern = Box::new(self.grouped(|p| p.operators(level::OPERAND))?);
                let escape = match self.eat(Kw::ESCAPE) {
                    true => Some(Box::new(self.grouped(|p| p.operators(level::OPERAND))?)),
                    false => None,
                };
                Ok(Expr::Like {
                    expr: left,
                    pattern,
                    escape,
                    negated,
                })
            }
            Infix::Regexp => {
                let pattern = Box::new(self.grouped(|p| p.operators(level::OPERAND))?);
                Ok(Expr::Regexp {
                    expr: left,
                    pattern,
                    negated,
                })
            }
        }
    }

    /// Behind a comparison: an operand, or ANY, SOME or ALL of a subquery.
    fn comparison(&mut self, left: Box<Expr>, op: BinaryOp) -> SqlResult<Expr> {
        let quantifier = match self.peek() {
            Tok::Word(Kw::ALL) => Some(true),
            Tok::Word(Kw::ANY | Kw::SOME)
                if self.peek_at(1) == Tok::LParen && self.query_in_parens(1, true) =>
            {
                Some(false)
            }
            _ => None,
        };
        match quantifier {
            Some(_) if op == BinaryOp::NullSafeEq => Err(self.error()),
            Some(all) => {
                self.bump();
                if !self.query_in_parens(0, true) {
                    return Err(self.error());
                }
                let query = self.subquery()?;
                Ok(Expr::Quantified {
                    op,
                    left,
                    all,
                    query,
                })
            }
            None => {
                let right = Box::new(self.operators(level::COMPARE + 1)?);
                Ok(Expr::Binary { op, left, right })
            }
        }
    }

    fn is_test(&mut self, expr: Box<Expr>) -> SqlResult<Expr> {
        let negated = self.eat(Kw::NOT);
        let what = match self.peek() {
            Tok::Word(Kw::NULL) => IsTest::Null,
            Tok::Word(Kw::TRUE) => IsTest::True,
            Tok::Word(Kw::FALSE) => IsTest::False,
            Tok::Word(Kw::UNKNOWN) => IsTest::Unknown,
            _ => return Err(self.error()),
        };
        self.bump();
        Ok(Expr::Is {
            expr,
            what,
            negated,
        })
    }

    fn in_list(&mut self, expr: Box<Expr>, negated: bool) -> SqlResult<Expr> {
        if self.query_in_parens(0, true) {
            let query = self.subquery()?;
            return Ok(Expr::InQuery {
                expr,
                query,
                negated,
            });
        }
        self.expect_tok(Tok::LParen)?;
        let list = self.grouped(|p| p.comma_separated(Self::expr))?;
        self.expect_tok(Tok::RParen)?;
        if let [one] = &list[..]
            && let Some(query) = nested_query(one)
        {
            return Ok(Expr::InQuery {
                expr,
                query,
                negated,
            });
        }
        Ok(Expr::InList {
            expr,
            list,
            negated,
        })
    }

    /// An operand with the operators in front of it, and how tightly it holds together.
    fn prefix(&mut self, min: u8) -> SqlResult<(Expr, u8)> {
        let op = match self.peek() {
            Tok::Minus => UnaryOp::Minus,
            Tok::Plus => UnaryOp::Plus,
            Tok::Tilde => UnaryOp::BitNot,
            Tok::Bang => UnaryOp::Bang,
            Tok::Word(Kw::BINARY) => UnaryOp::Binary,
            Tok::Word(Kw::NOT) if self.mode.has(SqlMode::HIGH_NOT_PRECEDENCE) => UnaryOp::Not,
            Tok::Word(Kw::NOT) if min <= level::NOT => {
                self.bump();
                let expr = Box::new(self.grouped(|p| p.operators(level::NOT))?);
                return Ok((
                    Expr::Unary {
                        op: UnaryOp::Not,
                        expr,
                    },
                    level::NOT,
                ));
            }
            Tok::Word(Kw::INTERVAL) if self.at_interval() => return self.interval_first(false),
            _ => return Ok((self.collated()?, level::SIMPLE)),
        };
        let sign = matches!(op, UnaryOp::Minus | UnaryOp::Plus);
        self.bump();
        if sign && self.at_interval() {
            return self.interval_first(op == UnaryOp::Minus);
        }
        // Of what stands next alone.
        let (expr, _) = self.nested(|p| p.prefix(level::SIMPLE))?;
        Ok((
            Expr::Unary {
                op,
                expr: Box::new(expr),
            },
            level::SIMPLE,
        ))
    }

    /// `[-] INTERVAL n unit + date`: all that follows is the date.
    fn interval_first(&mut self, minus: bool) -> SqlResult<(Expr, u8)> {
        let left = Box::new(self.interval()?);
        self.expect_tok(Tok::Plus)?;
        let right = Box::new(self.grouped(|p| p.operators(level::OR))?);
        let e = match minus {
            false => Expr::Binary {
                op: BinaryOp::Add,
                left,
                right,
            },
            true => Expr::Binary {
                op: BinaryOp::Sub,
                left: right,
                right: left,
            },
        };
        Ok((e, level::SIMPLE))
    }

    /// An operand. A COLLATE behind it is not its own.
    pub(super) fn uncollated(&mut self) -> SqlResult<Expr> {
        let e = self.primary()?;
        self.json_path(e)
    }

    /// An operand and its COLLATE.
    fn collated(&mut self) -> SqlResult<Expr> {
        let mut e = self.uncollated()?;
        while self.eat(Kw::COLLATE) {
            let collation = match self.peek() {
                Tok::String => self.string()?,
                Tok::Word(Kw::BINARY) => self.any_word()?,
                _ => self.ident()?,
            };
            self.one_higher(true)?;
            e = Expr::Collate {
                expr: Box::new(e),
                collation,
            };
        }
        Ok(e)
    }

    fn primary(&mut self) -> SqlResult<Expr> {
        if self.peek_at(1) == Tok::Percent
            && let Some(e) = self.cursor_attribute()?
        {
            return Ok(e);
        }
        match self.peek() {
            Tok::Word(k) => self.word(k),
            Tok::QuotedIdent => self.name_or_call(),
            Tok::Int | Tok::Decimal | Tok::Float => Ok(self.number_literal()),
            Tok::String => Ok(Expr::Literal(self.string_literal()?)),
            Tok::Param(n) => {
                self.bump();
                Ok(Expr::Param(usize::from(n)))
            }
            Tok::LParen => self.parentheses(),
            Tok::NString => {
                let t = self.bump();
                let mut s = string_value(
                    self.token_text(t),
                    self.mode.has(SqlMode::NO_BACKSLASH_ESCAPES),
                );
                if self.peek() == Tok::String {
                    s.push_str(&self.string()?);
                }
                match self.is_null_text(&s) {
                    true => Ok(Expr::Introduced {
                        charset: "utf8mb3".into(),
                        value: Literal::NullText,
                    }),
                    false => Ok(Expr::Literal(Literal::National(s))),
                }
            }
            Tok::Hex | Tok::Bit => {
                let t = self.bump();
                Ok(Expr::Literal(self.digits(t)))
            }
            Tok::Introducer => self.introduced(),
            Tok::UserVar => self.user_variable(),
            Tok::AtAt => self.system_variable(),
            Tok::LBrace => self.odbc(),
            Tok::Dot => self.name_or_call(),
            Tok::Colon if self.at_row_of_trigger() => {
                self.bump();
                self.name_or_call()
            }
            _ => Err(self.error()),
        }
    }

    /// The string that is next, with those beside it.
    fn string_literal(&mut self) -> SqlResult<Literal> {
        let s = self.string()?;
        Ok(match self.is_null_text(&s) {
            true => Literal::NullText,
            false => Literal::String(s),
        })
    }

    /// True if a string literal of this value is NULL.
    fn is_null_text(&self, s: &str) -> bool {
        s.is_empty() && self.mode.has(SqlMode::EMPTY_STRING_IS_NULL)
    }

    /// The number that is next.
    pub(super) fn number_literal(&mut self) -> Expr {
        let t = self.bump();
        Expr::Literal(Literal::Number(self.token_text(t).to_string()))
    }

    /// A hexadecimal or bit literal: its digits.
    fn digits(&self, t: Token) -> Literal {
        let text = self.token_text(t);
        let digits = match text.as_bytes()[1] {
            b'\'' => &text[2..text.len() - 1],
            _ => &text[2..],
        };
        match t.tok {
            Tok::Hex if text.starts_with('0') => Literal::Hex(digits.to_string()),
            Tok::Hex => Literal::HexText(digits.to_string()),
            _ => Literal::Bit(digits.to_string()),
        }
    }

    fn introduced(&mut self) -> SqlResult<Expr> {
        let t = self.bump();
        let charset = self.token_text(t)[1..].to_string();
        let value = match self.peek() {
            Tok::String => self.string_literal()?,
            Tok::Hex | Tok::Bit => {
                let t = self.bump();
                self.digits(t)
            }
            _ => return Err(self.error()),
        };
        Ok(Expr::Introduced { charset, value })
    }

    fn user_variable(&mut self) -> SqlResult<Expr> {
        let name = self.named_at()?;
        if self.eat_tok(Tok::ColonEq) {
            let value = Box::new(self.nested(Self::expr)?);
            return Ok(Expr::Assign { name, value });
        }
        Ok(Expr::UserVar(name))
    }

    /// `@@[scope.][base.]name`
    pub(crate) fn system_variable(&mut self) -> SqlResult<Expr> {
        self.expect_tok(Tok::AtAt)?;
        if !self.adjacent() {
            return Err(self.error_at(self.behind()));
        }
        let mut parts = vec![(self.peek() != Tok::QuotedIdent, self.any_word()?)];
        while parts.len() < 3 && self.eat_tok(Tok::Dot) {
            parts.push((false, self.any_word()?));
        }
        let scope = match parts[0].1.to_ascii_lowercase().as_str() {
            _ if !parts[0].0 || parts.len() == 1 => None,
            "global" => Some(VarScope::Global),
            "session" => Some(VarScope::Session),
            "local" => Some(VarScope::Local),
            _ => None,
        };
        if scope.is_some() {
            parts.remove(0);
        } else if parts.len() == 3 {
            return Err(self.error());
        }
        let name = parts.pop().map(|p| p.1).unwrap_or_default();
        let base = parts.pop().map(|p| p.1);
        Ok(Expr::SystemVar(Box::new(SystemVar { scope, base, name })))
    }

    /// What stands in parentheses: a query, an expression or a row.
    fn parentheses(&mut self) -> SqlResult<Expr> {
        if self.query_in_parens(0, false) {
            return Ok(Expr::Subquery(self.subquery()?));
        }
        self.bump();
        let first = self.grouped(Self::expr)?;
        if self.peek() != Tok::Comma {
            self.expect_tok(Tok::RParen)?;
            return Ok(Expr::Nested(Box::new(first)));
        }
        let mut items = vec![first];
        while self.eat_tok(Tok::Comma) {
            items.push(self.nested(Self::expr)?);
        }
        self.expect_tok(Tok::RParen)?;
        Ok(Expr::Row(items))
    }

    /// `{d '...'}`, `{t '...'}`, `{ts '...'}`, `{fn call}`; other words mean nothing.
    fn odbc(&mut self) -> SqlResult<Expr> {
        self.bump();
        let word = self.any_word()?;
        let kind = match word.to_ascii_lowercase().as_str() {
            "d" => Some(TemporalKind::Date),
            "t" => Some(TemporalKind::Time),
            "ts" => Some(TemporalKind::Timestamp),
            _ => None,
        };
        let e = match kind {
            Some(kind) if self.peek() == Tok::String && self.peek_at(1) == Tok::RBrace => {
                Expr::Temporal {
                    kind,
                    text: self.string()?,
                    odbc: true,
                }
            }
            _ => self.nested(Self::expr)?,
        };
        self.expect_tok(Tok::RBrace)?;
        Ok(e)
    }

    /// `[[db.]table.]column`, or a call.
    pub(super) fn name_or_call(&mut self) -> SqlResult<Expr> {
        if self.eat_tok(Tok::Dot) {
            let table = self.passing_ident()?;
            if !self.eat_tok(Tok::Dot) {
                return Ok(Expr::Column(table));
            }
            let column = self.passing_ident()?;
            return Ok(Expr::Qualified(Box::new(Qualified {
                db: None,
                table,
                column,
            })));
        }
        let bare = self.peek() != Tok::QuotedIdent;
        let sysdate = self.oracle() && self.at(Kw::SYSDATE);
        if self.oracle() && self.at(Kw::ROWNUM) && self.peek_at(1) != Tok::LParen {
            return Ok(call_without_arguments(self.any_word()?));
        }
        let first = match self.at(Kw::ROWNUM) {
            true => self.any_word()?,
            false => self.passing_ident()?,
        };
        let rownum = bare && first.eq_ignore_ascii_case("ROWNUM");
        match self.peek() {
            Tok::Dot => {}
            Tok::LParen if rownum => {
                self.bump();
                self.expect_tok(Tok::RParen)?;
                return Ok(call_without_arguments(first));
            }
            Tok::LParen => {
                Self::check_length(&first)?;
                return self.call(None, first);
            }
            _ if sysdate => return Ok(call_without_arguments(first)),
            _ => {
                return Ok(self
                    .of_row_alias(None, &first)
                    .unwrap_or(Expr::Column(first)));
            }
        }
        self.bump();
        if let Some(e) = self.schema_call(&first)? {
            return Ok(e);
        }
        let second = self.passing_ident()?;
        match self.peek() {
            Tok::Dot => {
                self.bump();
                let column = self.passing_ident()?;
                if self.peek() == Tok::LParen {
                    // A function of a package has both names.
                    return self.call(Some(first), format!("{second}.{column}"));
                }
                if self.oracle() && Self::of_sequence(&column).is_some() {
                    return Ok(self.number_of_sequence(Some(first), second, &column));
                }
                Ok(Expr::Qualified(Box::new(Qualified {
                    db: Some(first),
                    table: second,
                    column,
                })))
            }
            Tok::LParen => self.call(Some(first), second),
            _ if self.oracle() && Self::of_sequence(&second).is_some() => {
                Ok(self.number_of_sequence(None, first, &second))
            }
            _ => Ok(match self.of_row_alias(Some(&first), &second) {
                Some(of_row) => of_row,
                None => Expr::Qualified(Box::new(Qualified {
                    db: None,
                    table: first,
                    column: second,
                })),
            }),
        }
    }
}

impl Parser<'_> {
    /// NEXTVAL (true) or CURRVAL, which sql_mode=ORACLE has as if they were columns of a sequence.
    fn of_sequence(name: &str) -> Option<bool> {
        match name {
            n if n.eq_ignore_ascii_case("NEXTVAL") => Some(true),
            n if n.eq_ignore_ascii_case("CURRVAL") => Some(false),
            _ => None,
        }
    }

    fn number_of_sequence(&self, db: Option<String>, name: String, what: &str) -> Expr {
        let name = TableName { db, name };
        Expr::Special(Box::new(match Self::of_sequence(what) {
            Some(true) => Special::NextValue(name),
            _ => Special::LastValue(name),
        }))
    }
}

/// The subquery that stands alone in parentheses.
fn nested_query(e: &Expr) -> Option<usize> {
    match e {
        Expr::Nested(e) => nested_query(e),
        Expr::Subquery(n) => Some(*n),
        _ => None,
    }
}
