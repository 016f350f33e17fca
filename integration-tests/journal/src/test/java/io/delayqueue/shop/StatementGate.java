package io.delayqueue.shop;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Blocks or delays some statements while it is closed. */
public final class StatementGate extends StatementInterceptor {

    /** A part of the statement by which a restore reads rows. */
    static final String RESTORE = "accepted = TRUE AND claimed_until >=";

    /** A part of the statement that records that Redis has accepted a request. */
    static final String ACCEPTANCE = "SET accepted = TRUE";

    private volatile CountDownLatch opened = new CountDownLatch(0);

    private volatile String blocked = "";

    private volatile Duration delay = Duration.ZERO;

    private final AtomicInteger waiting = new AtomicInteger();

    /** Blocks the statements that contain a text. */
    void close(String text) {
        delay(text, Duration.ofHours(1));
    }

    /** Delays each statement that contains a text. */
    public void delay(String text, Duration delay) {
        this.blocked = text;
        this.delay = delay;
        this.opened = new CountDownLatch(1);
    }

    public void open() {
        this.opened.countDown();
    }

    /** Returns whether a statement waits. */
    boolean isReached() {
        return this.waiting.get() > 0;
    }

    @Override
    protected void beforeStatement(String statement) throws InterruptedException {
        if (statement.contains(this.blocked)) {
            this.waiting.incrementAndGet();
            this.opened.await(this.delay.toNanos(), TimeUnit.NANOSECONDS);
            this.waiting.decrementAndGet();
        }
    }

}
