package io.delayqueue.shop.ledger;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.Shop;
import io.delayqueue.shop.ShopApplication;
import io.delayqueue.shop.ShopDatabase;
import io.delayqueue.shop.StatementInterceptor;
import org.junit.jupiter.api.Tag;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Counts the reads of a request that waits for an earlier one of its id. */
@Tag("server")
class WaitingRequestTests {

    private static final Duration LATER = Duration.ofHours(1);

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    /** Searches of the relay, one in each second. */
    private static final int SEARCHES = 6;

    /** A read every 20 ms would be up to 50 for each search. */
    private static final int READS_OF_A_SEARCH = 12;

    @EachDatabase
    void aRequestThatWaitsIsReadSeldomWhileRedisIsAway(ShopDatabase database) {
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred());
                ShopApplication shop = ShopApplication.start(List.of(Shop.class, ReadCounter.class), redis.port(),
                        database.url())) {
            shop.queue().send(Shop.ORDERS, "1", "first", LATER);
            await().atMost(PATIENCE).until(() -> shop.accepted() == 1);
            redis.kill();
            shop.transaction().executeWithoutResult((status) -> {
                shop.queue().reschedule(Shop.ORDERS, "1", LATER.multipliedBy(2));
                shop.queue().reschedule(Shop.ORDERS, "1", LATER.multipliedBy(3));
            });
            ReadCounter counter = shop.context().getBean(ReadCounter.class);
            int readsBefore = counter.reads.get();
            int searchesBefore = counter.searches.get();

            await().atMost(PATIENCE).until(() -> counter.searches.get() - searchesBefore >= SEARCHES);
            int reads = counter.reads.get() - readsBefore;
            int searches = counter.searches.get() - searchesBefore;

            assertThat(reads).isBetween(1, READS_OF_A_SEARCH * searches);
            redis.restart();
        }
    }

    /** Counts the statements by which the relay reads and searches requests. */
    static final class ReadCounter extends StatementInterceptor {

        private final AtomicInteger reads = new AtomicInteger();

        private final AtomicInteger searches = new AtomicInteger();

        @Override
        protected void beforeStatement(String statement) {
            if (statement.contains("AND claimed_by = ? AND claimed_until >")) {
                this.reads.incrementAndGet();
            }
            else if (statement.contains("accepted = FALSE AND claimed_until <") && statement.startsWith("SELECT")) {
                this.searches.incrementAndGet();
            }
        }

    }

}
