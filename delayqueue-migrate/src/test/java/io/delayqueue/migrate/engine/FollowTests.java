package io.delayqueue.migrate.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.migrate.MigrationSource;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Tests how often a run that follows its source searches for new queues. */
class FollowTests {

    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private static final int ROUNDS_PER_SECOND = 10;

    private final List<Long> searches = new ArrayList<>();

    private long now;

    @Test
    void queuesAreSearchedEveryTenSeconds() {
        followFor(35, 0);

        assertThat(this.searches).containsExactly(0L, 10L, 20L, 30L);
    }

    /** A search reads all names of a Redis, and some have many millions. */
    @Test
    void aSearchThatTakesLongIsRareSoThatItTakesATwentiethOfTheTime() {
        followFor(100, 2);

        assertThat(this.searches).containsExactly(0L, 44L, 88L);
    }

    private void followFor(int seconds, int secondsOfASearch) {
        MigrationSource source = mock(MigrationSource.class);
        given(source.queues()).willAnswer((call) -> {
            this.searches.add(this.now / SECOND);
            this.now += secondsOfASearch * SECOND;
            return List.of();
        });
        StopSignal stop = new StopSignal();
        Migration migration = new Migration(source, mock(DelayQueueOperations.class), (entry) -> "",
                JsonMapper.builder().build(), new Migration.Settings(QueueMapping.of(List.of()),
                        new MoveRate(1, 0, () -> 0), stop, (queue, number) -> {
                        }, this::next));
        Duration poll = Duration.ofNanos(1);
        migration.follow(poll, poll.multipliedBy(seconds * ROUNDS_PER_SECOND));
    }

    /** Returns the time, of which each round takes a part. */
    private long next() {
        this.now += SECOND / ROUNDS_PER_SECOND;
        return this.now;
    }

}
