// A tour of go-sql-driver/mysql on one database: tour PORT DATABASE; prints what it saw as lines of JSON.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func note(what string, values ...any) {
	line, err := json.Marshal([]any{what, values})
	check(err)
	fmt.Println(string(line))
}

// Rows as text, with the column types in front.
func all(rows *sql.Rows, err error) any {
	check(err)
	defer rows.Close()
	types, err := rows.ColumnTypes()
	check(err)
	out := [][]any{{}}
	for _, t := range types {
		nullable, _ := t.Nullable()
		length, _ := t.Length()
		precision, scale, _ := t.DecimalSize()
		out[0] = append(out[0], []any{t.Name(), t.DatabaseTypeName(), nullable, length, precision, scale, fmt.Sprint(t.ScanType())})
	}
	for rows.Next() {
		row := make([]any, len(types))
		into := make([]any, len(types))
		for i := range row {
			into[i] = &row[i]
		}
		check(rows.Scan(into...))
		for i, v := range row {
			row[i] = fmt.Sprintf("%T %v", v, v)
		}
		out = append(out, row)
	}
	check(rows.Err())
	return out
}

func code(err error) any {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return []any{e.Number, string(e.SQLState[:])}
	}
	return fmt.Sprint(err)
}

func tour(dsn string, interpolate bool) {
	db, err := sql.Open("mysql", fmt.Sprintf("%s?parseTime=true&multiStatements=true&interpolateParams=%v&collation=utf8mb4_general_ci", dsn, interpolate))
	check(err)
	defer db.Close()
	db.SetMaxOpenConns(8)
	exec := func(text string, args ...any) sql.Result {
		r, err := db.Exec(text, args...)
		check(err)
		return r
	}
	exec("CREATE TABLE kinds (id BIGINT AUTO_INCREMENT PRIMARY KEY, i INT, u BIGINT UNSIGNED, f FLOAT, d DOUBLE, n DECIMAL(12,4), s VARCHAR(50), t TEXT, b VARBINARY(16), e ENUM('x','y'), m SET('p','q'), dt DATETIME(6), ts TIMESTAMP NULL, da DATE, ti TIME(3), y YEAR, j JSON, bit BIT(9))")
	moment := time.Date(2024, 2, 29, 12, 13, 14, 567890000, time.UTC)
	r := exec("INSERT INTO kinds (i, u, f, d, n, s, t, b, e, m, dt, ts, da, ti, y, j, bit) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		-5, uint64(1)<<63, 1.25, 2.5, "123.4567", "žluť", strings.Repeat("x", 300), []byte{0, 9, 255}, "y", "p,q", moment, moment.Truncate(time.Second), "2024-02-29", "-11:12:13.5", 2024, `{"a": [1, null]}`, 257)
	id, _ := r.LastInsertId()
	n, _ := r.RowsAffected()
	note("inserted", id, n)
	exec("INSERT INTO kinds (i) VALUES (?), (?), (?)", 1, nil, 3)
	note("all", all(db.Query("SELECT * FROM kinds ORDER BY id")))
	note("some", all(db.Query("SELECT i, s, COUNT(*) OVER_ALL, i + ? AS plus FROM kinds WHERE id > ? GROUP BY i, s ORDER BY i", 10, 0)))
	r = exec("UPDATE kinds SET i = i + 1 WHERE i > ?", 0)
	n, _ = r.RowsAffected()
	note("updated", n)
	stmt, err := db.Prepare("SELECT s FROM kinds WHERE id = ?")
	check(err)
	var s sql.NullString
	for _, id := range []int{1, 2} {
		check(stmt.QueryRow(id).Scan(&s))
		note("prepared", s.Valid, s.String)
	}
	note("no rows", errors.Is(stmt.QueryRow(99).Scan(&s), sql.ErrNoRows))
	check(stmt.Close())
	tx, err := db.BeginTx(context.Background(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	check(err)
	_, err = tx.Exec("DELETE FROM kinds")
	check(err)
	check(tx.Rollback())
	tx, err = db.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true})
	check(err)
	_, err = tx.Exec("DELETE FROM kinds")
	note("read only", code(err))
	check(tx.Rollback())
	var wait sync.WaitGroup
	for i := 0; i < 8; i++ {
		wait.Add(1)
		go func(i int) {
			defer wait.Done()
			_, err := db.Exec("INSERT INTO kinds (i, s) VALUES (?, 'at once')", i)
			check(err)
		}(i)
	}
	wait.Wait()
	var sum int
	check(db.QueryRow("SELECT SUM(i) FROM kinds WHERE s = 'at once'").Scan(&sum))
	note("at once", sum)
	rows, err := db.Query("SELECT 1; SELECT 2, 3")
	check(err)
	for sets := 1; ; sets++ {
		for rows.Next() {
		}
		if !rows.NextResultSet() {
			note("result sets", sets)
			break
		}
	}
	check(rows.Close())
	_, err = db.Exec("INSERT INTO kinds (id) VALUES (1)")
	note("duplicate", code(err))
	_, err = db.Exec("SELEC 1")
	note("syntax", code(err))
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	_, err = db.ExecContext(ctx, "DO SLEEP(20)")
	note("cancelled", errors.Is(err, context.DeadlineExceeded))
	cancel()
	mysql.RegisterReaderHandler("lines", nil)
	file, err := os.CreateTemp("", "narwal-go")
	check(err)
	defer os.Remove(file.Name())
	fmt.Fprint(file, "50\tfrom a file\n51\t\\N\n")
	check(file.Close())
	mysql.RegisterLocalFile(file.Name())
	if _, err = db.Exec("LOAD DATA LOCAL INFILE '" + file.Name() + "' INTO TABLE kinds (id, s)"); err != nil {
		note("load data", code(err))
	}
	note("loaded", all(db.Query("SELECT id, s FROM kinds WHERE id >= 50 ORDER BY id")))
	names := []string{}
	tables, err := db.Query("SHOW TABLES")
	check(err)
	for tables.Next() {
		var name string
		check(tables.Scan(&name))
		names = append(names, name)
	}
	check(tables.Err())
	sort.Strings(names)
	note("tables", names)
	exec("DROP TABLE kinds")
}

func main() {
	dsn := fmt.Sprintf("root@tcp(127.0.0.1:%s)/%s", os.Args[1], os.Args[2])
	for _, interpolate := range []bool{false, true} {
		tour(dsn, interpolate)
	}
}
