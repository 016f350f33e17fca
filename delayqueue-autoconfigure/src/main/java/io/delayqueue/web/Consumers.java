package io.delayqueue.web;

import java.util.function.Function;
import java.util.function.LongSupplier;

import io.delayqueue.QueueName;
import io.delayqueue.engine.StorePorts;

import org.springframework.context.SmartLifecycle;

/**
 * What those need that claim over HTTP. Its life ends before the web server waits for its
 * requests to end, so that claims that wait do not hold that up: they are answered with
 * no message.
 */
public final class Consumers implements SmartLifecycle {

    private final LongPolls polls;

    private final Settlements settlements;

    private final Herald herald;

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
    public Consumers(StorePorts ports, ConsumerFormat format, Function<QueueName, ConsumeSettings> settings,
            WaitLimits limits, Herald herald) {
        LongSupplier nanoTime = System::nanoTime;
        this.herald = herald;
        this.settlements = new Settlements(ports, herald);
        Claimer claimer = new Claimer(ports, format, this.settlements, nanoTime);
        this.polls = new LongPolls(claimer, ports.wakeUps(), settings, limits);
        this.settings = settings;
        this.tokens = format.tokens();
    }

    LeaseTokens tokens() {
        return this.tokens;
    }

    LongPolls polls() {
        return this.polls;
    }

    Herald herald() {
        return this.herald;
    }

    Settlements settlements() {
        return this.settlements;
    }

    Function<QueueName, ConsumeSettings> settings() {
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
