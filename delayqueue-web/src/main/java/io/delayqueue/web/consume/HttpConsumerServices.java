package io.delayqueue.web.consume;

import java.util.function.Function;

import io.delayqueue.QueueName;
import io.delayqueue.consume.ConsumeSettings;
import io.delayqueue.store.routing.StoreComponents;

import org.springframework.context.SmartLifecycle;

/**
 * Creates, starts and stops the services for HTTP consumers: long polling, settlements
 * and lease tokens. Stops before the web server waits for its requests: waiting claims
 * are answered with no message, so that they do not delay the shutdown, and new ones are
 * rejected.
 */
public final class HttpConsumerServices implements SmartLifecycle {

    private final LongPolling polls;

    private final IdempotentLeaseSettler settlements;

    private final AsyncEventPublisher publisher;

    private final Function<QueueName, ConsumeSettings> settings;

    private final LeaseTokenService tokens;

    /**
     * Creates the services. The polling thread starts with the first claim.
     * @param components the store
     * @param codecs reads messages and signs leases
     * @param settings returns the settings of a queue
     * @param limits how many claims may wait
     * @param publisher publishes dead letters and the changes of consumers
     */
    public HttpConsumerServices(StoreComponents components, HttpConsumerCodecs codecs,
            Function<QueueName, ConsumeSettings> settings, ClaimLimits limits, AsyncEventPublisher publisher) {
        this.publisher = publisher;
        this.settlements = new IdempotentLeaseSettler(components, publisher);
        this.polls = new LongPolling(components, codecs, this.settlements.settler(), settings, limits);
        this.settings = settings;
        this.tokens = codecs.tokens();
    }

    public LeaseTokenService tokens() {
        return this.tokens;
    }

    public LongPolling polls() {
        return this.polls;
    }

    public AsyncEventPublisher publisher() {
        return this.publisher;
    }

    public IdempotentLeaseSettler settlements() {
        return this.settlements;
    }

    public Function<QueueName, ConsumeSettings> settings() {
        return this.settings;
    }

    @Override
    public void start() {
        this.polls.start();
    }

    @Override
    public void stop() {
        this.polls.stop();
    }

    @Override
    public boolean isRunning() {
        return this.polls.isRunning();
    }

}
