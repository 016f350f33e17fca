package io.delayqueue.shop;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.journal.JournalFactory;
import io.delayqueue.journal.JournalOperations;
import io.delayqueue.template.DelayQueueTemplate;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Runs a {@link Shop} whose queue has a ledger. */
public record ShopApplication(ConfigurableApplicationContext context) implements AutoCloseable {

    private static final String WITHOUT_JPA = "--spring.autoconfigure.exclude="
            + "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration";

    public static ShopApplication start(int redisPort, String url, String... settings) {
        return start(List.of(Shop.class), redisPort, url, settings);
    }

    /**
     * Starts a shop with further components.
     * @param sources the components, and {@link Shop}
     */
    public static ShopApplication start(List<Class<?>> sources, int redisPort, String url, String... settings) {
        return run(new SpringApplicationBuilder(sources.toArray(Class<?>[]::new))
            .properties("delayqueue.journal.jdbc.initialize-schema=always"), redisPort, url, settings);
    }

    /** Starts a shop that creates the tables of the journal as by default. */
    public static ShopApplication startWithDefaultSchema(RedisServer redis, String url, String... settings) {
        return run(new SpringApplicationBuilder(Shop.class), redis.port(), url, settings);
    }

    private static ShopApplication run(SpringApplicationBuilder builder, int redisPort, String url,
            String... settings) {
        List<String> arguments = new ArrayList<>(
                List.of("--spring.data.redis.port=" + redisPort, "--spring.datasource.url=" + url, WITHOUT_JPA,
                        "--spring.data.jpa.repositories.enabled=false", "--delayqueue.journal.mode=ledger",
                        "--spring.main.banner-mode=off", "--spring.main.web-application-type=none"));
        Stream.of(settings).map((setting) -> "--" + setting).forEach(arguments::add);
        // A default, as a test may set another.
        builder.properties("delayqueue.command-timeout=10s");
        return new ShopApplication(builder.run(arguments.toArray(String[]::new)));
    }

    public static ShopApplication start(RedisServer redis, String url, String... settings) {
        return start(redis.port(), url, settings);
    }

    public Shop shop() {
        return this.context.getBean(Shop.class);
    }

    public DelayQueueTemplate queue() {
        return this.context.getBean(DelayQueueTemplate.class);
    }

    public JournalOperations journal() {
        return this.context.getBean(JournalOperations.class);
    }

    public JdbcClient jdbc() {
        return this.context.getBean(JdbcClient.class);
    }

    public TransactionTemplate transaction() {
        return new TransactionTemplate(this.context.getBean(PlatformTransactionManager.class));
    }

    /** Returns the component that deletes rows of ended messages, and restores others. */
    public SmartLifecycle reconciler() {
        return this.context.getBean("delayQueueJournalReconciler", SmartLifecycle.class);
    }

    /** Returns the number of rows, apart from those that keep canceled messages away. */
    public long rows() {
        return jdbc().sql("SELECT COUNT(*) FROM delayqueue_journal WHERE operation <> 'C' OR accepted = FALSE")
            .query(Long.class)
            .single();
    }

    /** Returns how many requests Redis has accepted. */
    public long accepted() {
        return jdbc().sql("SELECT COUNT(*) FROM delayqueue_journal WHERE accepted = TRUE").query(Long.class).single();
    }

    /**
     * Returns how often nodes have read the changes of a queue. The first call of a new
     * queue restores it.
     */
    public static long calls(RedisServer redis, String queue) {
        String journal = redis.commands().get("dq:{" + queue + "}:journal");
        return (journal != null) ? Long.parseLong(journal.split(" ")[1]) : 0;
    }

    /** Removes a waiting message from Redis without a trace, as an operator could. */
    public static void lose(RedisServer redis, String queue, String id) {
        String stem = "dq:{" + queue + "}:";
        redis.commands().hdel(stem + "messages", id);
        redis.commands().hdel(stem + "revisions", id);
        redis.commands().zrem(stem + "scheduled", id);
    }

    /** Returns how many overdue messages were compared with Redis. */
    public long swept() {
        return this.context.getBean(JournalFactory.class).status().swept();
    }

    /** Makes the rows of messages overdue, so that the sweep compares them with Redis. */
    public void makeOverdue() {
        jdbc().sql("UPDATE delayqueue_journal SET due_millis = 1, claimed_until = 1 WHERE operation = 'S'").update();
    }

    @Override
    public void close() {
        this.context.close();
    }

}
