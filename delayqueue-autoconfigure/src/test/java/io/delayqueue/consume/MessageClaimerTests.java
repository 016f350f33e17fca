package io.delayqueue.consume;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.consume.MessageClaimer.Batch;
import io.delayqueue.consume.MessageClaimer.Reader;
import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.fixtures.store.TemplateFakeStore;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.CauseMasking;
import io.delayqueue.store.DeadLetterPublisher;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.StoreComponents;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.BeanUtils;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that a claim whose messages cannot be read, or whose start cannot be recorded,
 * ends at once and keeps no lease that its caller does not know.
 */
class MessageClaimerTests {

    private static final Partition PARTITION = Partition.first(new QueueName("q"));

    private static final Duration LEASE = Duration.ofSeconds(30);

    private static final ConsumeSettings SETTINGS = new ConsumeSettings(LEASE, 3, 2, ExpiryPolicy.DROP, LEASE,
            (failures) -> Duration.ZERO);

    private static final PartitionLayouts PARTITIONS = new PartitionLayouts(PartitionLayoutStore.NONE, (queue) -> 0,
            () -> 0);

    private static final Reader<String> IDS = (message, term) -> message.lease().id();

    private final ManualClock clock = new ManualClock();

    private final InMemoryMessageStore store = new InMemoryMessageStore(new EnvelopeCodec(JsonMapper.builder().build()),
            this.clock);

    private final StoreComponents components = new StoreComponents(this.store, this.store, this.store, PARTITIONS);

    /** Released, the message would fail every later claim. */
    @ParameterizedTest
    @ValueSource(classes = { StackOverflowError.class, NoClassDefFoundError.class, IllegalStateException.class })
    void aMessageThatTheReaderFailsOnIsDeadLetteredAndTheOthersAreReturned(Class<? extends Throwable> failure) {
        send("a", "b", "c");

        assertThat(claim(this.components, failingOnB(failure), new Inline()).join().messages()).containsExactly("a",
                "c");

        assertThat(this.store.deadLetters(PARTITION, null, 10).join().deadLetters()).singleElement()
            .satisfies((deadLetter) -> {
                assertThat(deadLetter.messageId()).isEqualTo("b");
                assertThat(deadLetter.cause()).isEqualTo(failure.getName() + ": The codec failed to read the message");
                assertThat(CauseMasking.masked(deadLetter.cause())).isEqualTo(failure.getName());
            });
    }

    @Test
    void aReaderWithoutMemoryFailsTheClaimAndReleasesAllItsMessages() {
        send("a", "b", "c");

        assertThat(claim(this.components, failingOnB(OutOfMemoryError.class), new Inline())).isCompletedExceptionally()
            .failsWithin(Duration.ZERO)
            .withThrowableThat()
            .withRootCauseInstanceOf(OutOfMemoryError.class);

        assertAllAreDue();
    }

    @Test
    void anErrorOfTheExecutorFailsTheClaimAndReleasesAllItsMessages() {
        send("a", "b", "c");
        PollerExecutor thread = new Inline() {
            @Override
            public boolean read(Runnable task) {
                throw new OutOfMemoryError("unable to create native thread");
            }
        };

        assertThat(claim(this.components, IDS, thread)).isCompletedExceptionally()
            .failsWithin(Duration.ZERO)
            .withThrowableThat()
            .withRootCauseInstanceOf(OutOfMemoryError.class);

        assertAllAreDue();
    }

    @Test
    void aThreadThatHasEndedLeavesNoMessageLeased() {
        send("a", "b", "c");
        PollerExecutor thread = new Inline() {
            @Override
            public boolean read(Runnable task) {
                return false;
            }
        };

        assertThat(claim(this.components, IDS, thread).join().messages()).isEmpty();

        assertAllAreDue();
    }

    @Test
    void aMessageWhoseStartIsNotRecordedIsReleasedAndTheOthersAreReturned() {
        TemplateFakeStore fake = new TemplateFakeStore(() -> 5_000_000);
        fake.put("q", "a", 0, 1, true, new byte[0]);
        fake.put("q", "b", 0, 0, false, new byte[0]);
        fake.failOn("start", new StoreUnavailableException("away", Effect.UNKNOWN, null));

        Batch<String> batch = claim(new StoreComponents(fake, fake, fake, PARTITIONS), IDS, new Inline()).join();

        assertThat(batch.messages()).containsExactly("b");
        assertThat(batch.leases()).extracting((due) -> due.lease().id()).containsExactly("b");
        assertThat(fake.isLeased("q", "a")).isFalse();
        assertThat(fake.isLeased("q", "b")).isTrue();
    }

    @Test
    void aClaimFailsIfTheStartOfItsOnlyMessageIsNotRecorded() {
        TemplateFakeStore fake = new TemplateFakeStore(() -> 5_000_000);
        fake.put("q", "a", 0, 1, true, new byte[0]);
        StoreUnavailableException away = new StoreUnavailableException("away", Effect.UNKNOWN, null);
        fake.failOn("start", away);

        assertThat(claim(new StoreComponents(fake, fake, fake, PARTITIONS), IDS, new Inline()))
            .failsWithin(Duration.ZERO)
            .withThrowableThat()
            .havingRootCause()
            .isSameAs(away);

        assertThat(fake.isLeased("q", "a")).isFalse();
    }

    @Test
    void aClaimFailsIfItsOnlyMessageCannotBeDeadLettered() {
        TemplateFakeStore fake = new TemplateFakeStore(() -> 5_000_000);
        fake.put("q", "a", 3, 0, false, new byte[0]);
        StoreUnavailableException away = new StoreUnavailableException("away", Effect.NONE, null);
        fake.failOn("deadLetter", away);

        assertThat(claim(new StoreComponents(fake, fake, fake, PARTITIONS), IDS, new Inline()))
            .failsWithin(Duration.ZERO)
            .withThrowableThat()
            .havingRootCause()
            .isSameAs(away);

        assertThat(fake.isLeased("q", "a")).as("or it would be claimed before all others again").isTrue();
    }

    @Test
    void aMessageThatCannotBeDeadLetteredIsLeftOutAndTheOthersAreReturned() {
        TemplateFakeStore fake = new TemplateFakeStore(() -> 5_000_000);
        fake.put("q", "a", 3, 0, false, new byte[0]);
        fake.put("q", "b", 0, 0, false, new byte[0]);
        fake.failOn("deadLetter", new StoreUnavailableException("away", Effect.NONE, null));

        assertThat(claim(new StoreComponents(fake, fake, fake, PARTITIONS), IDS, new Inline()).join().messages())
            .containsExactly("b");
    }

    private static Reader<String> failingOnB(Class<? extends Throwable> failure) {
        return (message, term) -> {
            if (message.lease().id().equals("b")) {
                ReflectionUtils.rethrowRuntimeException(BeanUtils.instantiateClass(failure));
            }
            return message.lease().id();
        };
    }

    private void send(String... ids) {
        this.store
            .schedule(new PartitionTarget(PARTITION, 0),
                    Stream.of(ids).map((id) -> NewMessage.of(id, DueTime.NOW, new byte[] { 1 })).toList())
            .join();
    }

    /** Before their leases run out. */
    private void assertAllAreDue() {
        assertThat(claim(this.components, IDS, new Inline()).join().messages()).containsExactlyInAnyOrder("a", "b",
                "c");
    }

    private static CompletableFuture<Batch<String>> claim(StoreComponents components, Reader<String> reader,
            PollerExecutor thread) {
        LeaseSettler settler = new LeaseSettler(components,
                new DeadLetterPublisher(MessageEventRecorderFactory.NONE, (event) -> {
                }, Runnable::run));
        MessageClaimer<String> claimer = new MessageClaimer<>(components, settler,
                () -> CompletableFuture.completedFuture(reader), LEASE, () -> 0);
        WaitingClaim<String> request = new WaitingClaim<>(10, LEASE, 0, new CompletableFuture<List<String>>());
        return claimer.claim(PARTITION, request, SETTINGS, thread);
    }

    /** Runs everything at once, and timers never. */
    private static class Inline implements PollerExecutor {

        @Override
        public boolean execute(Runnable task) {
            task.run();
            return true;
        }

        @Override
        public Runnable schedule(Runnable task, long nanos) {
            return () -> {
            };
        }

        @Override
        public boolean read(Runnable task) {
            return execute(task);
        }

    }

}
