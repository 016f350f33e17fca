package io.delayqueue.benchmarks.dbscheduler;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerBuilder;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariDataSource;
import io.delayqueue.benchmarks.contender.Contender;
import io.delayqueue.benchmarks.contender.Setup;
import io.delayqueue.benchmarks.contender.Work;
import io.delayqueue.benchmarks.sql.Transactions;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;

/**
 * db-scheduler with a one-time task for each message, stored in the transaction of the
 * sender. It polls once a second, and at once after each commit, as its own immediate
 * execution looks before the commit. On PostgreSQL it selects and locks in one statement,
 * the faster of its two strategies.
 */
final class DbSchedulerContender implements Contender {

    private @Nullable HikariDataSource dataSource;

    private @Nullable Transactions transactions;

    private @Nullable Scheduler scheduler;

    private @Nullable OneTimeTask<String> task;

    @Override
    public void open(Setup setup, Consumer<Work> handler) {
        HikariDataSource source = new HikariDataSource();
        source.setJdbcUrl(Transactions.url(setup));
        source.setMaximumPoolSize(32);
        this.dataSource = source;
        boolean postgresql = source.getJdbcUrl().startsWith("jdbc:postgresql");
        JdbcClient jdbc = JdbcClient.create(source);
        createTable(jdbc, source.getJdbcUrl());
        this.transactions = new Transactions(new JdbcTransactionManager(source), jdbc);
        OneTimeTask<String> oneTime = Tasks.oneTime("work", String.class)
            .execute((instance, context) -> transactions().handle(Work.fromJson(instance.getData()), handler));
        this.task = oneTime;
        SchedulerBuilder builder = Scheduler.create(new TransactionAwareDataSourceProxy(source), oneTime)
            .threads(setup.handlers())
            .pollingInterval(Duration.ofSeconds(1));
        this.scheduler = (postgresql ? builder.pollUsingLockAndFetch(1, 4) : builder).build();
    }

    private static void createTable(JdbcClient jdbc, String url) {
        boolean mariadb = url.startsWith("jdbc:mariadb");
        String time = mariadb ? "TIMESTAMP(6)" : "TIMESTAMP WITH TIME ZONE";
        jdbc.sql(
                """
                        CREATE TABLE scheduled_tasks (
                          task_name VARCHAR(100) NOT NULL, task_instance VARCHAR(100) NOT NULL, task_data %s, execution_time %s NOT NULL,
                          picked BOOLEAN NOT NULL, picked_by VARCHAR(50), last_success %s NULL, last_failure %s NULL,
                          consecutive_failures INT, last_heartbeat %s NULL, version BIGINT NOT NULL, priority SMALLINT,
                          PRIMARY KEY (task_name, task_instance))"""
                    .formatted(mariadb ? "LONGBLOB" : "BYTEA", time, time, time, time))
            .update();
        jdbc.sql("CREATE INDEX execution_time_idx ON scheduled_tasks (execution_time)").update();
        jdbc.sql("CREATE INDEX last_heartbeat_idx ON scheduled_tasks (last_heartbeat)").update();
    }

    @Override
    public void send(String queue, Work work, Duration delay) {
        OneTimeTask<String> oneTime = opened(this.task);
        transactions().commit(work, () -> scheduler()
            .schedule(oneTime.instance(UUID.randomUUID().toString(), work.toJson()), Instant.now().plus(delay)));
        scheduler().triggerCheckForDueExecutions();
    }

    @Override
    public void sendAll(String queue, List<Work> works) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void startHandlers() {
        scheduler().start();
    }

    @Override
    public void stopHandlers() {
        scheduler().stop();
    }

    @Override
    public boolean isSettled() {
        return transactions().isEmpty("SELECT task_instance FROM scheduled_tasks LIMIT 1");
    }

    @Override
    public void close() {
        if (this.dataSource != null) {
            this.dataSource.close();
        }
    }

    private Transactions transactions() {
        return opened(this.transactions);
    }

    private Scheduler scheduler() {
        return opened(this.scheduler);
    }

}
