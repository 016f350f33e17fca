package io.delayqueue.template;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.IdSearchPage;
import io.delayqueue.store.LocatedId;
import io.delayqueue.store.Partition;
import io.delayqueue.store.QueueInspector;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Checks how many queues a part of a search reads. */
class IdSearchTests {

    private static final List<String> QUEUES = IntStream.range(0, 2_550).mapToObj("q-%04d"::formatted).toList();

    private final QueueInspector inspector = mock();

    private final IdSearch search = new IdSearch(this.inspector, TemplateFixture.PARTITIONS,
            new BlockingStoreCalls(Duration.ofMinutes(1)));

    private static List<String> after(String name, int limit) {
        return QUEUES.stream().filter((queue) -> queue.compareTo(name) > 0).limit(limit).toList();
    }

    /** The history is asked for the queues of a part, and for a thousand at most. */
    @Test
    void aPartReadsAThousandQueuesAtMostAndTheNextOneGoesOn() {
        given(this.inspector.locate(any(), any(), any())).willAnswer((call) -> {
            String queue = call.<Partition>getArgument(0).queue().value();
            return queue.endsWith("7")
                    ? CompletableFuture.failedFuture(new StoreUnavailableException("away", Effect.NONE, null))
                    : CompletableFuture.completedFuture(new LocatedId(null, 0, List.of(), null));
        });
        List<String> read = new ArrayList<>();
        List<String> unread = new ArrayList<>();
        String cursor = null;
        do {
            IdSearchPage part = this.search.search("42", cursor, IdSearchTests::after);
            assertThat(part.queues().size() + part.unread().size()).isBetween(50, DelayQueueInspector.MAX_QUEUES);
            read.addAll(part.queues());
            unread.addAll(part.unread());
            cursor = part.nextCursor();
        }
        while (cursor != null);

        assertThat(unread).isEqualTo(QUEUES.stream().filter((queue) -> queue.endsWith("7")).toList());
        assertThat(read).isEqualTo(QUEUES.stream().filter((queue) -> !queue.endsWith("7")).toList());
    }

}
