//! A program with its own store that follows what happens in it: one thread writes, another one reads the changes as JSON
//! lines, sleeping while there are none.
//!
//! `cargo run -p narwal-stream --example tail -- [DIR]`: run it again, and it goes on behind the last line of DIR.jsonl.

use narwal_engine::{Database, EngineError, TableBuilder, TxnOptions};
use narwal_stream::{
    DatabaseSource, FileSink, Filter, Format, JsonLines, PumpOptions, Start, Stop, Stream, pump,
};
use narwal_types::{TypeKind, ValueRef};
use std::path::Path;
use std::time::Duration;

fn main() -> narwal_stream::Result<()> {
    let dir = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "tail-data".into());
    let db = Database::open(&dir)?;
    db.create_database("shop")?;
    if db.catalog().table("shop", "orders").is_none() {
        db.create_table(
            TableBuilder::new("shop", "orders")
                .column("id", TypeKind::BigInt, false)
                .column("what", TypeKind::VarChar(40), false)
                .primary_key(&["id"])
                .build()?,
        )?;
    }

    // Each change exactly once, whenever this program is killed: the file says itself where to go on.
    let out = format!("{dir}.jsonl");
    let mut sink = FileSink::open(Path::new(&out), None, JsonLines::new(Format::default()))?;
    let place = sink.place().cloned();
    let start = place.clone().map_or(Start::Beginning, Start::Place);
    let source = DatabaseSource::open(&db, &start)?;
    let mut stream = Stream::new(source, place, Filter::all().table("shop.orders")?);

    let stop = Stop::new();
    let writer = std::thread::spawn({
        let (db, stop) = (db.clone(), stop.clone());
        move || {
            let written = write(&db);
            // Time for the reader, who is asleep by now.
            std::thread::sleep(Duration::from_millis(300));
            stop.stop();
            written
        }
    });
    let mut options = PumpOptions {
        stop,
        retry: Duration::ZERO,
        until: None,
        progress: &mut |p| eprintln!("{} records so far", p.counts.records),
    };
    pump(&mut stream, &mut sink, &mut options)?;
    if let Ok(written) = writer.join() {
        written?;
    }
    let place = stream.place().cloned().unwrap_or_default();
    println!("{out} has the changes up to {place}");
    Ok(())
}

fn write(db: &Database) -> Result<(), EngineError> {
    let catalog = db.catalog();
    let orders = catalog
        .table("shop", "orders")
        .ok_or_else(|| EngineError::Catalog("no orders".into()))?;
    for what in ["tea", "biscuits"] {
        let id = i64::try_from(db.table_rows(orders)).unwrap_or(i64::MAX);
        let mut t = db.begin(TxnOptions::default());
        let row = orders.row(&[ValueRef::Int(id), ValueRef::Str(what.as_bytes())])?;
        t.insert(orders, row)?;
        t.commit()?;
    }
    Ok(())
}
