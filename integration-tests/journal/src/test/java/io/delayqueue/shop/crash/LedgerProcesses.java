package io.delayqueue.shop.crash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

import io.delayqueue.fixtures.application.ChildJvm;
import io.delayqueue.shop.ShopDatabase;

import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

import static org.awaitility.Awaitility.await;

/**
 * Runs processes of an application with a ledger, and kills each at a
 * {@link JournalPoint}.
 */
final class LedgerProcesses {

    /** How long a process may take to its point, beside others that use the machine. */
    static final Duration PATIENCE = Duration.ofMinutes(4);

    /** A file to which processes append a line for each message that they handle. */
    static final String HANDLED = "handled";

    private final Class<?> application;

    /** Which kind of database this is, so that on another one other points come first. */
    private final int kind;

    private final int atOnce;

    private final int redisPort;

    private final Path directory;

    private final String url;

    private final List<Kill> kills = new ArrayList<>();

    LedgerProcesses(Class<?> application, ShopDatabase database, int redisPort, Path directory) {
        this(application, database.serverUrl(), database.ordinal(), 2, redisPort, directory);
    }

    private LedgerProcesses(Class<?> application, String url, int kind, int atOnce, int redisPort, Path directory) {
        this.application = application;
        this.url = url;
        this.kind = kind;
        this.atOnce = atOnce;
        this.redisPort = redisPort;
        this.directory = directory;
    }

    /** Returns processes whose database is in a file, so that it is killed with them. */
    static LedgerProcesses withFile(Class<?> application, int redisPort, Path directory) {
        String url = "jdbc:h2:file:%s;WRITE_DELAY=0;USER=sa".formatted(directory.resolve("shop").toAbsolutePath());
        return new LedgerProcesses(application, url, ShopDatabase.values().length, 1, redisPort, directory);
    }

    /** Creates the tables of the journal, and those of a script of this package. */
    void createTables(String script) {
        start("delayqueue.journal.jdbc.initialize-schema=always", "spring.sql.init.mode=always",
                "spring.sql.init.schema-locations=classpath:io/delayqueue/shop/" + script)
            .close();
    }

    /** Runs the application in this process. */
    ConfigurableApplicationContext start(String... others) {
        return SpringApplication.run(this.application,
                Stream.of(properties(others)).map((property) -> "--" + property).toArray(String[]::new));
    }

    /**
     * Starts processes and kills them, one after another. Two run at any time, or one if
     * the database is in a file.
     * @param points of which each process gets the next
     * @param ready called for each process that is ready before its point, when it is the
     * next to be killed
     * @return how many processes were killed at their points
     */
    int kill(int kills, List<JournalPoint> points, Runnable ready) throws Exception {
        Deque<ChildJvm> running = new ArrayDeque<>();
        int atPoints = 0;
        try {
            for (int i = 0; i < kills; i++) {
                running.add(child(points.get((this.kind * kills + i) % points.size())));
                if (running.size() >= this.atOnce) {
                    atPoints += killAtPoint(running.remove(), ready) ? 1 : 0;
                }
            }
            if (!running.isEmpty()) {
                atPoints += killAtPoint(running.remove(), ready) ? 1 : 0;
            }
        }
        finally {
            running.forEach(ChildJvm::close);
        }
        return atPoints;
    }

    /**
     * Kills a process at its point, which it may reach before it is ready, or elsewhere
     * if it does not reach it in time. Then it prints the threads of the process, as one
     * of them may be blocked.
     * @return whether the process was at its point
     */
    private boolean killAtPoint(ChildJvm child, Runnable ready) throws Exception {
        try (child) {
            boolean atPoint = awaitPoint(child, ready);
            if (!atPoint) {
                child.signal("QUIT");
                child.awaitOutput("JNI global refs");
                System.out.println(String.join("\n", child.output()));
            }
            this.kills.add(new Kill(child.pid(), handled().size()));
            child.signal("KILL");
            child.awaitEnd();
            return atPoint;
        }
    }

    /** Returns the kills, in their order. */
    List<Kill> kills() {
        return this.kills;
    }

    /** Returns the lines of the file to which processes write, none if there is none. */
    List<String> handled() throws IOException {
        Path file = this.directory.resolve(HANDLED);
        return Files.exists(file) ? Files.readAllLines(file) : List.of();
    }

    private static boolean awaitPoint(ChildJvm child, Runnable ready) throws InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() - end < 0) {
            String line = child.poll();
            if (line != null && line.startsWith("HANDLING")) {
                return true;
            }
            if (line != null && line.startsWith("READY")) {
                ready.run();
            }
        }
        return false;
    }

    /** Waits until no session of a killed process locks a row of the journal. */
    void awaitLocks() {
        await().atMost(PATIENCE).ignoreExceptionsInstanceOf(SQLException.class).until(() -> {
            try (Connection connection = DriverManager.getConnection(this.url);
                    Statement statement = connection.createStatement()) {
                connection.setAutoCommit(false);
                statement.setQueryTimeout(10);
                statement.execute("SELECT revision FROM delayqueue_journal FOR UPDATE");
                connection.rollback();
                return true;
            }
        });
    }

    private ChildJvm child(JournalPoint point) {
        int often = switch (point) {
            case BEFORE_INSERT, BEFORE_COMMIT, AFTER_COMMIT, BEFORE_READ, AFTER_READ, BEFORE_HANDLED, IN_HANDLED,
                    AFTER_HANDLED ->
                60;
            case BEFORE_REMOVAL, AFTER_REMOVAL, BEFORE_MARK, AFTER_MARK -> 30;
            case BEFORE_ENDS, IN_ENDS, AFTER_ENDS -> 2;
            case AFTER_CLAIM -> 1; // a process leaves few rows behind
            case BEFORE_CHECK, AFTER_CHECK, AFTER_CANCELS, AFTER_RESTORE, AFTER_DEAD_LETTERS ->
                throw new IllegalArgumentException("Only processes that are suspended reach " + point);
        };
        return ChildJvm.start("192m", this.application, properties("delayqueue.listener.lease=20s",
                "crash.point=" + point, "crash.after=" + ThreadLocalRandom.current().nextInt(often)));
    }

    /**
     * Starts a process with the database of these.
     * @param wrapper the words before its command, such as {@code faketime -f +1h}
     */
    ChildJvm process(List<String> wrapper, String... others) {
        return ChildJvm.start(wrapper, "192m", this.application, properties(others));
    }

    private String[] properties(String... others) {
        List<String> properties = new ArrayList<>(
                List.of("spring.data.redis.port=" + this.redisPort, "spring.datasource.url=" + this.url,
                        "spring.autoconfigure.exclude=org.springframework.boot.hibernate.autoconfigure."
                                + "HibernateJpaAutoConfiguration",
                        "spring.data.jpa.repositories.enabled=false", "delayqueue.journal.mode=ledger",
                        "delayqueue.command-timeout=2s", "spring.main.web-application-type=none",
                        "crash.handled=" + this.directory.resolve(HANDLED)));
        properties.addAll(List.of(others));
        return properties.toArray(String[]::new);
    }

    /**
     * Holds a process that was killed.
     *
     * @param process its id
     * @param handledBefore how many handlings there were before, of all processes
     */
    record Kill(long process, int handledBefore) {
    }

}
