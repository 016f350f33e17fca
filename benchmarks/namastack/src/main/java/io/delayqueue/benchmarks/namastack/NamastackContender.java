package io.delayqueue.benchmarks.namastack;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import io.delayqueue.benchmarks.contender.Contender;
import io.delayqueue.benchmarks.contender.Setup;
import io.delayqueue.benchmarks.contender.Work;
import io.delayqueue.benchmarks.sql.Transactions;
import io.namastack.outbox.Outbox;
import io.namastack.outbox.handler.OutboxRecordMetadata;
import io.namastack.outbox.handler.OutboxTypedHandler;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Namastack Outbox in a Spring Boot application with its defaults, apart from the number
 * of threads, and with rows that are deleted once they are handled. Each message has a
 * key of its own, so that all may be handled at the same time. The option {@code tuned}
 * makes it poll every 10 ms for 500 keys. It has no delay, and its handlers start with
 * the application.
 */
final class NamastackContender implements Contender {

    private @Nullable ConfigurableApplicationContext context;

    private @Nullable Transactions transactions;

    private @Nullable Outbox outbox;

    @Override
    public void open(Setup setup, Consumer<Work> handler) {
        SpringApplication application = new SpringApplication(Application.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        application.setDefaultProperties(properties(setup));
        application.addInitializers((context) -> ((GenericApplicationContext) context).registerBean("workHandler",
                WorkHandler.class, () -> new WorkHandler((work) -> transactions().handle(work, handler))));
        this.context = application.run();
        this.transactions = new Transactions(this.context.getBean(PlatformTransactionManager.class),
                this.context.getBean(JdbcClient.class));
        this.outbox = this.context.getBean(Outbox.class);
    }

    private static Map<String, Object> properties(Setup setup) {
        Map<String, Object> properties = Transactions.properties(setup);
        properties.put("namastack.outbox.jdbc.schema-initialization.enabled", "true");
        properties.put("namastack.outbox.processing.delete-completed-records", "true");
        properties.put("namastack.outbox.processing.executor-core-pool-size", setup.handlers());
        properties.put("namastack.outbox.processing.executor-max-pool-size", setup.handlers());
        if (setup.options().containsKey("tuned")) {
            properties.put("namastack.outbox.polling.fixed.interval", "10ms");
            properties.put("namastack.outbox.polling.batch-size", "500");
        }
        return properties;
    }

    @Override
    public void send(String queue, Work work, Duration delay) {
        Outbox target = opened(this.outbox);
        transactions().commit(work, () -> target.schedule(work, Setup.id(work.number())));
    }

    @Override
    public void sendAll(String queue, List<Work> works) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void startHandlers() {
        // They run since the application has started.
    }

    @Override
    public void stopHandlers() {
        // They run until the application ends.
    }

    @Override
    public boolean isSettled() {
        return transactions().isEmpty("SELECT id FROM outbox_record LIMIT 1");
    }

    @Override
    public void close() {
        if (this.context != null) {
            this.context.close();
        }
    }

    private Transactions transactions() {
        return opened(this.transactions);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

    }

    /** The handler, as in any application. */
    static final class WorkHandler implements OutboxTypedHandler<Work> {

        private final Consumer<Work> handler;

        WorkHandler(Consumer<Work> handler) {
            this.handler = handler;
        }

        @Override
        public void handle(Work work, OutboxRecordMetadata metadata) {
            this.handler.accept(work);
        }

    }

}
