package io.delayqueue.benchmarks.sql;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import com.zaxxer.hikari.HikariDataSource;
import io.delayqueue.benchmarks.contender.Contender;
import io.delayqueue.benchmarks.contender.Setup;
import io.delayqueue.benchmarks.contender.Work;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.core.namedparam.SqlParameterSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.jdbc.support.KeyHolder;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The least that a journal asks of its database: an INSERT for each message in the
 * transaction of the sender, and a DELETE by the key, up to a hundred of them in one
 * transaction of one thread. No Redis, no delay, no lease, and no promise: the thread
 * that deletes calls the handler first.
 */
final class SqlContender implements Contender {

    private static final int BATCH_LIMIT = 100;

    private static final String TABLE = """
            CREATE TABLE work (
              revision BIGINT %s PRIMARY KEY, queue_name VARCHAR(128) NOT NULL, message_id VARCHAR(128) NOT NULL,
              due_millis BIGINT NOT NULL, claimed_until BIGINT NOT NULL, accepted BOOLEAN NOT NULL, envelope %s)""";

    private final BlockingQueue<Sent> sent = new LinkedBlockingQueue<>();

    private final AtomicLong waiting = new AtomicLong();

    private @Nullable HikariDataSource dataSource;

    private @Nullable Transactions transactions;

    private @Nullable JdbcClient jdbc;

    private @Nullable Thread deleter;

    private @Nullable Consumer<Work> handler;

    @Override
    public void open(Setup setup, Consumer<Work> handler) {
        HikariDataSource source = new HikariDataSource();
        source.setJdbcUrl(Transactions.url(setup));
        source.setMaximumPoolSize(32);
        this.dataSource = source;
        JdbcClient client = JdbcClient.create(source);
        boolean mariadb = Transactions.url(setup).startsWith("jdbc:mariadb");
        client
            .sql(mariadb ? TABLE.formatted("AUTO_INCREMENT", "LONGBLOB")
                    : TABLE.formatted("GENERATED ALWAYS AS IDENTITY", "BYTEA"))
            .update();
        client.sql("CREATE INDEX work_message ON work (queue_name, message_id, revision)").update();
        client.sql("CREATE INDEX work_claim ON work (accepted, claimed_until)").update();
        this.jdbc = client;
        this.handler = handler;
        this.transactions = new Transactions(new JdbcTransactionManager(source), client);
    }

    @Override
    public void send(String queue, Work work, Duration delay) {
        KeyHolder key = new GeneratedKeyHolder();
        opened(this.transactions).commit(work,
                () -> opened(this.jdbc)
                    .sql("INSERT INTO work (queue_name, message_id, due_millis, claimed_until, accepted, envelope) "
                            + "VALUES (:queue, :id, :due, :due, FALSE, :envelope)")
                    .param("queue", queue)
                    .param("id", Setup.id(work.number()))
                    .param("due", work.dueMicros() / 1000)
                    .param("envelope", work.toJson().getBytes(StandardCharsets.UTF_8))
                    .update(key, "revision"));
        this.waiting.incrementAndGet();
        this.sent.add(new Sent(opened(key.getKey()).longValue(), work));
    }

    @Override
    public void sendAll(String queue, List<Work> works) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void startHandlers() {
        Thread thread = new Thread(this::delete, "deleter");
        thread.setDaemon(true);
        thread.start();
        this.deleter = thread;
    }

    private void delete() {
        HikariDataSource source = opened(this.dataSource);
        NamedParameterJdbcTemplate named = new NamedParameterJdbcTemplate(source);
        TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(source));
        List<Sent> batch = new ArrayList<>();
        try {
            while (true) {
                batch.add(this.sent.take());
                this.sent.drainTo(batch, BATCH_LIMIT - 1);
                batch.forEach((each) -> opened(this.transactions).handle(each.work(), opened(this.handler)));
                SqlParameterSource[] rows = batch.stream()
                    .map((each) -> new MapSqlParameterSource("revision", each.revision()))
                    .toArray(SqlParameterSource[]::new);
                transaction.execute((status) -> named.batchUpdate("DELETE FROM work WHERE revision = :revision", rows));
                this.waiting.addAndGet(-batch.size());
                batch.clear();
            }
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void stopHandlers() {
        opened(this.deleter).interrupt();
    }

    @Override
    public boolean isSettled() {
        return this.waiting.get() == 0;
    }

    @Override
    public void close() {
        opened(this.dataSource).close();
    }

    /** A message whose row is to be deleted. */
    private record Sent(long revision, Work work) {
    }

}
