package io.delayqueue.autoconfigure;

import java.util.Set;

import io.delayqueue.autoconfigure.DelayQueueProperties.Queue;
import io.delayqueue.store.SimilarNames;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;

/**
 * Logs settings that have no effect: those of queues, forwards and intakes that Boot
 * could not bind because they name no setting, and those of queues without a listener.
 * Does not log an application without listeners, or a queue with only {@code partitions}
 * set, because they may belong to a producer.
 */
final class UnusedQueueSettingsCheck implements ApplicationListener<ContextRefreshedEvent> {

    private static final Logger logger = LoggerFactory.getLogger(UnusedQueueSettingsCheck.class);

    private final ApplicationContext context;

    private final DelayQueueProperties properties;

    private final UnknownQueueGuard known;

    UnusedQueueSettingsCheck(ApplicationContext context, DelayQueueProperties properties, UnknownQueueGuard known) {
        this.context = context;
        this.properties = properties;
        this.known = known;
    }

    @Override
    public void onApplicationEvent(ContextRefreshedEvent event) {
        if (event.getApplicationContext() != this.context) {
            return;
        }
        UnboundSettingsCheck.in(this.context.getEnvironment()).forEach(logger::warn);
        Set<String> listened = this.known.listenedTo();
        this.context.getBeanProvider(DelayQueueSystem.class)
            .forEach((system) -> system.listeners()
                .listeners()
                .forEach((listener) -> listened.addAll(listener.queues())));
        if (!listened.isEmpty()) {
            this.properties.queues()
                .entrySet()
                .stream()
                .filter((queue) -> isOfAListener(queue.getValue()) && !listened.contains(queue.getKey())
                        && !this.properties.knownQueues().contains(queue.getKey()))
                .forEach((queue) -> warn(queue.getKey(), listened));
        }
    }

    private static boolean isOfAListener(Queue settings) {
        Queue none = Queue.NONE;
        return !settings.equals(new Queue(none.concurrency(), none.lease(), none.timeout(), none.maxAttempts(),
                none.maxLapses(), none.expiryPolicy(), none.autoStartup(), none.backoff(), settings.partitions(),
                settings.journalMode()));
    }

    private static void warn(String queue, Set<String> listened) {
        logger.warn("No listener of this application handles queue '{}', so the settings in delayqueue.queues for it "
                + "concern no listener.{} If the queue is read with receive or over HTTP, or handled elsewhere, name "
                + "it in delayqueue.known-queues", queue,
                SimilarNames.among(listened, queue).map((name) -> " Did you mean '%s'?".formatted(name)).orElse(""));
    }

}
