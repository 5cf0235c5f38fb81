// Reads a server's binary log with go-mysql and prints the events as JSON lines, until it is killed or the server ends
// the stream.
//
//	reader PORT SERVER_ID file NAME POSITION [semisync]
//	reader PORT SERVER_ID gtid LIST [semisync]
package main

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/go-mysql-org/go-mysql/replication"
	"github.com/siddontang/go-log/log"
)

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func number(text string) uint32 {
	n, err := strconv.ParseUint(text, 10, 32)
	fail(err)
	return uint32(n)
}

// value makes JSON of what go-mysql decodes a column to: text stays readable, bytes become hexadecimal.
func value(v interface{}) interface{} {
	switch v := v.(type) {
	case nil:
		return nil
	case []byte:
		return "0x" + hex.EncodeToString(v)
	case string:
		return strconv.QuoteToASCII(v)
	default:
		return fmt.Sprint(v)
	}
}

func main() {
	if len(os.Args) < 5 {
		fail(fmt.Errorf("usage: reader PORT SERVER_ID file NAME POSITION | gtid LIST [semisync]"))
	}
	semisync := os.Args[len(os.Args)-1] == "semisync"
	quiet, err := log.NewNullHandler()
	fail(err)
	config := replication.BinlogSyncerConfig{
		ServerID: number(os.Args[2]), Flavor: mysql.MariaDBFlavor, Host: "127.0.0.1", Port: uint16(number(os.Args[1])),
		User: "root", TimestampStringLocation: time.UTC, VerifyChecksum: true, UseDecimal: false,
		HeartbeatPeriod: time.Second, MaxReconnectAttempts: 1, SemiSyncEnabled: semisync,
		DumpCommandFlag: replication.BINLOG_SEND_ANNOTATE_ROWS_EVENT, Logger: log.NewDefault(quiet),
	}
	syncer := replication.NewBinlogSyncer(config)
	var stream *replication.BinlogStreamer
	if os.Args[3] == "gtid" {
		set, err := mysql.ParseMariadbGTIDSet(os.Args[4])
		fail(err)
		stream, err = syncer.StartSyncGTID(set)
		fail(err)
	} else {
		stream, err = syncer.StartSync(mysql.Position{Name: os.Args[4], Pos: number(os.Args[5])})
		fail(err)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for {
		event, err := stream.GetEvent(context.Background())
		if err == io.EOF {
			return
		}
		fail(err)
		line := map[string]interface{}{"type": event.Header.EventType.String(), "end": event.Header.LogPos}
		switch e := event.Event.(type) {
		case *replication.RotateEvent:
			line["file"], line["position"] = string(e.NextLogName), e.Position
		case *replication.MariadbGTIDEvent:
			// Not from e.GTID: the syncer's own set of GTIDs takes the first event's as its memory, and changes it.
			raw := event.RawData[replication.EventHeaderSize:]
			line["gtid"] = fmt.Sprintf("%d-%d-%d", binary.LittleEndian.Uint32(raw[8:]), event.Header.ServerID, binary.LittleEndian.Uint64(raw))
			line["ddl"] = e.IsDDL()
		case *replication.MariadbAnnotateRowsEvent:
			line["query"] = string(e.Query)
		case *replication.QueryEvent:
			line["database"], line["query"] = string(e.Schema), string(e.Query)
		case *replication.RowsEvent:
			line["database"], line["table"] = string(e.Table.Schema), string(e.Table.Table)
			line["columns"] = e.Table.ColumnNameString()
			rows := [][]interface{}{}
			for _, row := range e.Rows {
				values := []interface{}{}
				for _, v := range row {
					values = append(values, value(v))
				}
				rows = append(rows, values)
			}
			line["rows"] = rows
		}
		fail(out.Encode(line))
	}
}
