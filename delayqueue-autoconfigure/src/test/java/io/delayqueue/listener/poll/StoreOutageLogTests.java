package io.delayqueue.listener.poll;

import ch.qos.logback.classic.Level;
import io.delayqueue.fixtures.LogCapture;
import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.store.Partition;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests how often an outage is logged. */
class StoreOutageLogTests {

    private final ManualNanoClock clock = new ManualNanoClock();

    private final StoreOutageLog outage = new StoreOutageLog(this.clock, Runnable::run);

    @Test
    void isOverWhenEverythingWorksAgain() {
        try (LogCapture log = new LogCapture()) {
            this.outage.failed(StoreOutageLog.CLAIM, TestBed.QUEUE, new IllegalStateException());
            this.outage.failed(StoreOutageLog.RENEW, TestBed.QUEUE, new IllegalStateException());
            this.outage.recovered(StoreOutageLog.CLAIM, TestBed.QUEUE);
            assertThat(log.lines(Level.INFO)).isEmpty();
            this.outage.recovered(StoreOutageLog.RENEW, TestBed.QUEUE);
            assertThat(log.lines(Level.INFO)).hasSize(1);
            assertThat(log.at(Level.WARN).toList()).hasSize(1).allMatch((event) -> event.getThrowableProxy() != null);

            this.outage.failed(StoreOutageLog.CLAIM, TestBed.QUEUE, new IllegalStateException());
            assertThat(log.lines(Level.WARN)).hasSize(2);
        }
    }

    @Test
    void isNotOverWhileAnotherPartitionFails() {
        try (LogCapture log = new LogCapture()) {
            Partition other = new Partition(TestBed.QUEUE.queue(), 1);
            this.outage.failed(StoreOutageLog.CLAIM, TestBed.QUEUE, new IllegalStateException());
            this.outage.failed(StoreOutageLog.CLAIM, other, new IllegalStateException());
            this.outage.recovered(StoreOutageLog.CLAIM, other);
            assertThat(log.lines(Level.INFO)).isEmpty();
            assertThat(log.lines(Level.WARN)).hasSize(1).first().asString().contains("queue 'orders'");
        }
    }

    @Test
    void isLoggedOnceForAnOperationThatNeverWorksBesideOneThatDoes() {
        try (LogCapture log = new LogCapture()) {
            for (int i = 0; i < 10; i++) {
                this.outage.failed(StoreOutageLog.ACKNOWLEDGE, TestBed.QUEUE, new IllegalStateException());
                this.outage.recovered(StoreOutageLog.CLAIM, TestBed.QUEUE);
            }
            assertThat(log.lines(Level.WARN)).hasSize(1);
            assertThat(log.lines(Level.INFO)).isEmpty();
        }
    }

}
