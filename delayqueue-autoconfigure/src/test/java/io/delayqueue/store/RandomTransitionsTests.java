package io.delayqueue.store;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.delayqueue.CancelResult;
import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.fixtures.store.RandomTransitions;
import io.delayqueue.fixtures.store.RandomTransitions.Checks;
import io.delayqueue.fixtures.store.RandomTransitions.Ports;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests the random walk itself: it reaches every answer, accepts a correct store and
 * notices defects.
 */
class RandomTransitionsTests {

    private static final int STEPS = Integer.getInteger("dq.random.steps", 5_000);

    private final ManualClock clock = new ManualClock();

    @Test
    void agreesWithTheModelItself() {
        AtomicInteger steps = new AtomicInteger();
        AtomicInteger ends = new AtomicInteger();
        RandomTransitions transitions = new RandomTransitions(RandomTransitions.seed(), this.clock, ports(store()),
                ports(store()), new Checks(steps::incrementAndGet, ends::incrementAndGet));

        transitions.walk(STEPS);
        transitions.drain();

        assertThat(steps).hasValue(STEPS);
        assertThat(ends).hasValue(1);
    }

    @Test
    void getsEveryAnswerOfEveryOperation() {
        RandomTransitions transitions = new RandomTransitions(1, this.clock, ports(store()), ports(store()),
                Checks.NONE);

        transitions.walk(5_000);

        Stream<String> enums = Stream
            .of(Stream.of(SendOutcome.values())
                .filter((outcome) -> outcome != SendOutcome.DEFERRED && outcome != SendOutcome.RECORDED)
                .map((outcome) -> "send " + outcome),
                    Stream.of(CancelResult.CANCELLED, CancelResult.LEASED, CancelResult.NOT_FOUND)
                        .map((result) -> "cancel " + result),
                    Stream.of(RescheduleResult.RESCHEDULED, RescheduleResult.LEASED, RescheduleResult.NOT_FOUND)
                        .map((result) -> "reschedule " + result),
                    // No message of the memory store is without content.
                    Stream.of(RedriveResult.values())
                        .filter((result) -> result != RedriveResult.EMPTY)
                        .map((result) -> "redrive " + result))
            .flatMap((values) -> values);
        Stream<String> flags = Stream
            .of("acknowledge", "retry", "release", "give back", "extend", "start", "deadLetter", "purge",
                    "purgeOlderThan")
            .flatMap((operation) -> Stream.of(operation + " true", operation + " false"));
        Stream<String> claims = Stream.of("claim a message", "claim a redelivered message", "claim lapses",
                "claim no lapses", "claim expired", "claim none expired", "send refused");
        assertThat(transitions.answers())
            .containsExactlyInAnyOrderElementsOf(Stream.of(enums, flags, claims).flatMap((all) -> all).toList());
    }

    @ParameterizedTest
    @EnumSource
    void noticesAStoreThat(Defect defect) {
        InMemoryMessageStore broken = store();
        RandomTransitions transitions = new RandomTransitions(1, this.clock, ports(store()),
                new Ports(defect.in(broken), broken, broken.queueInspector()), Checks.NONE);

        assertThatThrownBy(() -> transitions.walk(STEPS)).isInstanceOf(AssertionError.class)
            .hasMessageStartingWith("-Ddq.seed=1: they differ in ");
    }

    private InMemoryMessageStore store() {
        return new InMemoryMessageStore(new EnvelopeCodec(JsonMapper.shared()), this.clock);
    }

    private static Ports ports(InMemoryMessageStore store) {
        return new Ports(store, store, store.queueInspector());
    }

    /** Defects of a store. */
    enum Defect {

        TAKES_KEEP_FOR_REPLACE("schedule") {
            @Override
            Object answer(MessageStore store, Object[] arguments) {
                return sent(store, arguments, OnDuplicate.REPLACE, 0, true);
            }
        },

        MAKES_MESSAGES_DUE_EARLY("schedule") {
            @Override
            Object answer(MessageStore store, Object[] arguments) {
                return sent(store, arguments, null, 1, true);
            }
        },

        KNOWS_NO_PRIORITIES("schedule") {
            @Override
            Object answer(MessageStore store, Object[] arguments) {
                return sent(store, arguments, null, 0, false);
            }
        },

        KNOWS_NO_GROUPS("schedule") {
            @Override
            Object answer(MessageStore store, Object[] arguments) {
                List<NewMessage> plain = ((List<?>) arguments[1]).stream()
                    .map(NewMessage.class::cast)
                    .map((sent) -> new NewMessage(sent.id(), sent.generated(), sent.due(), sent.onDuplicate(),
                            sent.priority(), sent.timeToLive(), null, sent.envelope()))
                    .toList();
                return store.schedule((PartitionTarget) arguments[0], plain);
            }
        },

        DROPS_WHAT_EXPIRED("claim") {
            @Override
            Object answer(MessageStore store, Object[] arguments) {
                return store.claim((Partition) arguments[0], dropping((ClaimRequest) arguments[1]));
            }
        },

        DOES_NOT_FENCE("acknowledge") {
            @Override
            Object answer(MessageStore store, Object[] arguments) {
                List<Boolean> done = store.acknowledge((Partition) arguments[0], leases(arguments[1])).join();
                return CompletableFuture.completedFuture(done.stream().map((each) -> true).toList());
            }
        },

        DOES_NOT_EXTEND("extend") {
            @Override
            Object answer(MessageStore store, Object[] arguments) {
                return store.extend((Partition) arguments[0], leases(arguments[1]), Duration.ZERO);
            }
        },

        FORGETS_DUE_TIMES("release") {
            @Override
            Object answer(MessageStore store, Object[] arguments) {
                List<Lease> leases = ((List<?>) arguments[1]).stream()
                    .map((each) -> (each instanceof UnstartedLease due) ? due.lease() : (Lease) each)
                    .toList();
                return store.release((Partition) arguments[0], leases,
                        (arguments.length > 2) ? (Duration) arguments[2] : Duration.ZERO);
            }
        },

        DOES_NOT_COUNT_FAILURES("retry") {
            @Override
            Object answer(MessageStore store, Object[] arguments) {
                Lease lease = (Lease) arguments[0];
                return store.release(lease.partition(), List.of(lease), (Duration) arguments[1])
                    .thenApply((done) -> done.get(0));
            }
        },

        RECORDS_NO_STARTS("start") {
            @Override
            Object answer(MessageStore store, Object[] arguments) {
                Lease lease = (Lease) arguments[0];
                return store.extend(lease.partition(), List.of(lease), Duration.ZERO).thenApply((done) -> done.get(0));
            }
        };

        private final String method;

        Defect(String method) {
            this.method = method;
        }

        abstract Object answer(MessageStore store, Object[] arguments);

        MessageStore in(MessageStore store) {
            return (MessageStore) Proxy.newProxyInstance(getClass().getClassLoader(),
                    new Class<?>[] { MessageStore.class }, (proxy, called, arguments) -> {
                        try {
                            return called.getName().equals(this.method) ? answer(store, arguments)
                                    : called.invoke(store, arguments);
                        }
                        catch (InvocationTargetException ex) {
                            throw ex.getCause();
                        }
                    });
        }

        private static Object sent(MessageStore store, Object[] arguments, OnDuplicate forced, long early,
                boolean lanes) {
            List<NewMessage> changed = new ArrayList<>();
            for (Object each : (List<?>) arguments[1]) {
                NewMessage message = (NewMessage) each;
                DueTime due = new DueTime(Math.max(0, message.due().millis() - early), message.due().relative());
                changed.add(new NewMessage(message.id(), message.generated(), due,
                        (forced != null) ? forced : message.onDuplicate(),
                        lanes ? message.priority() : MessageLimits.NORMAL_PRIORITY, message.timeToLive(),
                        message.group(), message.envelope()));
            }
            return store.schedule((PartitionTarget) arguments[0], changed);
        }

        private static ClaimRequest dropping(ClaimRequest request) {
            return new ClaimRequest(request.limit(), request.leaseTime(), ExpiryPolicy.DROP, request.bid(),
                    request.usualLease());
        }

        private static List<Lease> leases(Object argument) {
            return ((List<?>) argument).stream().map(Lease.class::cast).toList();
        }

    }

}
