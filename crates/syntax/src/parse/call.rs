//! Expressions that begin with a word: calls, CASE, CAST, literals of types, windows.

use crate::ast::{
    BinaryOp, Call, CallClauses, CastType, DynamicColumn, Expr, FormatKind, Frame, FrameBound,
    FrameExclude, FrameUnit, FunctionSchema, Limit, Literal, MatchMode, ORACLE_SCHEMA, OrderItem,
    Over, Special, TableName, TemporalKind, TrimSide, Unit, WeightLevel, WindowSpec,
};
use crate::builtin::{argument_bounds, is_aggregate, is_clock, is_window_function, needs_adjacent};
use crate::keyword::Kw;
use crate::parse::level;
use crate::parser::Parser;
use crate::sql_mode::SqlMode;
use crate::token::Tok;
use narwal_types::SqlResult;
use narwal_types::face::is_mysql;

impl Parser<'_> {
    /// An expression that begins with a word.
    pub(super) fn word(&mut self, k: Kw) -> SqlResult<Expr> {
        if k == Kw::Plain {
            return self.name_or_call();
        }
        if self.peek_at(1) == Tok::LParen
            && let Some(e) = self.keyword_call(k)?
        {
            return Ok(e);
        }
        let literal = match k {
            Kw::NULL => Literal::Null,
            Kw::TRUE => Literal::Bool(true),
            Kw::FALSE => Literal::Bool(false),
            Kw::CASE => return self.nested(Self::case),
            Kw::DATE | Kw::TIME | Kw::TIMESTAMP if self.peek_at(1) == Tok::String => {
                return self.temporal(k);
            }
            Kw::MATCH => return self.match_against(),
            Kw::NEXT | Kw::PREVIOUS if self.at_nth(1, Kw::VALUE) && self.at_nth(2, Kw::FOR) => {
                return self.value_for(k == Kw::NEXT);
            }
            Kw::CURRENT_DATE
            | Kw::CURRENT_ROLE
            | Kw::CURRENT_TIME
            | Kw::CURRENT_TIMESTAMP
            | Kw::CURRENT_USER
            | Kw::LOCALTIME
            | Kw::LOCALTIMESTAMP
            | Kw::UTC_DATE
            | Kw::UTC_TIME
            | Kw::UTC_TIMESTAMP => {
                let name = self.any_word()?;
                return match self.peek() {
                    Tok::LParen => self.call(None, name),
                    _ => Ok(Expr::Call(Box::new(Call {
                        parens: false,
                        ..plain_call(None, name, Vec::new())
                    }))),
                };
            }
            _ => return self.name_or_call(),
        };
        self.bump();
        Ok(Expr::Literal(literal))
    }

    /// A call of a function that is a keyword; `None`, without having read anything, for a name like others.
    fn keyword_call(&mut self, k: Kw) -> SqlResult<Option<Expr>> {
        let word = self.peek_token();
        let spaced = word.end != self.paren_start() && !self.mode.has(SqlMode::IGNORE_SPACE);
        if spaced && needs_adjacent(k) {
            return Ok(None);
        }
        let e = match k {
            Kw::CAST => self.cast()?,
            Kw::CONVERT => self.convert()?,
            Kw::CHAR => self.char_call()?,
            Kw::TRIM => {
                self.bump();
                self.trim(self.oracle())?
            }
            Kw::EXTRACT => self.extract()?,
            Kw::POSITION => self.position()?,
            Kw::SUBSTRING | Kw::SUBSTR | Kw::MID => {
                let name = self.any_word()?;
                self.substring(None, name)?
            }
            Kw::GET_FORMAT => self.get_format()?,
            Kw::WEIGHT_STRING => self.weight_string()?,
            Kw::TIMESTAMPADD | Kw::TIMESTAMPDIFF => self.timestamp_call(k == Kw::TIMESTAMPADD)?,
            Kw::ADDDATE | Kw::SUBDATE | Kw::DATE_ADD | Kw::DATE_SUB => self.date_arith(k)?,
            Kw::NEXTVAL | Kw::LASTVAL => self.sequence_call(k == Kw::NEXTVAL)?,
            Kw::SETVAL => self.setval_call()?,
            Kw::COLUMN_CREATE | Kw::COLUMN_ADD | Kw::COLUMN_GET => self.dynamic_column(k)?,
            // VALUES is the one of ON DUPLICATE KEY UPDATE, or begins a table.
            Kw::VALUES if !self.on_duplicate && !is_mysql() => return Err(self.error()),
            Kw::VALUES | Kw::VALUE => {
                self.bump();
                self.bump();
                let column = Box::new(self.name_or_call()?);
                self.expect_tok(Tok::RParen)?;
                Expr::Values(column)
            }
            Kw::DEFAULT => {
                self.bump();
                self.bump();
                let column = Box::new(self.name_or_call()?);
                self.expect_tok(Tok::RParen)?;
                Expr::Default(column)
            }
            Kw::EXISTS => {
                self.bump();
                if !self.query_in_parens(0, true) {
                    return Err(self.error());
                }
                Expr::Exists(self.subquery()?)
            }
            Kw::ROW => {
                self.bump();
                let items = self.nested(|p| p.parenthesised(Self::expr))?;
                if items.len() < 2 {
                    return Err(self.error_at(self.behind().saturating_sub(1)));
                }
                Expr::Row(items)
            }
            Kw::GROUP_CONCAT => self.group_concat()?,
            Kw::JSON_ARRAYAGG => self.group_concat()?,
            Kw::PERCENTILE_CONT | Kw::PERCENTILE_DISC => self.percentile()?,
            // Words that are functions like any other.
            Kw::NOW
            | Kw::CURDATE
            | Kw::CURTIME
            | Kw::SESSION_USER
            | Kw::SYSTEM_USER
            | Kw::JSON_OBJECTAGG
            | Kw::LEFT
            | Kw::RIGHT
            | Kw::MOD
            | Kw::REPEAT
            | Kw::REPLACE
            | Kw::INSERT
            | Kw::IF
            | Kw::INTERVAL => {
                let name = self.any_word()?;
                self.call(None, name)?
            }
            _ if is_aggregate(k) || is_window_function(k) => self.aggregate(k)?,
            _ => return Ok(None),
        };
        Ok(Some(e))
    }

    /// Where the parenthesis behind the next token begins.
    fn paren_start(&self) -> u32 {
        self.token_at(1).start
    }

    /// Behind the name of a function, at its parenthesis.
    pub(super) fn call(&mut self, db: Option<String>, name: String) -> SqlResult<Expr> {
        let spaced = !self.adjacent()
            && !self.mode.has(SqlMode::IGNORE_SPACE)
            && needs_adjacent(Kw::of(&name));
        self.expect_tok(Tok::LParen)?;
        let plain = db.is_none();
        let mut call = plain_call(db, name, Vec::new());
        call.spaced = spaced;
        // What may have OVER, and need not: a function, and an aggregate that reads like a function.
        let windowed = match Kw::of(&call.name) {
            Kw::LAST_VALUE => 1,
            Kw::JSON_OBJECTAGG => 2,
            _ => 0,
        };
        let bounds = match plain {
            true => argument_bounds(Kw::of(&call.name)),
            false => None,
        };
        let (least, most) = bounds.unwrap_or((0, usize::MAX));
        if least == 0 && self.eat_tok(Tok::RParen) {
            return Ok(Expr::Call(Box::new(call)));
        }
        if plain && is_clock(Kw::of(&call.name)) {
            self.fraction_digits()?;
        }
        loop {
            if call.args.len() == most {
                return Err(self.error());
            }
            call.args.push(self.nested(Self::expr)?);
            if let Some(ty) = self.json_returning(&call)? {
                self.expect_tok(Tok::RParen)?;
                let expr = Box::new(Expr::Call(Box::new(call)));
                return Ok(Expr::Cast { expr, ty });
            }
            // A UDF may name its arguments.
            let named = self.eat(Kw::AS)
                || matches!(self.peek(), Tok::String | Tok::Word(_) | Tok::QuotedIdent);
            if named {
                let name = match self.peek() {
                    Tok::String => self.string()?,
                    _ => self.ident()?,
                };
                call.arg_names.resize(call.args.len() - 1, None);
                call.arg_names.push(Some(name));
            }
            if !self.eat_tok(Tok::Comma) {
                break;
            }
        }
        if call.args.len() < least {
            return Err(self.error());
        }
        self.expect_tok(Tok::RParen)?;
        if plain {
            call.db = self.mode_schema(&call.name, call.args.len());
        }
        match windowed == call.args.len() {
            true => self.over(call, false),
            false => Ok(Expr::Call(Box::new(call))),
        }
    }

    /// In front of the number of digits of a clock's fraction, which is an integer and no expression.
    fn fraction_digits(&self) -> SqlResult<()> {
        let integer = match self.peek() {
            Tok::Int => self.next_text().parse::<u64>().is_ok(),
            Tok::Hex if self.next_text().starts_with('0') => true,
            Tok::Decimal | Tok::Float => false,
            _ => return Err(self.error()),
        };
        match integer {
            true if self.peek_at(1) == Tok::RParen => Ok(()),
            true => Err(self.error_at(self.token_at(1).start as usize)),
            false => Err(self.error_saying("Only integers allowed as number here")),
        }
    }

    /// Behind `schema.`, at the name of a function whose call may have words between its arguments, or `None`.
    pub(super) fn schema_call(&mut self, db: &str) -> SqlResult<Option<Expr>> {
        let Some(schema) = FunctionSchema::named(db) else {
            return Ok(None);
        };
        if !matches!(self.peek(), Tok::Word(_)) || self.peek_at(1) != Tok::LParen {
            return Ok(None);
        }
        // Behind a dot no word is a keyword.
        Ok(Some(match Kw::of(self.token_text(self.peek_token())) {
            Kw::TRIM => {
                self.bump();
                self.trim(schema == FunctionSchema::Oracle)?
            }
            Kw::SUBSTRING | Kw::SUBSTR | Kw::MID => {
                let name = self.any_word()?;
                self.substring(Some(db.to_string()), name)?
            }
            _ => return Ok(None),
        }))
    }

    /// In sql_mode=ORACLE: the schema of a function that it has in its own way.
    pub(super) fn mode_schema(&self, name: &str, arguments: usize) -> Option<String> {
        const OWN: [&str; 11] = [
            "concat",
            "decode",
            "length",
            "lpad",
            "ltrim",
            "mid",
            "regexp_replace",
            "replace",
            "rpad",
            "rtrim",
            "substr",
        ];
        let own = OWN.iter().any(|n| n.eq_ignore_ascii_case(name))
            || name.eq_ignore_ascii_case("substring")
            || (name.eq_ignore_ascii_case("trim") && arguments == 1);
        (self.oracle() && own).then(|| ORACLE_SCHEMA.to_string())
    }

    /// `left || right`: in sql_mode=ORACLE NULL is an empty text there.
    pub(super) fn concat(&self, left: Box<Expr>, right: Box<Expr>) -> Expr {
        match self.mode_schema("concat", 2) {
            None => Expr::Binary {
                op: BinaryOp::Concat,
                left,
                right,
            },
            schema => Expr::Call(Box::new(plain_call(
                schema,
                "concat".into(),
                vec![*left, *right],
            ))),
        }
    }

    /// OVER behind a function that sorts a partition by itself.
    fn over_partition(&mut self, mut call: Call) -> SqlResult<Expr> {
        self.expect(Kw::OVER)?;
        let mut w = WindowSpec::default();
        if self.eat_tok(Tok::LParen) {
            if self.at_ident() {
                w.base = Some(self.ident()?);
            }
            if self.eat(Kw::PARTITION) {
                self.expect(Kw::BY)?;
                w.partition_by = self.comma_separated(Self::order_item)?;
            }
            self.expect_tok(Tok::RParen)?;
            call.clauses.get_or_insert_default().over = Some(Over::Window(w));
        } else {
            let name = self.ident()?;
            call.clauses.get_or_insert_default().over = Some(Over::Name(name));
        }
        Ok(Expr::Call(Box::new(call)))
    }

    /// OVER behind a call; `must`: there has to be one.
    fn over(&mut self, mut call: Call, must: bool) -> SqlResult<Expr> {
        if !self.at(Kw::OVER) {
            return match must {
                true => Err(self.error()),
                false => Ok(Expr::Call(Box::new(call))),
            };
        }
        self.bump();
        let over = match self.peek() {
            Tok::LParen => Over::Window(self.window()?),
            _ => Over::Name(self.ident()?),
        };
        call.clauses.get_or_insert_default().over = Some(over);
        Ok(Expr::Call(Box::new(call)))
    }

    /// `([name] [PARTITION BY ...] [ORDER BY ...] [frame])`
    pub(super) fn window(&mut self) -> SqlResult<WindowSpec> {
        self.expect_tok(Tok::LParen)?;
        let mut w = WindowSpec::default();
        if self.at_ident() {
            w.base = Some(self.ident()?);
        }
        if self.eat(Kw::PARTITION) {
            self.expect(Kw::BY)?;
            w.partition_by = self.comma_separated(Self::order_item)?;
        }
        w.order_by = self.order_by()?;
        let unit = match self.peek() {
            Tok::Word(Kw::ROWS) => Some(FrameUnit::Rows),
            Tok::Word(Kw::RANGE) => Some(FrameUnit::Range),
            _ => None,
        };
        if let Some(unit) = unit {
            self.bump();
            w.frame = Some(self.frame(unit)?);
        }
        self.expect_tok(Tok::RParen)?;
        Ok(w)
    }

    fn frame(&mut self, unit: FrameUnit) -> SqlResult<Frame> {
        let between = self.eat(Kw::BETWEEN);
        let start = self.frame_bound(between)?;
        let end = match between {
            true => {
                self.expect(Kw::AND)?;
                Some(self.frame_bound(true)?)
            }
            false => None,
        };
        let mut exclude = None;
        if self.eat(Kw::EXCLUDE) {
            exclude = Some(if self.eat_all(&[Kw::CURRENT, Kw::ROW]) {
                FrameExclude::CurrentRow
            } else if self.eat(Kw::GROUP) {
                FrameExclude::Group
            } else if self.eat(Kw::TIES) {
                FrameExclude::Ties
            } else {
                self.expect(Kw::NO)?;
                self.expect(Kw::OTHERS)?;
                FrameExclude::NoOthers
            });
        }
        Ok(Frame {
            unit,
            start,
            end,
            exclude,
        })
    }

    /// `either`: it may lie behind the current row, too.
    fn frame_bound(&mut self, either: bool) -> SqlResult<FrameBound> {
        if self.eat_all(&[Kw::CURRENT, Kw::ROW]) {
            return Ok(FrameBound::CurrentRow);
        }
        let amount = match self.at(Kw::UNBOUNDED)
            && matches!(self.peek_at(1), Tok::Word(Kw::PRECEDING | Kw::FOLLOWING))
        {
            true => {
                self.bump();
                None
            }
            false => Some(Box::new(self.frame_literal()?)),
        };
        let before = self.eat(Kw::PRECEDING);
        if !before {
            if !either {
                return Err(self.error());
            }
            self.expect(Kw::FOLLOWING)?;
        }
        Ok(match (amount, before) {
            (None, true) => FrameBound::UnboundedPreceding,
            (None, false) => FrameBound::UnboundedFollowing,
            (Some(e), true) => FrameBound::Preceding(e),
            (Some(e), false) => FrameBound::Following(e),
        })
    }

    /// How far a frame reaches: a literal.
    fn frame_literal(&mut self) -> SqlResult<Expr> {
        let literal = match self.peek() {
            Tok::String | Tok::NString | Tok::Int | Tok::Decimal | Tok::Float => true,
            Tok::Hex | Tok::Bit | Tok::Introducer => true,
            Tok::Word(Kw::NULL | Kw::TRUE | Kw::FALSE) => true,
            Tok::Word(Kw::DATE | Kw::TIME | Kw::TIMESTAMP) => self.peek_at(1) == Tok::String,
            _ => false,
        };
        match literal {
            true => self.operators(level::SIMPLE),
            false => Err(self.error()),
        }
    }

    /// So many arguments, and the parenthesis behind them.
    fn few_arguments(&mut self, min: usize, max: usize) -> SqlResult<Vec<Expr>> {
        let mut args = Vec::with_capacity(max);
        while args.len() < max {
            let more = match args.len() {
                0 => max > 0,
                n if n < min => {
                    self.expect_tok(Tok::Comma)?;
                    true
                }
                _ => self.eat_tok(Tok::Comma),
            };
            if !more {
                break;
            }
            args.push(self.nested(Self::expr)?);
        }
        // As MariaDB, which finds the fault behind the comma.
        if !args.is_empty() && self.eat_tok(Tok::Comma) {
            return Err(self.error());
        }
        self.expect_tok(Tok::RParen)?;
        Ok(args)
    }

    /// Aggregate and window functions but GROUP_CONCAT and those with WITHIN GROUP.
    fn aggregate(&mut self, k: Kw) -> SqlResult<Expr> {
        let name = self.any_word()?;
        self.expect_tok(Tok::LParen)?;
        let mut call = plain_call(None, name, Vec::new());
        if is_window_function(k) {
            let (min, max) = match k {
                Kw::NTILE | Kw::FIRST_VALUE | Kw::MEDIAN => (1, 1),
                Kw::LEAD | Kw::LAG => (1, 2),
                Kw::NTH_VALUE => (2, 2),
                _ => (0, 0),
            };
            call.args = self.few_arguments(min, max)?;
            return match k == Kw::MEDIAN {
                true => self.over_partition(call),
                false => self.over(call, true),
            };
        }
        if k == Kw::COUNT && self.eat_tok(Tok::Star) {
            call.star = true;
        } else {
            call.distinct = self.eat(Kw::DISTINCT);
            if !call.distinct {
                self.eat(Kw::ALL);
            }
            call.args.push(self.nested(Self::expr)?);
            while k == Kw::COUNT && call.distinct && self.eat_tok(Tok::Comma) {
                call.args.push(self.nested(Self::expr)?);
            }
        }
        self.expect_tok(Tok::RParen)?;
        self.over(call, false)
    }

    /// GROUP_CONCAT and JSON_ARRAYAGG: ([DISTINCT] list [ORDER BY ...] [SEPARATOR s] [LIMIT ...])
    fn group_concat(&mut self) -> SqlResult<Expr> {
        let separates = self.at(Kw::GROUP_CONCAT);
        let name = self.any_word()?;
        self.expect_tok(Tok::LParen)?;
        let mut call = plain_call(None, name, Vec::new());
        call.distinct = self.eat(Kw::DISTINCT);
        call.args = self.nested(|p| p.comma_separated(Self::expr))?;
        let mut clauses = CallClauses {
            order_by: self.order_by()?,
            ..CallClauses::default()
        };
        if separates && self.eat(Kw::SEPARATOR) {
            clauses.separator = Some(self.string()?);
        }
        clauses.limit = self.simple_limit()?;
        self.expect_tok(Tok::RParen)?;
        if clauses != CallClauses::default() {
            call.clauses = Some(Box::new(clauses));
        }
        self.over(call, false)
    }

    /// `LIMIT [offset,] n` or `LIMIT n OFFSET offset`.
    pub(crate) fn simple_limit(&mut self) -> SqlResult<Option<Limit>> {
        if !self.eat(Kw::LIMIT) {
            return Ok(None);
        }
        let first = self.limit_value()?;
        Ok(Some(if self.eat_tok(Tok::Comma) {
            Limit {
                offset: Some(first),
                count: self.limit_value()?,
            }
        } else if self.eat(Kw::OFFSET) {
            Limit {
                offset: Some(self.limit_value()?),
                count: first,
            }
        } else {
            Limit {
                offset: None,
                count: first,
            }
        }))
    }

    /// `PERCENTILE_CONT(n) WITHIN GROUP (ORDER BY e) OVER ...`
    fn percentile(&mut self) -> SqlResult<Expr> {
        let name = self.any_word()?;
        let args = self.nested(|p| p.parenthesised(Self::expr))?;
        self.expect(Kw::WITHIN)?;
        self.expect(Kw::GROUP)?;
        self.expect_tok(Tok::LParen)?;
        if !self.at(Kw::ORDER) {
            return Err(self.error());
        }
        self.bump();
        self.expect(Kw::BY)?;
        let order = vec![self.order_item()?];
        // As MariaDB, which finds the fault behind the comma.
        if self.eat_tok(Tok::Comma) {
            return Err(self.error());
        }
        self.expect_tok(Tok::RParen)?;
        let mut call = plain_call(None, name, args);
        call.clauses = Some(Box::new(CallClauses {
            within_group: Some(order),
            ..CallClauses::default()
        }));
        self.over_partition(call)
    }

    /// CASE [e] WHEN a THEN b ... [ELSE c] END
    fn case(&mut self) -> SqlResult<Expr> {
        self.bump();
        let operand = match self.at(Kw::WHEN) {
            true => None,
            false => Some(Box::new(self.expr()?)),
        };
        let mut whens = Vec::new();
        while self.eat(Kw::WHEN) {
            let when = self.expr()?;
            self.expect(Kw::THEN)?;
            whens.push((when, self.expr()?));
        }
        if whens.is_empty() {
            return Err(self.error());
        }
        let otherwise = match self.eat(Kw::ELSE) {
            true => Some(Box::new(self.expr()?)),
            false => None,
        };
        self.expect(Kw::END)?;
        Ok(Expr::Case {
            operand,
            whens,
            otherwise,
        })
    }

    /// `DATE '...'` and so on.
    fn temporal(&mut self, k: Kw) -> SqlResult<Expr> {
        self.bump();
        let kind = match k {
            Kw::DATE => TemporalKind::Date,
            Kw::TIME => TemporalKind::Time,
            _ => TemporalKind::Timestamp,
        };
        Ok(Expr::Temporal {
            kind,
            text: self.string()?,
            odbc: false,
        })
    }

    /// MATCH (a, b) AGAINST (text [mode])
    fn match_against(&mut self) -> SqlResult<Expr> {
        self.bump();
        let columns = match self.peek() {
            Tok::LParen => self.parenthesised(Self::name_or_call)?,
            _ => self.comma_separated(Self::name_or_call)?,
        };
        self.expect(Kw::AGAINST)?;
        self.expect_tok(Tok::LParen)?;
        let against = self.nested(|p| p.operators(level::BIT_OR))?;
        let mode = if self.eat_all(&[Kw::IN, Kw::BOOLEAN, Kw::MODE]) {
            MatchMode::Boolean
        } else {
            let natural = self.at(Kw::IN);
            if natural {
                self.bump();
                self.expect(Kw::NATURAL)?;
                self.expect(Kw::LANGUAGE)?;
                self.expect(Kw::MODE)?;
            }
            MatchMode::Natural(self.eat_all(&[Kw::WITH, Kw::QUERY, Kw::EXPANSION]))
        };
        self.expect_tok(Tok::RParen)?;
        Ok(special(Special::Match {
            columns,
            against,
            mode,
        }))
    }

    /// CAST(e AS type)
    fn cast(&mut self) -> SqlResult<Expr> {
        self.bump();
        self.bump();
        let expr = Box::new(self.nested(Self::expr)?);
        self.expect(Kw::AS)?;
        if let Some(json) = self.cast_json(&expr) {
            self.expect_tok(Tok::RParen)?;
            return Ok(json);
        }
        let ty = self.cast_type()?;
        self.expect_tok(Tok::RParen)?;
        Ok(Expr::Cast { expr, ty })
    }

    /// CONVERT(e, type) and CONVERT(e USING charset)
    fn convert(&mut self) -> SqlResult<Expr> {
        self.bump();
        self.bump();
        let expr = Box::new(self.nested(Self::expr)?);
        if self.eat(Kw::USING) {
            let charset = self.charset_name()?;
            self.expect_tok(Tok::RParen)?;
            return Ok(Expr::ConvertUsing { expr, charset });
        }
        self.expect_tok(Tok::Comma)?;
        let ty = self.cast_type()?;
        self.expect_tok(Tok::RParen)?;
        Ok(Expr::Cast { expr, ty })
    }

    /// The name of a character set: a word, a string, or BINARY.
    pub(crate) fn charset_name(&mut self) -> SqlResult<String> {
        match self.peek() {
            Tok::String => self.string(),
            Tok::Word(Kw::BINARY) => self.any_word(),
            _ => self.ident(),
        }
    }

    /// `(n)`, if it is next.
    fn opt_length(&mut self) -> SqlResult<Option<u64>> {
        if !self.eat_tok(Tok::LParen) {
            return Ok(None);
        }
        let n = self.type_number()?;
        self.expect_tok(Tok::RParen)?;
        Ok(Some(n))
    }

    /// The type of CAST.
    pub(crate) fn cast_type(&mut self) -> SqlResult<CastType> {
        let Tok::Word(k) = self.peek() else {
            return Err(self.error());
        };
        Ok(match k {
            Kw::BINARY => {
                self.bump();
                CastType::Binary(self.opt_length()?)
            }
            Kw::CHAR
            | Kw::CHARACTER
            | Kw::VARCHAR
            | Kw::NCHAR
            | Kw::NVARCHAR
            | Kw::NATIONAL
            | Kw::VARCHAR2 => self.char_type(k)?,
            Kw::DATE => {
                self.bump();
                CastType::Date
            }
            Kw::TIME => {
                self.bump();
                CastType::Time(self.opt_length()?)
            }
            Kw::DATETIME => {
                self.bump();
                CastType::DateTime(self.opt_length()?)
            }
            Kw::DECIMAL | Kw::DEC => {
                self.bump();
                let mut digits = None;
                if self.eat_tok(Tok::LParen) {
                    let precision = self.length_or_digits()?;
                    let scale = match self.eat_tok(Tok::Comma) {
                        true => Some(self.few_digits()?),
                        false => None,
                    };
                    digits = Some((precision, scale));
                    self.expect_tok(Tok::RParen)?;
                }
                CastType::Decimal(digits)
            }
            Kw::SIGNED | Kw::UNSIGNED => {
                self.bump();
                let _ = self.eat(Kw::INTEGER) || self.eat(Kw::INT);
                match k {
                    Kw::SIGNED => CastType::Signed,
                    _ => CastType::Unsigned,
                }
            }
            Kw::INT | Kw::INTEGER => {
                self.bump();
                CastType::Signed
            }
            Kw::DOUBLE => {
                self.bump();
                self.eat(Kw::PRECISION);
                let mut digits = None;
                if self.eat_tok(Tok::LParen) {
                    let m = self.few_digits()?;
                    self.expect_tok(Tok::Comma)?;
                    digits = Some((m, self.few_digits()?));
                    self.expect_tok(Tok::RParen)?;
                }
                CastType::Double(digits)
            }
            Kw::FLOAT => {
                self.bump();
                CastType::Float
            }
            Kw::INTERVAL => {
                self.bump();
                self.expect(Kw::DAY_SECOND)?;
                CastType::IntervalDaySecond(self.opt_length()?)
            }
            Kw::Plain => CastType::Other(self.any_word()?),
            // A word that names no type at all is an unknown one.
            k => {
                let at = self.here();
                match self.is_unknown_type(k)? {
                    true => CastType::Other(self.any_word()?),
                    false => return Err(self.error_at(at)),
                }
            }
        })
    }

    fn char_type(&mut self, k: Kw) -> SqlResult<CastType> {
        self.bump();
        let mut national = matches!(k, Kw::NCHAR | Kw::NVARCHAR);
        let mut varies = matches!(k, Kw::VARCHAR | Kw::NVARCHAR | Kw::VARCHAR2);
        if k == Kw::NATIONAL {
            national = true;
            varies = self.at(Kw::VARCHAR) || self.at(Kw::VARCHARACTER);
            if !varies && !self.at(Kw::CHAR) && !self.at(Kw::CHARACTER) {
                return Err(self.error());
            }
            self.bump();
        }
        let varying = !varies && self.eat(Kw::VARYING);
        let length = match varies || varying {
            true if self.peek() != Tok::LParen => return Err(self.error()),
            _ => self.opt_length()?,
        };
        let (mut charset, mut collation, mut binary) = (None, None, false);
        if self.eat_all(&[Kw::CHARACTER, Kw::SET])
            || self.eat_all(&[Kw::CHAR, Kw::SET])
            || self.eat(Kw::CHARSET)
        {
            charset = Some(self.charset_name()?);
        } else {
            let short = [
                (Kw::ASCII, "latin1"),
                (Kw::UNICODE, "ucs2"),
                (Kw::BYTE, "binary"),
            ];
            if let Some((word, set)) = short.into_iter().find(|(word, _)| self.at(*word)) {
                self.expect(word)?;
                charset = Some(set.to_string());
            }
        }
        if self.eat(Kw::BINARY) {
            binary = true;
            if charset.is_none() && self.eat(Kw::ASCII) {
                charset = Some("latin1".to_string());
            } else if charset.is_none() && self.eat(Kw::UNICODE) {
                charset = Some("ucs2".to_string());
            } else if charset.is_none()
                && (self.eat_all(&[Kw::CHARACTER, Kw::SET]) || self.eat(Kw::CHARSET))
            {
                charset = Some(self.charset_name()?);
            }
        }
        // COLLATE DEFAULT is the character set's own, as if nothing was said.
        if self.eat(Kw::COLLATE) && !self.eat(Kw::DEFAULT) {
            collation = Some(self.charset_name()?);
        }
        Ok(CastType::Char {
            length,
            charset,
            collation,
            binary,
            national,
        })
    }

    /// CHAR(n, ... [USING charset])
    fn char_call(&mut self) -> SqlResult<Expr> {
        let name = self.any_word()?;
        self.expect_tok(Tok::LParen)?;
        let args = self.nested(|p| p.comma_separated(Self::expr))?;
        if self.eat(Kw::USING) {
            let charset = self.charset_name()?;
            self.expect_tok(Tok::RParen)?;
            return Ok(special(Special::Char(args, charset)));
        }
        self.expect_tok(Tok::RParen)?;
        Ok(Expr::Call(Box::new(plain_call(None, name, args))))
    }

    /// Behind TRIM.
    fn trim(&mut self, oracle: bool) -> SqlResult<Expr> {
        self.expect_tok(Tok::LParen)?;
        let side = match self.peek() {
            Tok::Word(Kw::BOTH) => Some(TrimSide::Both),
            Tok::Word(Kw::LEADING) => Some(TrimSide::Leading),
            Tok::Word(Kw::TRAILING) => Some(TrimSide::Trailing),
            _ => None,
        };
        if side.is_some() {
            self.bump();
        }
        let (what, text) = if side.is_some() && self.eat(Kw::FROM) {
            (None, self.nested(Self::expr)?)
        } else {
            let first = self.nested(Self::expr)?;
            match side.is_some() || self.at(Kw::FROM) {
                true => {
                    self.expect(Kw::FROM)?;
                    (Some(first), self.nested(Self::expr)?)
                }
                false => (None, first),
            }
        };
        self.expect_tok(Tok::RParen)?;
        Ok(special(Special::Trim {
            side,
            what,
            text,
            oracle,
        }))
    }

    fn extract(&mut self) -> SqlResult<Expr> {
        self.bump();
        self.bump();
        let unit = self.unit()?;
        self.expect(Kw::FROM)?;
        let e = self.nested(Self::expr)?;
        self.expect_tok(Tok::RParen)?;
        Ok(special(Special::Extract(unit, e)))
    }

    /// POSITION(what IN text)
    fn position(&mut self) -> SqlResult<Expr> {
        self.bump();
        self.bump();
        let what = self.nested(|p| p.operators(level::BIT_OR))?;
        self.expect(Kw::IN)?;
        let text = self.nested(Self::expr)?;
        self.expect_tok(Tok::RParen)?;
        Ok(special(Special::Position(what, text)))
    }

    /// SUBSTRING(text, start [, length]) and SUBSTRING(text FROM start [FOR length])
    /// Behind SUBSTRING or a name for it.
    fn substring(&mut self, db: Option<String>, name: String) -> SqlResult<Expr> {
        self.expect_tok(Tok::LParen)?;
        let text = self.nested(Self::expr)?;
        let words = self.eat(Kw::FROM);
        if !words {
            self.expect_tok(Tok::Comma)?;
        }
        let start = self.nested(Self::expr)?;
        let more = match words {
            true => self.eat(Kw::FOR),
            false => self.eat_tok(Tok::Comma),
        };
        let length = match more {
            true => Some(self.nested(Self::expr)?),
            false => None,
        };
        self.expect_tok(Tok::RParen)?;
        let db = db.or_else(|| self.mode_schema(&name, 2));
        if words && db.is_none() {
            return Ok(special(Special::Substring(text, start, length)));
        }
        let args = [Some(text), Some(start), length]
            .into_iter()
            .flatten()
            .collect();
        Ok(Expr::Call(Box::new(plain_call(db, name, args))))
    }

    fn get_format(&mut self) -> SqlResult<Expr> {
        self.bump();
        self.bump();
        let kind = match self.peek() {
            Tok::Word(Kw::DATE) => FormatKind::Date,
            Tok::Word(Kw::TIME) => FormatKind::Time,
            Tok::Word(Kw::DATETIME | Kw::TIMESTAMP) => FormatKind::DateTime,
            _ => return Err(self.error()),
        };
        self.bump();
        self.expect_tok(Tok::Comma)?;
        let place = self.nested(Self::expr)?;
        self.expect_tok(Tok::RParen)?;
        Ok(special(Special::GetFormat(kind, place)))
    }

    fn weight_string(&mut self) -> SqlResult<Expr> {
        let name = self.any_word()?;
        self.expect_tok(Tok::LParen)?;
        let text = self.nested(Self::expr)?;
        if self.eat_tok(Tok::Comma) {
            let mut numbers = [self.number()?, 0, 0];
            for n in &mut numbers[1..] {
                self.expect_tok(Tok::Comma)?;
                *n = self.number()?;
            }
            self.expect_tok(Tok::RParen)?;
            return Ok(special(Special::PaddedWeights(text, numbers)));
        }
        let mut cut = None;
        if self.eat(Kw::AS) {
            let binary = self.eat(Kw::BINARY);
            if !binary {
                self.expect(Kw::CHAR)?;
            }
            self.expect_tok(Tok::LParen)?;
            let at = self.here();
            let n = self.uint()?;
            if n == 0 {
                return Err(self.error_at(at));
            }
            cut = Some((n, binary));
            self.expect_tok(Tok::RParen)?;
        }
        let mut levels = Vec::new();
        let binary = matches!(cut, Some((_, true)));
        if !binary && self.eat(Kw::LEVEL) {
            levels = self.weight_levels()?;
        }
        self.expect_tok(Tok::RParen)?;
        if cut.is_none() && levels.is_empty() {
            return Ok(Expr::Call(Box::new(plain_call(None, name, vec![text]))));
        }
        Ok(special(Special::WeightString { text, cut, levels }))
    }

    fn weight_levels(&mut self) -> SqlResult<Vec<WeightLevel>> {
        let from = self.uint()?;
        if self.eat_tok(Tok::Minus) {
            let to = self.uint()?;
            return Ok(vec![WeightLevel {
                from,
                to,
                desc: false,
                reverse: false,
            }]);
        }
        let mut levels = Vec::new();
        let mut n = from;
        loop {
            let desc = self.eat(Kw::DESC);
            if !desc {
                self.eat(Kw::ASC);
            }
            let reverse = self.eat(Kw::REVERSE);
            levels.push(WeightLevel {
                from: n,
                to: n,
                desc,
                reverse,
            });
            if !self.eat_tok(Tok::Comma) {
                return Ok(levels);
            }
            n = self.uint()?;
        }
    }

    /// TIMESTAMPADD(unit, n, date), TIMESTAMPDIFF(unit, a, b)
    fn timestamp_call(&mut self, add: bool) -> SqlResult<Expr> {
        self.bump();
        self.bump();
        let unit = match self.peek() {
            Tok::Word(k) => simple_unit(k).ok_or_else(|| self.error())?,
            _ => return Err(self.error()),
        };
        self.bump();
        self.expect_tok(Tok::Comma)?;
        let a = self.nested(Self::expr)?;
        self.expect_tok(Tok::Comma)?;
        let b = self.nested(Self::expr)?;
        self.expect_tok(Tok::RParen)?;
        Ok(special(match add {
            true => Special::TimestampAdd(unit, a, b),
            false => Special::TimestampDiff(unit, a, b),
        }))
    }

    /// DATE_ADD(date, INTERVAL n unit), ADDDATE(date, days) and theirs.
    fn date_arith(&mut self, k: Kw) -> SqlResult<Expr> {
        let name = self.any_word()?;
        self.expect_tok(Tok::LParen)?;
        let date = self.nested(Self::expr)?;
        self.expect_tok(Tok::Comma)?;
        if !self.at_interval() {
            if matches!(k, Kw::DATE_ADD | Kw::DATE_SUB) {
                return Err(self.error());
            }
            let days = self.nested(Self::expr)?;
            self.expect_tok(Tok::RParen)?;
            return Ok(Expr::Call(Box::new(plain_call(
                None,
                name,
                vec![date, days],
            ))));
        }
        let (amount, unit) = self.interval_parts()?;
        self.expect_tok(Tok::RParen)?;
        let subtract = matches!(k, Kw::SUBDATE | Kw::DATE_SUB);
        Ok(special(Special::DateArith {
            subtract,
            date,
            amount,
            unit,
            name,
        }))
    }

    /// True if `INTERVAL n unit` is next, and no call of the function INTERVAL.
    pub(super) fn at_interval(&self) -> bool {
        if !self.at(Kw::INTERVAL) {
            return false;
        }
        if self.peek_at(1) != Tok::LParen {
            return true;
        }
        // INTERVAL(n, a, b): a comma at the first level tells it from INTERVAL (n) DAY.
        let mut depth = 0usize;
        for n in 1.. {
            match self.peek_at(n) {
                Tok::LParen => depth += 1,
                Tok::RParen if depth == 1 => return true,
                Tok::RParen => depth -= 1,
                Tok::Comma if depth == 1 => return false,
                Tok::End => return false,
                _ => {}
            }
        }
        false
    }

    /// INTERVAL n unit
    pub(super) fn interval(&mut self) -> SqlResult<Expr> {
        let (value, unit) = self.interval_parts()?;
        Ok(Expr::Interval {
            value: Box::new(value),
            unit,
        })
    }

    fn interval_parts(&mut self) -> SqlResult<(Expr, Unit)> {
        self.expect(Kw::INTERVAL)?;
        let value = self.nested(Self::expr)?;
        Ok((value, self.unit()?))
    }

    /// A unit of time.
    pub(crate) fn unit(&mut self) -> SqlResult<Unit> {
        let Tok::Word(k) = self.peek() else {
            return Err(self.error());
        };
        let unit = match k {
            Kw::SECOND_MICROSECOND => Unit::SecondMicrosecond,
            Kw::MINUTE_MICROSECOND => Unit::MinuteMicrosecond,
            Kw::MINUTE_SECOND => Unit::MinuteSecond,
            Kw::HOUR_MICROSECOND => Unit::HourMicrosecond,
            Kw::HOUR_SECOND => Unit::HourSecond,
            Kw::HOUR_MINUTE => Unit::HourMinute,
            Kw::DAY_MICROSECOND => Unit::DayMicrosecond,
            Kw::DAY_SECOND => Unit::DaySecond,
            Kw::DAY_MINUTE => Unit::DayMinute,
            Kw::DAY_HOUR => Unit::DayHour,
            Kw::YEAR_MONTH => Unit::YearMonth,
            k => simple_unit(k).ok_or_else(|| self.error())?,
        };
        self.bump();
        Ok(unit)
    }

    /// NEXT VALUE FOR s, PREVIOUS VALUE FOR s
    fn value_for(&mut self, next: bool) -> SqlResult<Expr> {
        for _ in 0..3 {
            self.bump();
        }
        let name = self.table_name()?;
        Ok(special(match next {
            true => Special::NextValue(name),
            false => Special::LastValue(name),
        }))
    }

    /// NEXTVAL(s), LASTVAL(s)
    fn sequence_call(&mut self, next: bool) -> SqlResult<Expr> {
        self.bump();
        self.bump();
        let name: TableName = self.table_name()?;
        self.expect_tok(Tok::RParen)?;
        Ok(special(match next {
            true => Special::NextValue(name),
            false => Special::LastValue(name),
        }))
    }

    /// SETVAL(s, n [, used [, round]]); used is a number, TRUE or FALSE.
    fn setval_call(&mut self) -> SqlResult<Expr> {
        self.bump();
        self.bump();
        let name = self.table_name()?;
        self.expect_tok(Tok::Comma)?;
        let minus = self.eat_tok(Tok::Minus);
        if !minus {
            self.eat_tok(Tok::Plus);
        }
        let digits = self.digits_of_int()?;
        let value = if minus { format!("-{digits}") } else { digits };
        let used = match self.eat_tok(Tok::Comma) {
            true if self.eat(Kw::TRUE) => Some("1".to_string()),
            true if self.eat(Kw::FALSE) => Some("0".to_string()),
            true => Some(self.digits_of_int()?),
            false => None,
        };
        let round = match used.is_some() && self.eat_tok(Tok::Comma) {
            true => Some(self.digits_of_int()?),
            false => None,
        };
        self.expect_tok(Tok::RParen)?;
        Ok(special(Special::SetValue {
            name,
            value,
            used,
            round,
        }))
    }

    fn digits_of_int(&mut self) -> SqlResult<String> {
        if self.peek() != Tok::Int {
            return Err(self.error());
        }
        let t = self.bump();
        Ok(self.token_text(t).to_string())
    }

    fn dynamic_column(&mut self, k: Kw) -> SqlResult<Expr> {
        self.bump();
        self.bump();
        let e = match k {
            Kw::COLUMN_CREATE => Special::ColumnCreate(self.comma_separated(Self::dynamic_value)?),
            Kw::COLUMN_ADD => {
                let blob = self.nested(Self::expr)?;
                self.expect_tok(Tok::Comma)?;
                Special::ColumnAdd(blob, self.comma_separated(Self::dynamic_value)?)
            }
            _ => {
                let blob = self.nested(Self::expr)?;
                self.expect_tok(Tok::Comma)?;
                let name = self.nested(Self::expr)?;
                self.expect(Kw::AS)?;
                Special::ColumnGet(blob, name, self.cast_type()?)
            }
        };
        self.expect_tok(Tok::RParen)?;
        Ok(special(e))
    }

    /// `name, value [AS type]`
    fn dynamic_value(&mut self) -> SqlResult<DynamicColumn> {
        let name = self.nested(Self::expr)?;
        self.expect_tok(Tok::Comma)?;
        let value = self.nested(Self::expr)?;
        let ty = match self.eat(Kw::AS) {
            true => Some(self.dynamic_type()?),
            false => None,
        };
        Ok(DynamicColumn { name, value, ty })
    }

    /// The type that the value of a dynamic column is given: some types of CAST, texts without a length.
    fn dynamic_type(&mut self) -> SqlResult<CastType> {
        let Tok::Word(k) = self.peek() else {
            return Err(self.error());
        };
        match k {
            Kw::INT | Kw::INTEGER | Kw::DECIMAL | Kw::DATE | Kw::TIME | Kw::DATETIME => {
                self.cast_type()
            }
            Kw::DOUBLE | Kw::FLOAT | Kw::REAL => {
                self.bump();
                Ok(CastType::Double(None))
            }
            Kw::UNSIGNED => {
                self.bump();
                if !self.eat(Kw::INTEGER) {
                    self.expect(Kw::INT)?;
                }
                Ok(CastType::Unsigned)
            }
            Kw::CHAR | Kw::NCHAR => {
                let at = self.here();
                match self.cast_type()? {
                    CastType::Char {
                        length: Some(_), ..
                    } => Err(self.error_at(at)),
                    t => Ok(t),
                }
            }
            _ => Err(self.error()),
        }
    }

    /// ORDER BY, if it is next.
    pub(crate) fn order_by(&mut self) -> SqlResult<Vec<OrderItem>> {
        if !self.eat(Kw::ORDER) {
            return Ok(Vec::new());
        }
        self.expect(Kw::BY)?;
        self.comma_separated(Self::order_item)
    }

    /// `e [ASC | DESC]`
    pub(crate) fn order_item(&mut self) -> SqlResult<OrderItem> {
        let expr = self.expr()?;
        let desc = self.eat(Kw::DESC);
        if !desc {
            self.eat(Kw::ASC);
        }
        Ok(OrderItem { expr, desc })
    }
}

fn special(s: Special) -> Expr {
    Expr::Special(Box::new(s))
}

/// A call without clauses.
fn plain_call(db: Option<String>, name: String, args: Vec<Expr>) -> Call {
    Call {
        db,
        name,
        args,
        arg_names: Vec::new(),
        parens: true,
        spaced: false,
        star: false,
        distinct: false,
        clauses: None,
    }
}

/// `name()`
pub(super) fn call_without_arguments(name: String) -> Expr {
    Expr::Call(Box::new(plain_call(None, name, Vec::new())))
}

/// `SQL%ROWCOUNT`: rows that the last statement changed or gave.
pub(in crate::parse) fn rows_of_last_statement() -> Expr {
    let call = |name: &str, args| Expr::Call(Box::new(plain_call(None, name.into(), args)));
    let changed = || call("ROW_COUNT", Vec::new());
    let given = call("FOUND_ROWS", Vec::new());
    let is_change = Expr::Binary {
        op: BinaryOp::Ge,
        left: Box::new(changed()),
        right: Box::new(Expr::Literal(Literal::Number("0".into()))),
    };
    call("IF", vec![is_change, changed(), given])
}

/// The units that TIMESTAMPADD knows, with their old names.
fn simple_unit(k: Kw) -> Option<Unit> {
    Some(match k {
        Kw::MICROSECOND => Unit::Microsecond,
        Kw::SECOND | Kw::SQL_TSI_SECOND => Unit::Second,
        Kw::MINUTE | Kw::SQL_TSI_MINUTE => Unit::Minute,
        Kw::HOUR | Kw::SQL_TSI_HOUR => Unit::Hour,
        Kw::DAY | Kw::SQL_TSI_DAY => Unit::Day,
        Kw::WEEK | Kw::SQL_TSI_WEEK => Unit::Week,
        Kw::MONTH | Kw::SQL_TSI_MONTH => Unit::Month,
        Kw::QUARTER | Kw::SQL_TSI_QUARTER => Unit::Quarter,
        Kw::YEAR | Kw::SQL_TSI_YEAR => Unit::Year,
        _ => return None,
    })
}
