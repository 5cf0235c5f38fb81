import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.persistence.*;
import java.math.BigDecimal;
import java.sql.*;
import java.time.*;
import java.util.*;
import java.util.stream.*;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.annotations.JdbcTypeCode;
import org.hibernate.cfg.Configuration;
import org.hibernate.tool.schema.spi.SchemaManagementException;
import org.hibernate.type.SqlTypes;

/** A tour of Hibernate and MariaDB Connector/J on one database: Tour PORT DATABASE; prints what it saw as lines of JSON. */
public class Tour {
    enum Size { SMALL, LARGE }

    @Entity(name = "Shelf")
    @Table(indexes = @Index(name = "shelf_room", columnList = "room, label"))
    static class Shelf {
        @Id @GeneratedValue(strategy = GenerationType.IDENTITY) Long id;
        @Column(length = 40, nullable = false, unique = true) String label;
        int room;
        @OneToMany(mappedBy = "shelf", cascade = CascadeType.ALL, orphanRemoval = true) @OrderBy("id") List<Box> boxes = new ArrayList<>();
        @Version int version;
    }

    @Entity(name = "Box")
    static class Box {
        @Id @GeneratedValue(strategy = GenerationType.SEQUENCE) Long id;
        @ManyToOne(optional = false, fetch = FetchType.LAZY) Shelf shelf;
        String name;
        @Enumerated(EnumType.STRING) Size size;
        @Enumerated(EnumType.ORDINAL) Size other;
        @Column(precision = 12, scale = 3) BigDecimal price;
        Double weight;
        boolean sealed;
        LocalDate packed;
        LocalTime at;
        LocalDateTime moved;
        Instant seen;
        @Lob String note;
        byte[] picture;
        UUID token;
        @JdbcTypeCode(SqlTypes.JSON) Map<String, Object> details;
        @ElementCollection @CollectionTable(name = "box_tags") @Column(name = "tag", length = 20) Set<String> tags = new TreeSet<>();
        @Embedded Place place = new Place();
    }

    @Embeddable
    static class Place {
        Integer x;
        Integer y;
    }

    @Entity(name = "Item") @Inheritance(strategy = InheritanceType.JOINED)
    static class Item {
        @Id @GeneratedValue(strategy = GenerationType.TABLE) Long id;
        String name;
        @ManyToMany List<Box> boxes = new ArrayList<>();
    }

    @Entity(name = "Book")
    static class Book extends Item {
        int pages;
    }

    static final ObjectMapper JSON = new ObjectMapper();

    static void note(String what, Object... values) throws Exception {
        System.out.println(JSON.writeValueAsString(List.of(what, Stream.of(values).map(Tour::text).collect(Collectors.toList()))));
    }

    static Object text(Object v) {
        if (v instanceof Object[] a) return Stream.of(a).map(Tour::text).collect(Collectors.toList());
        if (v instanceof List<?> l) return l.stream().map(Tour::text).collect(Collectors.toList());
        return v instanceof byte[] b ? Arrays.toString(b) : String.valueOf(v);
    }

    interface Work { void run(Session s) throws Exception; }

    static void in(SessionFactory f, Work work) throws Exception {
        try (Session s = f.openSession()) {
            var t = s.beginTransaction();
            try {
                work.run(s);
                t.commit();
            } catch (Exception e) {
                if (t.isActive()) t.rollback();
                throw e;
            }
        }
    }

    static void fails(SessionFactory f, String what, Work work) throws Exception {
        try {
            in(f, work);
            note(what, "no error");
        } catch (Exception e) {
            Throwable c = e;
            while (c != null && !(c instanceof SQLException)) c = c.getCause();
            note(what, e.getClass().getSimpleName(), c == null ? null : ((SQLException) c).getErrorCode(), c == null ? null : ((SQLException) c).getSQLState());
        }
    }

    public static void main(String[] args) throws Exception {
        java.util.logging.LogManager.getLogManager().reset();
        String url = "jdbc:mariadb://127.0.0.1:" + args[0] + "/" + args[1];
        for (String mode : List.of("create-only", "update", "validate")) {
            try {
                schema(url, mode).close();
                note("schema", mode);
            } catch (SchemaManagementException e) {
                note("schema", mode, e.getMessage()); // MariaDB's JSON is a LONGTEXT: not what the validator expects
            }
        }
        metadata(url, args[1]);
        try (SessionFactory f = schema(url, "none")) {
            fill(f);
            ask(f);
            change(f);
        }
        schema(url, "drop").close();
        note("schema", "drop");
        plain(url);
    }

    static SessionFactory schema(String url, String mode) {
        var c = new Configuration();
        for (Class<?> k : List.of(Shelf.class, Box.class, Place.class, Item.class, Book.class)) c.addAnnotatedClass(k);
        c.setProperty("hibernate.connection.url", url).setProperty("hibernate.connection.username", "root").setProperty("hibernate.hbm2ddl.auto", mode)
            .setProperty("hibernate.hbm2ddl.halt_on_error", "true").setProperty("hibernate.jdbc.batch_size", "10").setProperty("hibernate.jdbc.time_zone", "UTC");
        return c.buildSessionFactory();
    }

    static void metadata(String url, String db) throws Exception {
        try (var c = DriverManager.getConnection(url + "?user=root")) {
            var m = c.getMetaData();
            for (String t : List.of("Box", "Item", "Item_Box", "Shelf", "box_tags")) {
                for (ResultSet r : List.of(m.getColumns(db, null, t, null), m.getPrimaryKeys(db, null, t), m.getImportedKeys(db, null, t), m.getExportedKeys(db, null, t), m.getIndexInfo(db, null, t, false, true))) {
                    var rows = new ArrayList<String>();
                    while (r.next()) {
                        var row = new ArrayList<Object>();
                        for (int i = 1; i <= r.getMetaData().getColumnCount(); i++)
                            if (!r.getMetaData().getColumnLabel(i).equals("CARDINALITY")) row.add(r.getObject(i));
                        rows.add(row.toString());
                    }
                    Collections.sort(rows);
                    note("metadata of " + t, rows);
                }
            }
        }
    }

    static void fill(SessionFactory f) throws Exception {
        in(f, s -> {
            for (int i = 0; i < 3; i++) {
                var shelf = new Shelf();
                shelf.label = "shelf " + i;
                shelf.room = i / 2;
                for (int j = 0; j < 5; j++) {
                    var b = new Box();
                    int n = i * 5 + j;
                    b.shelf = shelf;
                    b.name = "box " + n + " ž";
                    b.size = Size.values()[n % 2];
                    b.other = Size.values()[(n + 1) % 2];
                    b.price = new BigDecimal(n).movePointLeft(1);
                    b.weight = n % 4 == 0 ? null : n / 3.0;
                    b.sealed = n % 3 == 0;
                    b.packed = LocalDate.of(2024, 1 + n % 12, 28);
                    b.at = LocalTime.of(n, 30);
                    b.moved = LocalDateTime.of(2024, 2, 29, n, 1, 2, 345000000);
                    b.seen = Instant.ofEpochSecond(1700000000L + n);
                    b.note = "n".repeat(n * 100);
                    b.picture = new byte[] {(byte) n, 0, -1};
                    b.token = new UUID(n, 7);
                    b.details = Map.of("n", n);
                    b.tags.addAll(List.of("a", "b", "c").subList(0, n % 4));
                    b.place.x = n;
                    shelf.boxes.add(b);
                }
                s.persist(shelf);
            }
        });
        in(f, s -> {
            var boxes = s.createQuery("from Box order by name", Box.class).getResultList();
            for (int i = 0; i < 4; i++) {
                var book = new Book();
                book.name = "book " + i;
                book.pages = 100 * i;
                book.boxes.addAll(boxes.subList(i, i + 3));
                s.persist(book);
            }
        });
    }

    static void ask(SessionFactory f) throws Exception {
        in(f, s -> {
            for (Box b : s.createQuery("select distinct b from Box b left join fetch b.tags join fetch b.shelf order by b.place.x", Box.class).getResultList())
                note("box", b.name, b.size, b.other, b.price, b.weight, b.sealed, b.packed, b.at, b.moved, b.seen, b.note.length(), b.picture, b.token, b.details, b.tags, b.shelf.label);
            String[] questions = {
                "select s.label, count(b), sum(b.price), avg(b.weight), max(b.packed) from Shelf s join s.boxes b group by s.label having count(b) > 1 order by s.label",
                "select b.name from Box b where b.price > (select avg(c.price) from Box c where c.shelf = b.shelf) order by b.name",
                "select s.label from Shelf s where exists (select 1 from Box b where b.shelf = s and b.sealed) order by s.label",
                "select b.name, size(b.tags) from Box b where 'b' member of b.tags order by b.name",
                "select upper(b.name), length(b.name), substring(b.name, 1, 3), coalesce(b.weight, -1), extract(year from b.packed) from Box b where b.name like '%1%' order by b.name",
                "select case when b.price < 0.5 then 'low' else 'high' end, count(*) from Box b group by case when b.price < 0.5 then 'low' else 'high' end order by 1",
                "select i.name, i.pages from Book i where size(i.boxes) = 3 and i.pages between 100 and 250 order by i.name",
                "select name from Item union select label from Shelf order by 1",
                "with big as (select b.id as id, b.price as price from Box b where b.price > 0.8) select count(*), sum(g.price) from big g",
                "select b.name, row_number() over (order by b.price) from Box b where b.price < 0.3 order by b.price",
                "select cast(b.place.x as string), b.details from Box b where json_value(b.details, '$.n') = '3'",
            };
            for (String q : questions) {
                if (q.contains("over (") || q.contains("json_value")) continue; // window functions come later; Hibernate 7
                note(q, s.createQuery(q, Object[].class).getResultList());
            }
            var page = s.createQuery("from Box b order by b.price desc", Box.class).setFirstResult(3).setMaxResults(4).getResultList();
            note("page", page.stream().map(b -> b.name).toList());
            var cb = s.getCriteriaBuilder();
            var q = cb.createQuery(String.class);
            var root = q.from(Box.class);
            q.select(root.get("name")).where(cb.and(cb.isTrue(root.get("sealed")), cb.or(cb.isNull(root.get("weight")), cb.gt(root.get("weight"), 2)))).orderBy(cb.asc(root.get("name")));
            note("criteria", s.createQuery(q).getResultList());
            note("native", s.createNativeQuery("SELECT label, room FROM Shelf WHERE room = :r ORDER BY label", Object[].class).setParameter("r", 0).getResultList());
        });
    }

    static void change(SessionFactory f) throws Exception {
        in(f, s -> note("updated", s.createMutationQuery("update Box b set b.weight = b.place.x + 1, b.sealed = false where b.place.x < 4").executeUpdate()));
        in(f, s -> {
            var shelf = s.createQuery("from Shelf where label = 'shelf 1'", Shelf.class).setLockMode(LockModeType.PESSIMISTIC_WRITE).getSingleResult();
            shelf.boxes.remove(4);
            shelf.boxes.get(0).tags.add("new");
            shelf.room = 9;
        });
        in(f, s -> note("after", s.createQuery("select s.version, s.room, size(s.boxes) from Shelf s order by s.label", Object[].class).getResultList()));
        fails(f, "duplicate", s -> { var d = new Shelf(); d.label = "shelf 0"; s.persist(d); });
        fails(f, "null", s -> s.persist(new Shelf()));
        fails(f, "referenced", s -> s.createMutationQuery("delete from Shelf").executeUpdate());
        fails(f, "stale", s -> {
            var shelf = s.createQuery("from Shelf where label = 'shelf 2'", Shelf.class).getSingleResult();
            in(f, other -> other.createQuery("from Shelf where label = 'shelf 2'", Shelf.class).getSingleResult().room = 77);
            shelf.room = 78;
        });
        in(f, s -> s.createQuery("from Item", Item.class).getResultList().forEach(s::remove));
        in(f, s -> s.remove(s.createQuery("from Shelf where label = 'shelf 0'", Shelf.class).getSingleResult()));
        in(f, s -> note("left", s.createQuery("select count(*) from Box", Long.class).getSingleResult(), s.createQuery("select count(*) from Item", Long.class).getSingleResult()));
    }

    /** The driver alone: server-side prepared statements, batches, generated keys, streaming, isolation, cancel. */
    static void plain(String url) throws Exception {
        for (String options : List.of("?user=root", "?user=root&useServerPrepStmts=true", "?user=root&useServerPrepStmts=true&useBulkStmts=true", "?user=root&useCompression=true")) {
            try (var c = DriverManager.getConnection(url + options); var s = c.createStatement()) {
                s.execute("CREATE TABLE plain (id INT AUTO_INCREMENT PRIMARY KEY, n INT, s VARCHAR(20), d DECIMAL(10,2), t DATETIME(3))");
                try (var p = c.prepareStatement("INSERT INTO plain (n, s, d, t) VALUES (?, ?, ?, ?)", Statement.RETURN_GENERATED_KEYS)) {
                    for (int i = 0; i < 50; i++) {
                        p.setInt(1, i);
                        p.setString(2, i % 5 == 0 ? null : "s" + i);
                        p.setBigDecimal(3, new BigDecimal(i).movePointLeft(1));
                        p.setTimestamp(4, Timestamp.valueOf("2024-02-29 01:02:03.5"));
                        p.addBatch();
                    }
                    note("batch", p.executeBatch().length);
                    var keys = p.getGeneratedKeys();
                    int n = 0;
                    while (keys.next()) n++;
                    note("keys", n > 0);
                }
                s.setFetchSize(7);
                var all = new ArrayList<Object>();
                try (var r = s.executeQuery("SELECT n, s, d, t FROM plain ORDER BY id")) {
                    while (r.next()) all.add(r.getInt(1) + "|" + r.getString(2) + "|" + r.getBigDecimal(3) + "|" + r.getTimestamp(4));
                }
                note("rows", all);
                c.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
                c.setAutoCommit(false);
                note("deleted", s.executeUpdate("DELETE FROM plain WHERE n > 10"));
                var save = c.setSavepoint("here");
                s.executeUpdate("DELETE FROM plain");
                c.rollback(save);
                c.commit();
                c.setAutoCommit(true);
                c.setReadOnly(true);
                c.setReadOnly(false);
                try (var slow = c.createStatement()) {
                    slow.setQueryTimeout(1);
                    slow.execute("SELECT SLEEP(20)");
                    note("timeout", "no error");
                } catch (SQLException e) {
                    note("timeout", e.getErrorCode(), e.getSQLState());
                }
                note("valid", c.isValid(2));
                s.execute("DROP TABLE plain");
            }
        }
    }
}
