package io.delayqueue.benchmarks.sql;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import io.delayqueue.benchmarks.contender.Setup;
import io.delayqueue.benchmarks.contender.Work;

import org.springframework.core.Ordered;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Sends each message in a transaction of its own, and gives it the time at which the
 * commit returns as its due time; so lateness is the time from the commit to the handler.
 * Thread-safe.
 */
public final class Transactions {

    private static final long CHECK_NANOS = 20_000_000;

    private final Map<Long, Long> commits = new ConcurrentHashMap<>();

    private final TransactionTemplate transaction;

    private final JdbcClient jdbc;

    public Transactions(PlatformTransactionManager manager, JdbcClient jdbc) {
        this.transaction = new TransactionTemplate(manager);
        this.jdbc = jdbc;
    }

    /** Returns the properties of a Spring Boot application with the database. */
    public static Map<String, Object> properties(Setup setup) {
        return new TreeMap<>(Map.of("spring.main.banner-mode", "off", "logging.level.root", "WARN",
                "spring.datasource.url", url(setup), "spring.datasource.hikari.maximum-pool-size", "32"));
    }

    /** Returns the URL of the database. */
    public static String url(Setup setup) {
        String url = setup.options().get("url");
        if (url == null) {
            throw new IllegalArgumentException("This contender needs the URL of a database");
        }
        return url;
    }

    /** Sends a message by a call, and commits. */
    public void commit(Work work, Runnable send) {
        this.transaction.executeWithoutResult((status) -> {
            TransactionSynchronizationManager.registerSynchronization(new CommitTime(work.number()));
            send.run();
        });
    }

    /**
     * Calls the handler with a message whose due time is that of its commit. A contender
     * that polls may have found the row before the commit returned.
     */
    public void handle(Work work, Consumer<Work> handler) {
        Long commit = this.commits.remove(work.number());
        handler.accept(new Work(work.number(), (commit != null) ? commit : work.dueMicros(), work.text()));
    }

    /**
     * Returns whether a query finds no row; if it does, only after a pause, as the caller
     * asks again at once.
     */
    public boolean isEmpty(String query) {
        boolean empty = this.jdbc.sql(query).query((row, number) -> row.getString(1)).list().isEmpty();
        if (!empty) {
            // Real time: the queries must not be a load of their own.
            LockSupport.parkNanos(CHECK_NANOS);
        }
        return empty;
    }

    /**
     * Records when the commit of a message returned, before the callbacks of contenders.
     */
    private final class CommitTime implements TransactionSynchronization {

        private final long number;

        CommitTime(long number) {
            this.number = number;
        }

        @Override
        public int getOrder() {
            return Ordered.HIGHEST_PRECEDENCE;
        }

        @Override
        public void beforeCommit(boolean readOnly) {
            Transactions.this.commits.put(this.number, micros(Instant.now()));
        }

        @Override
        public void afterCommit() {
            Transactions.this.commits.computeIfPresent(this.number, (number, before) -> micros(Instant.now()));
        }

        private static long micros(Instant time) {
            return ChronoUnit.MICROS.between(Instant.EPOCH, time);
        }

    }

}
