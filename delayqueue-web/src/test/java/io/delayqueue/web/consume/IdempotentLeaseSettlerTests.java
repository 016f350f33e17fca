package io.delayqueue.web.consume;

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
import java.util.stream.Stream;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.DeadLetterPublisher;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.StoreComponents;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * Checks that a settlement of several partitions reports only outcomes that hold for all.
 */
class IdempotentLeaseSettlerTests {

    private static final QueueName QUEUE = new QueueName("spread");

    private static final DelayQueueException NOTHING = new StoreUnavailableException("away", Effect.NONE, null);

    private static final DelayQueueException PERHAPS = new StoreUnavailableException("gone", Effect.UNKNOWN, null);

    private static final DelayQueueException REFUSED = new StoreRefusedException("read-only", null);

    private final MessageStore store = mock(MessageStore.class);

    private final StoreComponents components = new StoreComponents(this.store, mock(MessageInspector.class),
            mock(WakeUps.class), new PartitionLayouts(PartitionLayoutStore.NONE, (queue) -> 2, System::nanoTime));

    private final IdempotentLeaseSettler settlements = new IdempotentLeaseSettler(this.components,
            new AsyncEventPublisher((event) -> {
            }));

    static Stream<Arguments> answers() {
        return Stream.of(arguments(List.of(false), NOTHING, Effect.UNKNOWN),
                arguments(NOTHING, List.of(true), Effect.UNKNOWN), arguments(REFUSED, List.of(true), Effect.UNKNOWN),
                arguments(NOTHING, PERHAPS, Effect.UNKNOWN), arguments(PERHAPS, NOTHING, Effect.UNKNOWN),
                arguments(NOTHING, NOTHING, Effect.NONE), arguments(REFUSED, NOTHING, Effect.NONE));
    }

    @ParameterizedTest
    @MethodSource("answers")
    void reportsNoEffectOnlyIfEveryPartitionFailedWithoutEffect(Object first, Object second, Effect effect) {
        answers(0, first);
        answers(1, second);

        CompletableFuture<?> all = this.settlements.settler().acknowledgeAll(List.of(lease(0, "a"), lease(1, "b")));

        assertThatThrownBy(all::join).cause()
            .isInstanceOfSatisfying(DelayQueueException.class,
                    (failure) -> assertThat(failure.effect()).isEqualTo(effect));
    }

    @Test
    void rethrowsADefectUnchanged() {
        answers(0, List.of(true));
        answers(1, new IllegalStateException("a defect"));

        assertThatThrownBy(this.settlements.settler().acknowledgeAll(List.of(lease(0, "a"), lease(1, "b")))::join)
            .hasRootCauseInstanceOf(IllegalStateException.class);
    }

    @Test
    void returnsOneResultForARepeatedLease() {
        answers(0, List.of(true));
        answers(1, List.of(false));
        List<Lease> leases = new ArrayList<>(List.of(lease(0, "a"), lease(1, "b"), lease(0, "a")));

        assertThat(this.settlements.settler().acknowledgeAll(leases).join())
            .containsOnlyKeys(lease(0, "a"), lease(1, "b"))
            .containsEntry(lease(0, "a"), true)
            .containsEntry(lease(1, "b"), false);
    }

    /** For instance when the reply was lost, or the calling node ended. */
    @Test
    void aRepeatedDeadLetteringIsPublishedOnceByEachNode() {
        List<Object> events = new CopyOnWriteArrayList<>();
        List<String> lines = new CopyOnWriteArrayList<>();
        AsyncEventPublisher publisher = new AsyncEventPublisher(events::add);
        publisher.start();
        IdempotentLeaseSettler one = new IdempotentLeaseSettler(this.components, publisher);
        IdempotentLeaseSettler other = new IdempotentLeaseSettler(this.components, publisher);
        LeaseToken token = new LeaseToken(lease(0, "a"), 0, Instant.EPOCH);
        given(this.store.extend(any(), any(), any())).willReturn(CompletableFuture.completedFuture(List.of(true)))
            .willReturn(CompletableFuture.completedFuture(List.of(false)));
        given(this.store.deadLetter(any(), any())).willReturn(CompletableFuture.failedFuture(PERHAPS))
            .willReturn(CompletableFuture.completedFuture(true));
        AppenderBase<ILoggingEvent> appender = appender(lines);
        try {
            assertThatThrownBy(one.deadLetter(token, "r", false)::join).hasRootCause(PERHAPS);
            assertThat(other.deadLetter(token, "r", false)).isCompletedWithValue(SettlementResult.DONE);
            assertThat(other.deadLetter(token, "r", false)).isCompletedWithValue(SettlementResult.REPEATED);
            assertThat(one.deadLetter(token, "r", false)).isCompletedWithValue(SettlementResult.DONE);
            assertThat(one.deadLetter(token, "r", false)).isCompletedWithValue(SettlementResult.REPEATED);
            publisher.log(() -> lines.add("last"));
            await().until(() -> lines.contains("last"));
        }
        finally {
            publisher.stop();
            detach(appender);
        }
        assertThat(events).hasSize(2);
        assertThat(lines).filteredOn((line) -> line.startsWith("ERROR"))
            .hasSize(2)
            .allSatisfy((line) -> assertThat(line).endsWith("(a repeated call; may have been logged before)"));
    }

    /** No settlement was sent yet. */
    @Test
    void aFailureBeforeTheSettlementHasNoEffect() {
        given(this.store.extend(any(), any(), any())).willReturn(CompletableFuture.failedFuture(PERHAPS));
        LeaseToken token = new LeaseToken(lease(0, "a"), 0, Instant.EPOCH);

        for (CompletableFuture<SettlementResult> settled : List.of(this.settlements.deadLetter(token, "r", false),
                this.settlements.retry(token.lease(), Duration.ZERO, "f"))) {
            assertThatThrownBy(settled::join).cause()
                .isInstanceOfSatisfying(StoreUnavailableException.class,
                        (failure) -> assertThat(failure.effect()).isEqualTo(Effect.NONE));
        }
    }

    private static AppenderBase<ILoggingEvent> appender(List<String> lines) {
        AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                lines.add(event.getLevel() + " " + event.getFormattedMessage());
            }
        };
        appender.start();
        ((Logger) LoggerFactory.getLogger(DeadLetterPublisher.class)).addAppender(appender);
        return appender;
    }

    private static void detach(AppenderBase<ILoggingEvent> appender) {
        ((Logger) LoggerFactory.getLogger(DeadLetterPublisher.class)).detachAppender(appender);
    }

    /** An appender may block, and would delay everything on the connection. */
    @Test
    void logsOnNoThreadOfTheStore() throws Exception {
        Map<String, String> logged = new ConcurrentHashMap<>();
        AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                logged.put(event.getFormattedMessage().split(" ")[0], Thread.currentThread().getName());
            }
        };
        Logger logger = (Logger) LoggerFactory.getLogger("io.delayqueue");
        appender.start();
        logger.addAppender(appender);
        ExecutorService connection = Executors.newSingleThreadExecutor((task) -> new Thread(task, "connection"));
        AsyncEventPublisher publisher = new AsyncEventPublisher((event) -> {
        }, 1, Duration.ofMinutes(1));
        publisher.start();
        try {
            IdempotentLeaseSettler settling = new IdempotentLeaseSettler(this.components, publisher);
            given(this.store.extend(any(), any(), any()))
                .willReturn(CompletableFuture.supplyAsync(() -> List.of(true), connection));
            given(this.store.deadLetter(any(), any()))
                .willReturn(CompletableFuture.supplyAsync(() -> true, connection));
            settling.deadLetter(new LeaseToken(lease(0, "a"), 0, Instant.EPOCH), "r", false).join();
            await().until(() -> !logged.isEmpty());
        }
        finally {
            publisher.stop();
            connection.shutdown();
            logger.detachAppender(appender);
        }
        assertThat(logged).containsOnlyKeys("Message");
        assertThat(logged.values()).containsOnly("delayqueue-web-log");
    }

    @SuppressWarnings("unchecked")
    private void answers(int partition, Object answer) {
        given(this.store.acknowledge(eq(new Partition(QUEUE, partition)), any()))
            .willReturn((answer instanceof Throwable failure) ? CompletableFuture.failedFuture(failure)
                    : CompletableFuture.completedFuture((List<Boolean>) answer));
    }

    private static Lease lease(int partition, String id) {
        return new Lease(new Partition(QUEUE, partition), id, "1");
    }

}
