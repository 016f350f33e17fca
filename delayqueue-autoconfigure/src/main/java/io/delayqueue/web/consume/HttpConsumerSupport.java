package io.delayqueue.web.consume;

import java.util.function.Function;
import java.util.function.LongSupplier;

import io.delayqueue.QueueName;
import io.delayqueue.store.routing.DelayQueueStore;

import org.springframework.context.SmartLifecycle;

/**
 * What those need that claim over HTTP. Its life ends before the web server waits for its
 * requests to end, so that claims that wait do not hold that up: they are answered with
 * no message.
 */
public final class HttpConsumerSupport implements SmartLifecycle {

    private final LongPolling polls;

    private final HttpLeaseSettler settlements;

    private final AsyncEventPublisher herald;

    private final Function<QueueName, ConsumeSettings> settings;

    private final LeaseTokens tokens;

    /**
     * Makes them. The one thread is there from the first claim on.
     * @param ports where messages live
     * @param format how messages and their leases are written
     * @param settings how messages of a queue are handed out
     * @param limits how many claims may wait
     * @param herald tells of dead letters, and of what consumers do
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
