package io.delayqueue.consume;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.delayqueue.DeadLetterEvent;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterPublisher;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageEventRecorder;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.UnstartedLease;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.QueueRegistrar;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.store.schedule.LocalSchedules;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.atIndex;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Checks what is counted, logged and published beside a settlement, and where. */
class LeaseSettlerTests {

    private static final QueueName QUEUE = new QueueName("spread");

    private static final DelayQueueException NOTHING = new StoreUnavailableException("away", Effect.NONE, null);

    private static final DelayQueueException PERHAPS = new StoreUnavailableException("gone", Effect.UNKNOWN, null);

    private final MessageStore store = mock(MessageStore.class);

    private final StoreComponents components = new StoreComponents(this.store, mock(MessageInspector.class),
            mock(WakeUps.class), new PartitionLayouts(PartitionLayoutStore.NONE, (queue) -> 2, System::nanoTime));

    private final List<DeadLetterEvent> events = new ArrayList<>();

    private final LeaseSettler settler = new LeaseSettler(this.components,
            new DeadLetterPublisher(MessageEventRecorderFactory.NONE, this.events::add, Runnable::run));

    private final List<String> lines = new CopyOnWriteArrayList<>();

    private final Map<String, String> threads = new ConcurrentHashMap<>();

    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            LeaseSettlerTests.this.lines.add(event.getLevel() + " " + event.getFormattedMessage());
            LeaseSettlerTests.this.threads.put(event.getFormattedMessage().split(" ")[0],
                    Thread.currentThread().getName());
        }
    };

    @BeforeEach
    void listenToTheLog() {
        this.appender.start();
        ((Logger) LoggerFactory.getLogger("io.delayqueue")).addAppender(this.appender);
    }

    @AfterEach
    void leaveTheLog() {
        ((Logger) LoggerFactory.getLogger("io.delayqueue")).detachAppender(this.appender);
    }

    /**
     * That call is not repeated: its message is claimed again only if it is not dead.
     */
    @Test
    void aDeadLetterIsPublishedIfTheReplyWasLost() {
        given(this.store.deadLetter(any(), any())).willReturn(CompletableFuture.failedFuture(PERHAPS))
            .willReturn(CompletableFuture.failedFuture(NOTHING));

        assertThatThrownBy(this.settler.deadLetter(claimed("a"), "unreadable", Runnable::run)::join)
            .hasRootCause(PERHAPS);
        assertThatThrownBy(this.settler.deadLetter(claimed("b"), "unreadable", Runnable::run)::join)
            .hasRootCause(NOTHING);

        assertThat(this.events).extracting(DeadLetterEvent::id).containsExactly("a");
        assertThat(this.lines).last()
            .asString()
            .isEqualTo("WARN Cannot dead-letter message 'b' of queue 'spread', which is claimed again when its lease "
                    + "runs out");
    }

    /** Stores return an empty failure as one that is not known. */
    @Test
    void aFailureWithoutATextIsStoredWithOne() {
        List<String> failures = new ArrayList<>();
        given(this.store.retry(any(), any(), any())).willAnswer((call) -> {
            failures.add(call.getArgument(2));
            return CompletableFuture.completedFuture(true);
        });

        this.settler.retry(lease("a"), Duration.ZERO, "").join();
        this.settler.retry(lease("a"), Duration.ZERO, "timeout").join();

        assertThat(failures).containsExactly("The handler gave no reason", "timeout");
    }

    /** P9: such as the last retry of a consumer that gives no failure. */
    @Test
    void aDeadLetterWithoutACauseIsStoredAndPublishedWithOne() {
        List<String> causes = new ArrayList<>();
        given(this.store.deadLetter(any(), any())).willAnswer((call) -> {
            causes.add(call.<DeadLetterRequest>getArgument(1).cause());
            return CompletableFuture.completedFuture(true);
        });
        DeadLetterRequest request = new DeadLetterRequest(" ", true, Instant.EPOCH);

        this.settler.deadLetter(lease("a"), request).join();
        this.settler.publish(lease("a"), request, 2, "");

        assertThat(causes).containsExactly("The handler gave no reason");
        assertThat(this.events).extracting(DeadLetterEvent::reason).containsExactly("The handler gave no reason");
    }

    /** A consumer may notice a loss at a renewal, and again at the settlement. */
    @Test
    void aLostLeaseIsCountedOnceAndASettledOneIsNot() {
        AtomicInteger lost = new AtomicInteger();
        MessageEventRecorderFactory counters = mock(MessageEventRecorderFactory.class);
        given(counters.of(QUEUE)).willReturn(new MessageEventRecorder() {
            @Override
            public void leaseLost() {
                lost.incrementAndGet();
            }
        });
        LeaseSettler counting = new LeaseSettler(
                new StoreComponents(this.store, this.components.inspector(), this.components.wakeUps(),
                        this.components.partitions(), counters, QueueRegistrar.NONE, LocalSchedules.none()),
                new DeadLetterPublisher(counters, this.events::add, Runnable::run));
        given(this.store.extend(any(), any(), any())).willReturn(CompletableFuture.completedFuture(List.of(false)));
        given(this.store.acknowledge(any(), any())).willReturn(CompletableFuture.completedFuture(List.of(false)))
            .willReturn(CompletableFuture.completedFuture(List.of(true)))
            .willReturn(CompletableFuture.completedFuture(List.of(false)));

        assertThat(counting.extend(lease("lapsed"), Duration.ofSeconds(1))).isCompletedWithValue(false);
        assertThat(counting.acknowledge(lease("lapsed"))).isCompletedWithValue(false);
        assertThat(lost).hasValue(1);

        assertThat(counting.acknowledge(lease("settled"))).isCompletedWithValue(true);
        assertThat(counting.acknowledge(lease("settled"))).isCompletedWithValue(false);
        assertThat(lost).hasValue(1);
    }

    /** An appender may block, and would delay everything on the connection. */
    @Test
    void theThreadOfTheStoreLogsNothing() {
        ExecutorService connection = Executors.newSingleThreadExecutor((task) -> new Thread(task, "connection"));
        ExecutorService log = Executors.newSingleThreadExecutor((task) -> new Thread(task, "log"));
        try {
            LeaseSettler settling = new LeaseSettler(this.components,
                    new DeadLetterPublisher(MessageEventRecorderFactory.NONE, this.events::add, log));
            given(this.store.deadLetter(any(), any()))
                .willReturn(CompletableFuture.supplyAsync(() -> true, connection));
            given(this.store.release(any(), any())).willReturn(CompletableFuture.supplyAsync(() -> {
                throw NOTHING;
            }, connection));
            settling.deadLetter(claimed("a"), "r", Runnable::run).join();
            settling.releaseUnseen(List.of(new UnstartedLease(lease("b"), Instant.EPOCH))).join();
            await().until(() -> this.threads.size() == 2);
        }
        finally {
            connection.shutdown();
            log.shutdown();
        }
        assertThat(this.threads).containsOnlyKeys("Message", "Cannot");
        assertThat(this.threads.values()).containsOnly("log");
    }

    /** After a long outage there may be very many. */
    @Test
    void expiredMessagesAreLoggedInOneLine() {
        for (int i = 0; i < 3; i++) {
            this.settler.report(QUEUE, expired("m" + i, "n" + i), ExpiryPolicy.DEAD_LETTER);
        }
        this.settler.publish(lease("by hand"), new DeadLetterRequest("expired", false, Instant.EPOCH), 0, "");

        assertThat(this.lines).hasSize(2)
            .contains("ERROR Message 'by hand' of queue 'spread' is dead-lettered after 0 failures: expired",
                    atIndex(1))
            .first()
            .asString()
            .startsWith("WARN Expired and made dead letters: 2 messages of queue 'spread' ('m0' is one of them);");
        assertThat(this.events).hasSize(7);
    }

    private static ClaimResult expired(String... ids) {
        List<DeadLetterEvent> deadLetters = Stream.of(ids)
            .map((id) -> new DeadLetterEvent(QUEUE.value(), id, id + "~1", 0, "expired"))
            .toList();
        return new ClaimResult(List.of(), Instant.EPOCH, null, deadLetters.size(), deadLetters);
    }

    private static ClaimedMessage claimed(String id) {
        return new ClaimedMessage(lease(id), Instant.EPOCH, 0, 0, false, null, null, new byte[0]);
    }

    private static Lease lease(String id) {
        return new Lease(new Partition(QUEUE, 0), id, "1");
    }

}
