package io.delayqueue.benchmarks.journal;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

import io.delayqueue.benchmarks.contender.Contender;
import io.delayqueue.benchmarks.contender.Setup;
import io.delayqueue.benchmarks.contender.Work;
import io.delayqueue.benchmarks.delayqueue.DelayQueueContender;
import io.delayqueue.benchmarks.sql.Transactions;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * DelayQueue in an application with a database, whose sends are in transactions. The
 * option {@code delayqueue.journal.mode} gives the mode; in the mode {@code off} a
 * message is sent after the commit.
 */
final class JournalContender implements Contender {

    private final DelayQueueContender contender = new DelayQueueContender();

    private @Nullable Transactions transactions;

    private boolean journal;

    @Override
    public void open(Setup setup, Consumer<Work> handler) {
        Map<String, String> options = new TreeMap<>(setup.options());
        Transactions.properties(setup).forEach((name, value) -> options.put(name, value.toString()));
        options.put("delayqueue.journal.jdbc.initialize-schema", "always");
        options.put("delayqueue.send.after-commit", "true");
        this.journal = !"off".equals(options.get("delayqueue.journal.mode"));
        this.contender.open(new Setup(setup.port(), setup.queues(), setup.handlers(), options),
                (work) -> transactions().handle(work, handler));
        ConfigurableApplicationContext context = this.contender.context();
        this.transactions = new Transactions(context.getBean(PlatformTransactionManager.class),
                context.getBean(JdbcClient.class));
    }

    @Override
    public void send(String queue, Work work, Duration delay) {
        transactions().commit(work, () -> this.contender.send(queue, work, delay));
    }

    @Override
    public void sendAll(String queue, List<Work> works) {
        this.contender.sendAll(queue, works);
    }

    @Override
    public void startHandlers() {
        this.contender.startHandlers();
    }

    @Override
    public void stopHandlers() {
        this.contender.stopHandlers();
    }

    @Override
    public boolean isSettled() {
        return this.contender.isSettled()
                && (!this.journal || transactions().isEmpty("SELECT message_id FROM delayqueue_journal LIMIT 1"));
    }

    @Override
    public void close() {
        this.contender.close();
    }

    private Transactions transactions() {
        return opened(this.transactions);
    }

}
