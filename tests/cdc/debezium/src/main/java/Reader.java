import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.format.Json;
import java.io.FileInputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs one Debezium connector, told by a properties file, and prints every change event as a JSON line:
 * {"topic": ..., "key": ..., "value": ...}. Ends by SIGTERM (a clean stop that stores the offset), by kill -9,
 * or with exit code 1 when the connector fails (its error is on standard error).
 */
public final class Reader {
    public static void main(String[] args) throws Exception {
        if (args.length != 1) {
            System.err.println("usage: Reader FILE.properties");
            System.exit(2);
        }
        Properties properties = new Properties();
        try (FileInputStream file = new FileInputStream(args[0])) {
            properties.load(file);
        }
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        AtomicInteger code = new AtomicInteger();
        DebeziumEngine<ChangeEvent<String, String>> engine = DebeziumEngine.create(Json.class)
                .using(properties)
                .notifying((events, committer) -> {
                    for (ChangeEvent<String, String> event : events) {
                        out.println("{\"topic\":\"" + event.destination() + "\",\"key\":" + event.key()
                                + ",\"value\":" + event.value() + "}");
                    }
                    // What is marked as processed has left the process: a kill repeats lines but loses none.
                    out.flush();
                    for (ChangeEvent<String, String> event : events) {
                        committer.markProcessed(event);
                    }
                    committer.markBatchFinished();
                })
                .using((success, message, error) -> {
                    if (!success) {
                        System.err.println("connector failed: " + message);
                        if (error != null) {
                            error.printStackTrace();
                        }
                        code.set(1);
                    }
                })
                .build();
        Thread running = new Thread(engine, "engine");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                engine.close();
                running.join(20_000);
            }
            catch (Exception e) {
                // Stopped already, by its own failure.
            }
        }));
        running.start();
        running.join();
        // In a thread of its own: inside the shutdown hook's wait, exit would never return.
        Runtime.getRuntime().halt(code.get());
    }
}
