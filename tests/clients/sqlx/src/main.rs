//! A tour of sqlx on one database: `sqlx-tour PORT DATABASE`; prints what it saw as lines of JSON.

use serde_json::{Value, json};
use sqlx::mysql::{MySqlConnectOptions, MySqlPoolOptions, MySqlRow};
use sqlx::types::time::{Date, OffsetDateTime, PrimitiveDateTime};
use sqlx::types::{Decimal, Json};
use sqlx::{Column, Connection, Executor, FromRow, MySqlPool, QueryBuilder, Row, TypeInfo};

type Result<T> = std::result::Result<T, sqlx::Error>;

fn note(what: &str, value: Value) {
    println!("{}", json!([what, value]));
}

#[derive(Debug, FromRow)]
struct Item {
    id: u64,
    name: String,
    price: Decimal,
    weight: Option<f64>,
    made: Date,
    changed: PrimitiveDateTime,
    stamp: Option<OffsetDateTime>,
    details: Json<Value>,
    picture: Option<Vec<u8>>,
    active: bool,
    kind: String,
}

fn columns(rows: &[MySqlRow]) -> Value {
    rows.first().map_or(Value::Null, |r| {
        r.columns().iter().map(|c| json!([c.name(), c.type_info().name()])).collect()
    })
}

fn code<T>(r: Result<T>) -> Value {
    match r {
        Ok(_) => json!("no error"),
        Err(sqlx::Error::Database(e)) => {
            let e = e.downcast::<sqlx::mysql::MySqlDatabaseError>();
            json!([e.number(), e.code(), format!("{:?}", sqlx::error::DatabaseError::kind(&*e))])
        }
        Err(e) => json!(e.to_string()),
    }
}

async fn tour(pool: &MySqlPool) -> Result<()> {
    pool.execute(
        "CREATE TABLE item (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(60) NOT NULL UNIQUE, price DECIMAL(12,3) NOT NULL,
         weight DOUBLE, made DATE NOT NULL, changed DATETIME(6) NOT NULL, stamp TIMESTAMP(3) NULL, details JSON NOT NULL, picture BLOB,
         active BOOLEAN NOT NULL DEFAULT TRUE, kind ENUM('small', 'big') NOT NULL DEFAULT 'small')",
    )
    .await?;
    for i in 0..6u8 {
        let done = sqlx::query("INSERT INTO item (name, price, weight, made, changed, stamp, details, picture, kind) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
            .bind(format!("item {i} ž"))
            .bind(Decimal::new(12345 * i64::from(i), 3))
            .bind((i % 2 == 0).then_some(f64::from(i) / 4.0))
            .bind(Date::from_ordinal_date(2024, 60 + u16::from(i)).unwrap())
            .bind(PrimitiveDateTime::new(Date::from_ordinal_date(2024, 1).unwrap(), sqlx::types::time::Time::from_hms_micro(i, 2, 3, 4).unwrap()))
            .bind((i > 2).then(|| OffsetDateTime::from_unix_timestamp(1_700_000_000 + i64::from(i)).unwrap()))
            .bind(Json(json!({"i": i, "list": [1, null, "x"]})))
            .bind((i != 3).then(|| vec![i, 0, 255]))
            .bind(if i > 3 { "big" } else { "small" })
            .execute(pool)
            .await?;
        note("inserted", json!([done.rows_affected(), done.last_insert_id()]));
    }
    let items: Vec<Item> = sqlx::query_as("SELECT * FROM item ORDER BY id").fetch_all(pool).await?;
    for i in &items {
        note("item", json!([i.id, i.name, i.price.to_string(), i.weight, i.made.to_string(), i.changed.to_string(), i.stamp.map(|t| t.to_string()), i.details.0, i.picture, i.active, i.kind]));
    }
    let rows = sqlx::query("SELECT kind, COUNT(*) AS n, SUM(price) AS total, AVG(weight) AS mean, MAX(made) AS last, GROUP_CONCAT(name ORDER BY id) AS names FROM item GROUP BY kind ORDER BY kind")
        .fetch_all(pool)
        .await?;
    note("columns", columns(&rows));
    for r in &rows {
        note("group", json!([r.get::<String, _>(0), r.get::<i64, _>("n"), r.get::<Decimal, _>("total").to_string(), r.get::<Option<f64>, _>("mean"), r.get::<Date, _>("last").to_string(), r.get::<String, _>("names")]));
    }
    let mut build = QueryBuilder::new("SELECT name FROM item WHERE id IN (");
    let mut list = build.separated(", ");
    for id in [1u64, 3, 5] {
        list.push_bind(id);
    }
    build.push(") ORDER BY id DESC");
    note("in", json!(build.build_query_scalar::<String>().fetch_all(pool).await?));
    let mut tx = pool.begin().await?;
    sqlx::query("UPDATE item SET price = price + 1 WHERE id < ?").bind(4).execute(&mut *tx).await?;
    {
        let mut inner = tx.begin().await?;
        sqlx::query("DELETE FROM item").execute(&mut *inner).await?;
        inner.rollback().await?;
    }
    tx.commit().await?;
    note("after", json!(sqlx::query_scalar::<_, String>("SELECT CAST(SUM(price) AS CHAR) FROM item").fetch_one(pool).await?));
    note("none", json!(sqlx::query("SELECT * FROM item WHERE id = 99").fetch_optional(pool).await?.is_none()));
    note("duplicate", code(sqlx::query("INSERT INTO item (id, name, price, made, changed, details) VALUES (1, 'x', 1, NOW(), NOW(), '{}')").execute(pool).await));
    note("no default", code(sqlx::query("INSERT INTO item (id) VALUES (50)").execute(pool).await));
    note("bad json", code(sqlx::query("UPDATE item SET details = 'x'").execute(pool).await));
    note("syntax", code(sqlx::query("SELEC 1").execute(pool).await));
    let described = pool.describe("SELECT id, name, weight, ? + 1 AS p FROM item").await?;
    note("described", json!([described.columns.len(), described.columns.iter().map(|c| c.name().to_owned()).collect::<Vec<_>>()]));
    pool.execute("DROP TABLE item").await?;
    Ok(())
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let options = MySqlConnectOptions::new().host("127.0.0.1").port(args[1].parse().unwrap()).username("root").database(&args[2]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let pool = MySqlPoolOptions::new().max_connections(3).connect_with(options).await?;
        tour(&pool).await?;
        let mut one = pool.acquire().await?;
        one.ping().await?;
        Ok(())
    })
}
