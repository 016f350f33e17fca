package io.delayqueue.test;

import java.time.Duration;

/**
 * Moves time while the handler of one message runs. Created by
 * {@link DelayQueueTester#whileHandling(String)}.
 *
 * <pre class="code">
 * // the handler is called at its due time, and runs for two minutes of virtual time
 * Deliveries deliveries = tester.whileHandling("order-42").advance(Duration.ofMinutes(2));
 * </pre>
 *
 * Meanwhile its lease is renewed, and its timeout applies, as if the handler took so
 * long. A handler that returns early is held until then; one that throws is not. If the
 * message is delivered again meanwhile, that delivery is not held.
 */
public final class WhileHandling {

    private final DelayQueueTester tester;

    private final String id;

    WhileHandling(DelayQueueTester tester, String id) {
        this.tester = tester;
        this.id = id;
    }

    /**
     * Advances to the due time of the message, lets its handler begin, advances by a time
     * span, and then lets the handler end.
     * @return all deliveries that ended, that of the message included
     */
    public Deliveries advance(Duration time) {
        return run(() -> this.tester.advance(time));
    }

    /**
     * Advances to the due time of the message, lets its handler begin, runs a task, which
     * may call the tester, and then lets the handler end.
     * @return all deliveries that ended, that of the message included
     */
    public Deliveries run(Runnable task) {
        return this.tester.whileHandling(this.id, task);
    }

}
