//! Reads a server's binary log with `mysql_async` and prints the events as JSON lines, until it is killed or the
//! server ends the stream (exit code 0) or fails (1).
//!
//! `reader PORT SERVER_ID file NAME POSITION [nonblock]`: what the crate does by itself, with replica capability 0.
//! `reader PORT SERVER_ID gtid LIST [nonblock]`: capability 4 and the start GTID as user variables, set beforehand.

use futures_util::StreamExt;
use mysql_async::binlog::events::{Event, EventData, RowsEventData};
use mysql_async::binlog::row::BinlogRow;
use mysql_async::binlog::value::BinlogValue;
use mysql_async::prelude::Queryable;
use mysql_async::{BinlogStreamRequest, Conn, OptsBuilder};
use serde_json::{Value, json};
use std::error::Error;
use std::io::Write;

/// MariaDB's GTID event, which the crate does not know.
const GTID_EVENT: u8 = 162;

fn values(row: Option<BinlogRow>) -> Option<Vec<String>> {
    let row = row?;
    let text = |i| match row.as_ref(i) {
        // The whole value: the crate's own form cuts it.
        Some(BinlogValue::Value(mysql_async::Value::Bytes(b))) => {
            format!("\"{}\"", b.escape_ascii())
        }
        other => format!("{other:?}"),
    };
    Some((0..row.len()).map(text).collect())
}

fn gtid(event: &Event) -> Option<String> {
    let data = event.data();
    let seq = u64::from_le_bytes(data.get(0..8)?.try_into().ok()?);
    let domain = u32::from_le_bytes(data.get(8..12)?.try_into().ok()?);
    Some(format!("{domain}-{}-{seq}", event.header().server_id()))
}

fn main() -> Result<(), Box<dyn Error>> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(read())
}

async fn read() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let arg = |i: usize| args.get(i).map(String::as_str).unwrap_or_default();
    let options = OptsBuilder::default()
        .ip_or_hostname("127.0.0.1")
        .tcp_port(arg(0).parse()?)
        .prefer_socket(false)
        .user(Some("root"));
    let mut conn = Conn::new(options).await?;
    let mut request = BinlogStreamRequest::new(arg(1).parse()?);
    match arg(2) {
        "gtid" => {
            conn.query_drop("SET @mariadb_slave_capability=4").await?;
            conn.query_drop(format!("SET @slave_connect_state='{}'", arg(3)))
                .await?;
        }
        "file" => {
            request = request
                .with_filename(arg(3).as_bytes())
                .with_pos(arg(4).parse()?);
        }
        other => return Err(format!("file or gtid, not '{other}'").into()),
    }
    if args.last().is_some_and(|a| a == "nonblock") {
        request = request.with_non_blocking();
    }
    let mut stream = conn.get_binlog_stream(request).await?;
    let mut out = std::io::stdout();
    while let Some(event) = stream.next().await {
        let event = event?;
        let kind = event.header().event_type_raw();
        let mut line = json!({ "type": kind, "end": event.header().log_pos() });
        if kind == GTID_EVENT {
            line["gtid"] = gtid(&event).into();
        }
        match event.read_data()? {
            Some(EventData::QueryEvent(q)) => {
                line["database"] = q.schema().into();
                line["query"] = q.query().into();
            }
            Some(EventData::RotateEvent(r)) => {
                line["file"] = r.name().into();
                line["position"] = r.position().into();
            }
            Some(EventData::RowsEvent(rows)) => {
                describe_rows(&mut line, &rows, &stream)?;
            }
            _ => {}
        }
        writeln!(out, "{line}")?;
        out.flush()?;
    }
    Ok(())
}

fn describe_rows(
    line: &mut Value,
    rows: &RowsEventData<'_>,
    stream: &mysql_async::BinlogStream,
) -> Result<(), Box<dyn Error>> {
    let table = stream
        .get_tme(rows.table_id())
        .ok_or("a rows event without its table map")?;
    line["database"] = table.database_name().into();
    line["table"] = table.table_name().into();
    let mut pairs = Vec::new();
    for row in rows.rows(table) {
        let (before, after) = row?;
        pairs.push(json!([values(before), values(after)]));
    }
    line["rows"] = pairs.into();
    Ok(())
}
