package io.delayqueue.shop;

import java.time.Duration;
import java.util.List;

import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests what the reconciler does for other queues while it restores a large one. */
@Tag("server")
class RestoreStepTests {

    private static final Duration LATER = Duration.ofHours(1);

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private static final String LARGE = "large";

    private static final String BUSY = "busy";

    /** The calls of the other queue are more than two while a large queue is scanned. */
    @Test
    void theScanOfALargeQueueDelaysNoOtherQueue() {
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred());
                ShopApplication shop = ShopApplication.start(List.of(Shop.class, ScanObserver.class), redis.port(),
                        ShopDatabase.H2.url())) {
            for (String queue : List.of(LARGE, BUSY)) {
                shop.queue().send(queue, "1", "waits", LATER);
                await().atMost(PATIENCE).until(() -> ShopApplication.calls(redis, queue) > 1);
            }
            shop.reconciler().stop();
            SilentServerTests.addRevisions(redis, LARGE);
            SilentServerTests.addEntries(redis, BUSY);
            redis.commands().del("dq:{" + LARGE + "}:journal");
            ScanObserver observer = shop.context().getBean(ScanObserver.class);
            observer.redis = redis;

            shop.reconciler().start();

            await().atMost(PATIENCE).until(() -> observer.callsAtEnd != 0);
            assertThat(observer.callsAtEnd - observer.callsAtBegin).isGreaterThan(2);
        }
    }

    /**
     * Reads the calls of the other queue in the first statement of a scan, which follows
     * its first page, and in the first one after it.
     */
    static final class ScanObserver extends StatementInterceptor {

        /** Set before the reconciler starts, whose thread reads it. */
        private volatile RedisServer redis;

        private volatile long callsAtBegin;

        private volatile long callsAtEnd;

        @Override
        protected void beforeStatement(String statement) {
            if (this.redis != null) {
                observe(statement);
            }
        }

        private void observe(String statement) {
            if (statement.contains("revisions FROM delayqueue_ended")) {
                this.callsAtBegin = ShopApplication.calls(this.redis, BUSY);
            }
            else if (this.callsAtBegin != 0 && this.callsAtEnd == 0 && statement.contains(StatementGate.RESTORE)) {
                this.callsAtEnd = ShopApplication.calls(this.redis, BUSY);
            }
        }

    }

}
