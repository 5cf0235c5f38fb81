import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;

/** Prints what the JDBC driver finds out about a database: arguments are its URL and its name. */
public class Metadata {
    interface Question {
        ResultSet ask() throws SQLException;
    }

    static void show(String name, Question question) {
        try (ResultSet rows = question.ask()) {
            ResultSetMetaData columns = rows.getMetaData();
            StringBuilder head = new StringBuilder("# " + name);
            for (int i = 1; i <= columns.getColumnCount(); i++) {
                head.append('|').append(columns.getColumnLabel(i));
            }
            System.out.println(head);
            while (rows.next()) {
                StringBuilder line = new StringBuilder(name);
                for (int i = 1; i <= columns.getColumnCount(); i++) {
                    line.append('|').append(rows.getString(i));
                }
                System.out.println(line);
            }
        } catch (SQLException e) {
            System.out.println(name + " FAILED " + e.getErrorCode() + " " + e.getMessage());
        }
    }

    public static void main(String[] args) throws SQLException {
        String db = args[1];
        try (Connection connection = DriverManager.getConnection(args[0])) {
            DatabaseMetaData meta = connection.getMetaData();
            show("catalogs", meta::getCatalogs);
            show("schemas", meta::getSchemas);
            show("table types", meta::getTableTypes);
            show("type info", meta::getTypeInfo);
            show("tables", () -> meta.getTables(db, null, "%", null));
            show("tables of types", () -> meta.getTables(db, null, null, new String[] {"TABLE", "VIEW"}));
            show("columns", () -> meta.getColumns(db, null, "%", "%"));
            for (String table : new String[] {"parent", "types", "bare"}) {
                show("primary key", () -> meta.getPrimaryKeys(db, null, table));
                show("indexes", () -> meta.getIndexInfo(db, null, table, false, true));
                show("unique indexes", () -> meta.getIndexInfo(db, null, table, true, true));
                show("imported keys", () -> meta.getImportedKeys(db, null, table));
                show("exported keys", () -> meta.getExportedKeys(db, null, table));
                show("row identifier", () -> meta.getBestRowIdentifier(db, null, table, 0, true));
                show("version columns", () -> meta.getVersionColumns(db, null, table));
                show("column privileges", () -> meta.getColumnPrivileges(db, null, table, "%"));
                show("result", () -> connection.createStatement().executeQuery("SELECT * FROM " + table + " ORDER BY 1, 2"));
            }
            show("cross reference", () -> meta.getCrossReference(db, null, "parent", db, null, "types"));
            show("procedures", () -> meta.getProcedures(db, null, "%"));
            show("procedure columns", () -> meta.getProcedureColumns(db, null, "%", "%"));
            show("functions", () -> meta.getFunctions(db, null, "%"));
            show("function columns", () -> meta.getFunctionColumns(db, null, "%", "%"));
            show("table privileges", () -> meta.getTablePrivileges(db, null, "%"));
            try (Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery("SELECT * FROM types")) {
                ResultSetMetaData columns = rows.getMetaData();
                for (int i = 1; i <= columns.getColumnCount(); i++) {
                    System.out.println("described|" + columns.getColumnName(i) + "|" + columns.getColumnTypeName(i) + "|"
                            + columns.getPrecision(i) + "|" + columns.getScale(i) + "|" + columns.isAutoIncrement(i) + "|"
                            + columns.isNullable(i) + "|" + columns.getColumnClassName(i));
                }
            }
        }
    }
}
