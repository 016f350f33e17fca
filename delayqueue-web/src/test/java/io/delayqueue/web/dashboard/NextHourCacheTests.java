package io.delayqueue.web.dashboard;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.DueHistogram;
import io.delayqueue.admin.DueHistogram.Bin;
import io.delayqueue.admin.QueueOverview;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

/** Checks the limits of the reads for the next hour. */
class NextHourCacheTests {

    private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");

    private final DelayQueueInspector inspector = mock();

    private final AtomicLong nanos = new AtomicLong(-7);

    private final NextHourCache cache = new NextHourCache(this.inspector, this.nanos::get);

    private final List<QueueOverview> queues = IntStream.range(0, 30)
        .mapToObj((i) -> new QueueOverview("q-" + i, 1, i, 0, 0, 0, 0, 0, null, null, false, null, NOW))
        .toList();

    @Test
    void addsUpTheFullestQueuesOnceIn15Seconds() {
        given(this.inspector.dueHistogram(any())).willAnswer((call) -> new DueHistogram(call.getArgument(0), NOW, 0,
                List.of(new Bin(NOW, NOW.plusSeconds(60), 2), new Bin(NOW.plusSeconds(60), NOW.plusSeconds(120), 1)),
                List.of(), List.of(), 0, 0));
        NextHourCache.NextHour expected = new NextHourCache.NextHour(20, Map.of(NOW, 40L, NOW.plusSeconds(60), 20L));
        assertThat(this.cache.get(this.queues)).isEqualTo(expected);
        this.nanos.addAndGet(TimeUnit.SECONDS.toNanos(14));
        assertThat(this.cache.get(this.queues)).isEqualTo(expected);
        verify(this.inspector, times(20)).dueHistogram(any());
        verify(this.inspector, never()).dueHistogram("q-9");
        this.nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
        this.cache.get(this.queues);
        verify(this.inspector, times(40)).dueHistogram(any());
    }

    /** The page was closed for a night, and two users open it. */
    @Test
    void returnsNoResultOfTheDayBeforeDuringAReadAndAfterAFailedOne() {
        NextHourCache.NextHour unknown = new NextHourCache.NextHour(0, Map.of());
        DueHistogram histogram = new DueHistogram("q-29", NOW, 0, List.of(new Bin(NOW, NOW.plusSeconds(60), 2)),
                List.of(), List.of(), 0, 0);
        given(this.inspector.dueHistogram(any())).willReturn(histogram);
        NextHourCache.NextHour before = this.cache.get(this.queues);
        List<NextHourCache.NextHour> others = new ArrayList<>();
        given(this.inspector.dueHistogram(any())).willAnswer((call) -> {
            others.add(this.cache.get(this.queues));
            throw new StoreUnavailableException("away", Effect.NONE, null);
        });

        this.nanos.addAndGet(TimeUnit.SECONDS.toNanos(59));
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> this.cache.get(this.queues));
        assertThat(this.cache.get(this.queues)).as("a minute old").isEqualTo(before);
        this.nanos.addAndGet(TimeUnit.HOURS.toNanos(9));
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> this.cache.get(this.queues));

        assertThat(this.cache.get(this.queues)).isEqualTo(unknown);
        assertThat(others).as("during the reads").containsExactly(before, unknown);
    }

}
