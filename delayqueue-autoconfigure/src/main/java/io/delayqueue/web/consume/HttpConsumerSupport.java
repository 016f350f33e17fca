package io.delayqueue.web.consume;

import java.util.function.Function;
import java.util.function.LongSupplier;

import io.delayqueue.QueueName;
import io.delayqueue.store.routing.DelayQueueStore;

import org.springframework.context.SmartLifecycle;

/**
 * Bundles the services for HTTP consumers. Stops before the web server waits for its
 * requests: waiting claims are answered with no message, so that they do not delay the
 * shutdown.
 */
public final class HttpConsumerSupport implements SmartLifecycle {

    private final LongPolling polls;

    private final HttpLeaseSettler settlements;

    private final AsyncEventPublisher herald;

    private final Function<QueueName, ConsumeSettings> settings;

    private final LeaseTokens tokens;

    /**
     * Creates the services. The polling thread starts with the first claim.
     * @param ports the store
     * @param format reads messages and signs leases
     * @param settings returns the settings of a queue
     * @param limits how many claims may wait
     * @param herald publishes dead letters and the changes of consumers
     */
    public HttpConsumerSupport(DelayQueueStore ports, ConsumerFormat format,
            Function<QueueName, ConsumeSettings> settings, WaitLimits limits, AsyncEventPublisher herald) {
        LongSupplier nanoTime = System::nanoTime;
        this.herald = herald;
        this.settlements = new HttpLeaseSettler(ports, herald);
        HttpMessageClaimer claimer = new HttpMessageClaimer(ports, format, this.settlements, nanoTime);
        this.polls = new LongPolling(claimer, ports.wakeUps(), settings, limits);
        this.settings = settings;
        this.tokens = format.tokens();
    }

    public LeaseTokens tokens() {
        return this.tokens;
    }

    public LongPolling polls() {
        return this.polls;
    }

    public AsyncEventPublisher herald() {
        return this.herald;
    }

    public HttpLeaseSettler settlements() {
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
