//! A program with its own durable, replicable store: no server, the same crash safety.
//!
//! `cargo run -p narwal-engine --example embedded -- [DIR]`: kill it at any moment and run it again.

use narwal_engine::{
    Database, EngineError, KeyRange, LockMode, LockWait, ReadView, Result, TableBuilder, TxnOptions,
};
use narwal_types::{TypeKind, ValueRef};

fn main() -> Result<()> {
    let dir = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "embedded-data".into());
    let db = Database::open(&dir)?;
    db.create_database("bank")?;
    if db.catalog().table("bank", "accounts").is_none() {
        db.create_table(
            TableBuilder::new("bank", "accounts")
                .column("id", TypeKind::BigInt, false)
                .column("owner", TypeKind::VarChar(40), false)
                .column("balance", TypeKind::BigInt, false)
                .primary_key(&["id"])
                .index("by_owner", &["owner"], false)
                .build()?,
        )?;
    }
    let catalog = db.catalog();
    let accounts = catalog
        .table("bank", "accounts")
        .ok_or_else(|| EngineError::Catalog("no accounts".into()))?;

    // Fill it once: one transaction, one sync.
    if db.table_rows(accounts) == 0 {
        let mut t = db.begin(TxnOptions::default());
        for (id, owner) in [(1, "Ada"), (2, "Grace"), (3, "Edsger")] {
            t.insert(
                accounts,
                accounts.row(&[
                    ValueRef::Int(id),
                    ValueRef::Str(owner.as_bytes()),
                    ValueRef::Int(100),
                ])?,
            )?;
        }
        println!("made 3 accounts: GTID {}", t.commit()?.gtid);
    }

    // Move 5 from account 1 to account 2: both rows or none, whatever happens.
    let mut t = db.begin(TxnOptions::default());
    for (id, change) in [(1, -5), (2, 5)] {
        let key = accounts.key(0, &[ValueRef::Int(id)])?;
        let row = t
            .lock_row(accounts, &key, LockMode::Exclusive, LockWait::Wait)?
            .ok_or_else(|| EngineError::Catalog(format!("no account {id}")))?;
        let mut values = accounts.values(&row)?;
        if let ValueRef::Int(balance) = &mut values[2] {
            *balance += change;
        }
        let new = accounts.row(&values)?;
        t.update(accounts, &key, &row, new)?;
    }
    println!("moved 5: GTID {}", t.commit()?.gtid);

    // Read by the secondary index, in a snapshot.
    let mut t = db.begin(TxnOptions::default());
    let mut scan = t.scan(
        accounts,
        1,
        KeyRange::all(),
        false,
        ReadView::Snapshot,
        false,
    )?;
    while let Some(item) = scan.next()? {
        println!("{:?}", accounts.values(item.row)?);
    }
    Ok(())
}
