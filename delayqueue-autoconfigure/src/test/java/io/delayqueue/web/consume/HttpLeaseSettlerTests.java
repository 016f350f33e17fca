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
import io.delayqueue.DeadLetterEvent;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DueLease;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.routing.DelayQueueStore;
import io.delayqueue.store.routing.PartitionLayoutCache;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.atIndex;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** A settlement of several partitions reports only outcomes that hold for all. */
class HttpLeaseSettlerTests {

    private static final QueueName QUEUE = new QueueName("spread");

    private static final DelayQueueException NOTHING = new StoreUnavailableException("away", Effect.NONE, null);

    private static final DelayQueueException PERHAPS = new StoreUnavailableException("gone", Effect.UNKNOWN, null);

    private static final DelayQueueException REFUSED = new StoreRefusedException("read-only", null);

    private final MessageStore store = mock(MessageStore.class);

    private final DelayQueueStore ports = new DelayQueueStore(this.store, mock(MessageInspector.class),
            mock(WakeUps.class), new PartitionLayoutCache(PartitionLayoutStore.NONE, (queue) -> 2, System::nanoTime));

    private final HttpLeaseSettler settlements = new HttpLeaseSettler(this.ports, new AsyncEventPublisher((event) -> {
    }));

    static Stream<Arguments> answers() {
        return Stream.of(arguments(List.of(false), NOTHING, Effect.UNKNOWN),
                arguments(NOTHING, List.of(true), Effect.UNKNOWN), arguments(REFUSED, List.of(true), Effect.UNKNOWN),
                arguments(NOTHING, PERHAPS, Effect.UNKNOWN), arguments(PERHAPS, NOTHING, Effect.UNKNOWN),
                arguments(NOTHING, NOTHING, Effect.NONE), arguments(REFUSED, NOTHING, Effect.NONE));
    }

    @ParameterizedTest
    @MethodSource("answers")
    void acknowledgedNothingOnlyIfEachPartitionDidNot(Object first, Object second, Effect effect) {
        answers(0, first);
        answers(1, second);

        CompletableFuture<?> all = this.settlements.acknowledgeAll(List.of(lease(0, "a"), lease(1, "b")));

        assertThatThrownBy(all::join).cause()
            .isInstanceOfSatisfying(DelayQueueException.class,
                    (failure) -> assertThat(failure.effect()).isEqualTo(effect));
    }

    @Test
    void aDefectStaysOne() {
        answers(0, List.of(true));
        answers(1, new IllegalStateException("a defect"));

        assertThatThrownBy(this.settlements.acknowledgeAll(List.of(lease(0, "a"), lease(1, "b")))::join)
            .hasRootCauseInstanceOf(IllegalStateException.class);
    }

    @Test
    void tellsOfEachLeaseOnce() {
        answers(0, List.of(true));
        answers(1, List.of(false));
        List<Lease> leases = new ArrayList<>(List.of(lease(0, "a"), lease(1, "b"), lease(0, "a")));

        assertThat(this.settlements.acknowledgeAll(leases).join()).containsOnlyKeys(lease(0, "a"), lease(1, "b"))
            .containsEntry(lease(0, "a"), true)
            .containsEntry(lease(1, "b"), false);
    }

    /** For instance when the reply was lost, or the calling node ended. */
    @Test
    void aRepeatedDeathIsPublishedOnceByEachNodeThatDoesNotKnowItsOutcome() {
        List<Object> events = new CopyOnWriteArrayList<>();
        List<String> lines = new CopyOnWriteArrayList<>();
        AsyncEventPublisher herald = new AsyncEventPublisher(events::add);
        herald.start();
        HttpLeaseSettler one = new HttpLeaseSettler(this.ports, herald);
        HttpLeaseSettler other = new HttpLeaseSettler(this.ports, herald);
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
            herald.log(() -> lines.add("last"));
            await().until(() -> lines.contains("last"));
        }
        finally {
            herald.stop();
            detach(appender);
        }
        assertThat(events).hasSize(2);
        assertThat(lines).filteredOn((line) -> line.startsWith("ERROR"))
            .hasSize(2)
            .allSatisfy((line) -> assertThat(line).endsWith("(a repeated call; may have been logged before)"));
    }

    /**
     * That call is not repeated: its message is claimed again only if it is not dead.
     */
    @Test
    void aMessageThatIsBuriedIsPublishedWhereTheAnswerWasLost() {
        List<Object> events = new CopyOnWriteArrayList<>();
        AsyncEventPublisher herald = new AsyncEventPublisher(events::add);
        herald.start();
        HttpLeaseSettler settling = new HttpLeaseSettler(this.ports, herald);
        given(this.store.deadLetter(any(), any())).willReturn(CompletableFuture.failedFuture(PERHAPS))
            .willReturn(CompletableFuture.failedFuture(NOTHING));

        assertThatThrownBy(settling.bury(claimed("a"), "unreadable")::join).hasRootCause(PERHAPS);
        assertThatThrownBy(settling.bury(claimed("b"), "unreadable")::join).hasRootCause(NOTHING);
        herald.stop();

        assertThat(events).singleElement()
            .isInstanceOfSatisfying(DeadLetterEvent.class, (death) -> assertThat(death.id()).isEqualTo("a"));
    }

    /** No settlement was sent yet. */
    @Test
    void aFailureBeforeTheSettlementIsWithoutEffect() {
        given(this.store.extend(any(), any(), any())).willReturn(CompletableFuture.failedFuture(PERHAPS));
        LeaseToken token = new LeaseToken(lease(0, "a"), 0, Instant.EPOCH);

        for (CompletableFuture<SettlementResult> settled : List.of(this.settlements.deadLetter(token, "r", false),
                this.settlements.retry(token.lease(), Duration.ZERO, "f"))) {
            assertThatThrownBy(settled::join).cause()
                .isInstanceOfSatisfying(StoreUnavailableException.class,
                        (failure) -> assertThat(failure.effect()).isEqualTo(Effect.NONE));
        }
    }

    private static ClaimedMessage claimed(String id) {
        return new ClaimedMessage(lease(0, id), Instant.EPOCH, 0, 0, false, null, null, new byte[0]);
    }

    private static AppenderBase<ILoggingEvent> appender(List<String> lines) {
        AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                lines.add(event.getLevel() + " " + event.getFormattedMessage());
            }
        };
        appender.start();
        ((Logger) LoggerFactory.getLogger(HttpLeaseSettler.class)).addAppender(appender);
        return appender;
    }

    private static void detach(AppenderBase<ILoggingEvent> appender) {
        ((Logger) LoggerFactory.getLogger(HttpLeaseSettler.class)).detachAppender(appender);
    }

    /** An appender may block, and would delay everything on the connection. */
    @Test
    void theThreadOfTheStoreLogsNothing() throws Exception {
        Map<String, String> logged = new ConcurrentHashMap<>();
        AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                logged.put(event.getFormattedMessage().split(" ")[0], Thread.currentThread().getName());
            }
        };
        Logger logger = (Logger) LoggerFactory.getLogger("io.delayqueue.web");
        appender.start();
        logger.addAppender(appender);
        ExecutorService connection = Executors.newSingleThreadExecutor((task) -> new Thread(task, "connection"));
        AsyncEventPublisher herald = new AsyncEventPublisher((event) -> {
        }, 1, Duration.ofMinutes(1));
        herald.start();
        try {
            HttpLeaseSettler settling = new HttpLeaseSettler(this.ports, herald);
            given(this.store.extend(any(), any(), any()))
                .willReturn(CompletableFuture.supplyAsync(() -> List.of(true), connection));
            given(this.store.deadLetter(any(), any()))
                .willReturn(CompletableFuture.supplyAsync(() -> true, connection));
            given(this.store.release(any(), any())).willReturn(CompletableFuture.supplyAsync(() -> {
                throw NOTHING;
            }, connection));
            settling.deadLetter(new LeaseToken(lease(0, "a"), 0, Instant.EPOCH), "r", false).join();
            settling.giveBack(List.of(new DueLease(lease(0, "b"), Instant.EPOCH))).join();
            await().until(() -> logged.size() == 2);
        }
        finally {
            herald.stop();
            connection.shutdown();
            logger.detachAppender(appender);
        }
        assertThat(logged).containsOnlyKeys("Message", "Cannot");
        assertThat(logged.values()).containsOnly("delayqueue-web-log");
    }

    /** After a long outage there may be very many. */
    @Test
    void whatExpiredIsOneLineAndNotOneForEachMessage() {
        List<String> lines = new CopyOnWriteArrayList<>();
        AppenderBase<ILoggingEvent> appender = appender(lines);
        AsyncEventPublisher herald = new AsyncEventPublisher((event) -> {
        });
        herald.start();
        try {
            HttpLeaseSettler settling = new HttpLeaseSettler(this.ports, herald);
            for (int i = 0; i < 3; i++) {
                settling.tell(QUEUE, expired("m" + i, "n" + i), ExpiryPolicy.DEAD_LETTER);
            }
            given(this.store.extend(any(), any(), any())).willReturn(CompletableFuture.completedFuture(List.of(true)));
            given(this.store.deadLetter(any(), any())).willReturn(CompletableFuture.completedFuture(true));
            settling.deadLetter(new LeaseToken(lease(0, "by hand"), 0, Instant.EPOCH), "expired", false).join();
            herald.log(() -> lines.add("last"));
            await().until(() -> lines.contains("last"));
        }
        finally {
            herald.stop();
            detach(appender);
        }
        assertThat(lines).hasSize(3)
            .contains("ERROR Message 'by hand' of queue 'spread' is dead after 0 failures: expired", atIndex(1))
            .first()
            .asString()
            .startsWith("WARN Expired and made dead letters: 2 messages of queue 'spread' ('m0' is one of them);");
    }

    private static ClaimResult expired(String... ids) {
        List<DeadLetterEvent> deaths = Stream.of(ids)
            .map((id) -> new DeadLetterEvent(QUEUE.value(), id, id + "~1", 0, "expired"))
            .toList();
        return new ClaimResult(List.of(), Instant.EPOCH, null, deaths.size(), deaths);
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
