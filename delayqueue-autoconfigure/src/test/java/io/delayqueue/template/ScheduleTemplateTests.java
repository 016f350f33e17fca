package io.delayqueue.template;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.MisfirePolicy;
import io.delayqueue.OverlapPolicy;
import io.delayqueue.PayloadTooLargeException;
import io.delayqueue.QueueName;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.ScheduleChangeResult;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleOperations;
import io.delayqueue.SchedulePage;
import io.delayqueue.SchedulePutResult;
import io.delayqueue.ScheduleSkip;
import io.delayqueue.ScheduleStatus;
import io.delayqueue.SendOutcome;
import io.delayqueue.SkipReason;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.consume.ConsumeSettings;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.UnreadableScheduleException;
import io.delayqueue.store.routing.QueueRegistrar;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.store.schedule.DeclaredScheduleRegistrar;
import io.delayqueue.store.schedule.LocalSchedules;
import io.delayqueue.store.schedule.OccurrenceEvents;
import io.delayqueue.store.schedule.ScheduleChange;
import io.delayqueue.store.schedule.ScheduleState;
import io.delayqueue.store.schedule.ScheduleStore;
import org.junit.jupiter.api.Test;

import org.springframework.core.ParameterizedTypeReference;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Verifies the operations on schedules, with a clock that the test moves. */
class ScheduleTemplateTests {

    private static final Duration HOUR = Duration.ofHours(1);

    private final AtomicLong micros = new AtomicLong(3_600_000_000L * 1_000);

    private final InMemoryMessageStore store = new InMemoryMessageStore(TemplateFixture.CODEC, this.micros::get);

    private final LocalSchedules local = new LocalSchedules(this.store.schedules(), TemplateFixture.CODEC,
            LocalSchedules.MISFIRE_THRESHOLD, "");

    private final OccurrenceCounts counts = new OccurrenceCounts();

    private final DelayQueueTemplate template = new DelayQueueTemplate(new StoreComponents(this.store, this.store,
            this.store, TemplateFixture.PARTITIONS, this.counts, QueueRegistrar.NONE, this.local),
            TemplateFixture.CODEC,
            new TemplateSettings(1000, false, TemplateFixture.AGES,
                    (queue) -> new ConsumeSettings(TemplateFixture.LEASE, 2, 2, ExpiryPolicy.DROP,
                            Duration.ofSeconds(20), (failures) -> Duration.ZERO)),
            (event) -> {
            }, System::nanoTime);

    private final ScheduleOperations schedules = this.template.schedules("q");

    private static ScheduleDefinition hourly() {
        return ScheduleDefinition.fixedRate("hourly", HOUR).payload(Map.of("number", 42)).build();
    }

    private Instant now() {
        return Instant.ofEpochMilli(this.micros.get() / 1_000);
    }

    private void advance(Duration time) {
        this.micros.addAndGet(time.toNanos() / 1_000);
    }

    private ScheduleStatus status() {
        return this.schedules.find("hourly").orElseThrow();
    }

    @Test
    void aScheduleThatWasPutIsFoundAndListed() {
        assertThat(this.schedules.put(hourly())).isEqualTo(SchedulePutResult.CREATED);
        assertThat(this.schedules.put(hourly())).isEqualTo(SchedulePutResult.UNCHANGED);

        assertThat(status()).satisfies((schedule) -> {
            assertThat(schedule.queue()).isEqualTo("q");
            assertThat(schedule.definition().fixedRate()).contains(HOUR);
            assertThat(schedule.payload()).isEqualTo("{\"number\":42}");
            assertThat(schedule.owner()).isNull();
            assertThat(schedule.nextAt()).isEqualTo(now().plus(HOUR));
            assertThat(schedule.lastAt()).isNull();
        });
        assertThat(this.schedules.list(null, 10).schedules()).extracting(ScheduleStatus::name)
            .containsExactly("hourly");
        assertThat(this.schedules.preview("hourly", 2)).containsExactly(now().plus(HOUR), now().plus(HOUR).plus(HOUR));
        assertThat(this.schedules.find("other")).isEmpty();
        assertThat(this.schedules.preview("other", 2)).isEmpty();
    }

    @Test
    void otherSettingsWithTheSameTimesKeepTheChain() {
        this.schedules.put(hourly());
        advance(HOUR.minusMinutes(1));
        Instant next = status().nextAt();

        assertThat(this.schedules.put(hourly().toBuilder().priority(9).build())).isEqualTo(SchedulePutResult.REPLACED);

        assertThat(status().nextAt()).isEqualTo(next);
        assertThat(status().definition().priority()).isEqualTo(9);
    }

    @Test
    void aScheduleBeginsAtAGivenTimeThatIsPastAndIsAddedOnce() {
        Instant from = now().minus(HOUR.multipliedBy(2));
        assertThat(this.schedules.putIfAbsent(hourly(), from)).isTrue();
        assertThat(status().nextAt()).isEqualTo(from);

        assertThat(this.schedules.putIfAbsent(hourly().toBuilder().priority(9).build(), now().plus(HOUR))).isFalse();

        assertThat(status().nextAt()).isEqualTo(from);
        assertThat(status().definition()).returns(4, ScheduleDefinition::priority);
        this.schedules.pause("hourly"); // decides what is due
        assertThat(receive().id()).isEqualTo("@hourly@" + now().toEpochMilli());
        assertThat(status().skipped()).isEqualTo(Map.of(SkipReason.MISFIRE, 2L));
        assertThat(this.schedules.putIfAbsent(hourly(), from)).isFalse();
    }

    @Test
    void aScheduleThatBeginsAtTheEpochIsFired() {
        assertThat(this.schedules.putIfAbsent(hourly(), Instant.MIN)).isTrue();

        assertThat(status().nextAt()).isEqualTo(Instant.EPOCH.plus(HOUR));
    }

    @Test
    void aScheduleBeginsAtAGivenTimeThatIsAhead() {
        this.schedules.putIfAbsent(hourly(), now().plus(HOUR.multipliedBy(5)).plusMillis(1));

        assertThat(status().nextAt()).isEqualTo(now().plus(HOUR.multipliedBy(6)));
    }

    @Test
    void otherTimesBeginAfterNowAndOnesThatAreDueAreDecidedBefore() {
        this.schedules.put(hourly());
        advance(HOUR.plusSeconds(5));
        Instant due = status().nextAt();

        this.schedules.put(ScheduleDefinition.fixedRate("hourly", HOUR.multipliedBy(24)).build());

        assertThat(status().lastAt()).isEqualTo(due);
        assertThat(status().nextAt()).isAfter(now()).isEqualTo(this.schedules.preview("hourly", 1).get(0));
        assertThat(receive().id()).isEqualTo("@hourly@" + due.toEpochMilli());
    }

    /** Its time matches the other definition too, and comes again. */
    @Test
    void otherTimesRepeatNoOccurrenceAfterAStepBackOfTheStoresClock() {
        this.schedules.put(hourly());
        advance(HOUR);
        this.schedules.pause("hourly"); // decides what is due
        this.schedules.resume("hourly");
        Instant sent = now();
        assertThat(status().lastAt()).isEqualTo(sent);
        advance(Duration.ofMinutes(-1));

        this.schedules.put(ScheduleDefinition.fixedRate("hourly", HOUR.dividedBy(2)).build());

        assertThat(status().nextAt()).isEqualTo(sent.plus(HOUR.dividedBy(2)));
    }

    /** The reply to the first run of the script is lost, and the client repeats it. */
    @Test
    void aChangeThatTheClientRepeatsIsAnsweredAsTheFirstTime() {
        this.local.wrapStore((store) -> intercepted(store, "change", (call) -> {
            call.get();
            return call.get();
        }));

        assertThat(this.schedules.putIfAbsent(hourly(), now())).isTrue();
        assertThat(this.schedules.putIfAbsent(hourly(), now())).isFalse();
        assertThat(this.schedules.pause("hourly")).isEqualTo(ScheduleChangeResult.DONE);
        assertThat(this.schedules.resume("hourly")).isEqualTo(ScheduleChangeResult.DONE);
        assertThat(this.schedules.put(hourly().toBuilder().priority(9).build())).isEqualTo(SchedulePutResult.REPLACED);
        assertThat(this.schedules.remove("hourly")).isEqualTo(ScheduleChangeResult.NOT_FOUND);
        assertThat(this.schedules.put(hourly())).isEqualTo(SchedulePutResult.CREATED);
    }

    /** Otherwise it would undo what its caller, or another one, has done since. */
    @Test
    void aChangeThatItsCallerNoLongerWaitsForIsNotRepeated() {
        this.schedules.put(hourly());
        Thread caller = Thread.currentThread();
        AtomicInteger attempts = new AtomicInteger();
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        this.local.wrapStore((store) -> intercepted(store, "find", (call) -> {
            attempts.incrementAndGet();
            return call.get();
        }));
        this.local.wrapStore((store) -> intercepted(store, "change", (call) -> {
            caller.interrupt();
            return answer;
        }));

        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> this.schedules.pause("hourly"));
        assertThat(Thread.interrupted()).isTrue();
        answer.complete(false);

        assertThat(attempts).hasValue(1);
    }

    @Test
    void aPauseSkipsWhatIsDueUntilTheResumption() {
        this.schedules.put(hourly().toBuilder().misfire(MisfirePolicy.ALL).build());
        assertThat(this.schedules.pause("hourly")).isEqualTo(ScheduleChangeResult.DONE);
        assertThat(this.schedules.pause("hourly")).isEqualTo(ScheduleChangeResult.UNCHANGED);
        advance(HOUR.multipliedBy(3));

        assertThat(this.schedules.resume("hourly")).isEqualTo(ScheduleChangeResult.DONE);

        assertThat(status().paused()).isFalse();
        assertThat(status().skipped()).isEqualTo(Map.of(SkipReason.PAUSED, 3L));
        assertThat(status().nextAt()).isEqualTo(now().plus(HOUR));
        assertThat(this.schedules.pause("other")).isEqualTo(ScheduleChangeResult.NOT_FOUND);
    }

    @Test
    void aScheduleWhoseFiringTakesLongerThanItsRateIsPausedAndResumed() {
        this.schedules.put(hourly());
        advance(HOUR);
        this.local.wrapStore(this::slowToFire);

        assertThat(this.schedules.pause("hourly")).isEqualTo(ScheduleChangeResult.DONE);
        assertThat(status().sent()).isOne();
        assertThat(status().nextAt()).isEqualTo(now());

        assertThat(this.schedules.resume("hourly")).isEqualTo(ScheduleChangeResult.DONE);
        assertThat(status().sent()).isOne();
        assertThat(status().skipped()).isEqualTo(Map.of(SkipReason.PAUSED, 1L));
        assertThat(status().nextAt()).isEqualTo(now());
    }

    /** No time of either definition is left out that the other one has not decided. */
    @Test
    void aScheduleWhoseFiringTakesLongerThanItsRateGetsOtherTimes() {
        this.schedules.put(hourly());
        advance(HOUR);
        this.local.wrapStore(this::slowToFire);

        assertThat(this.schedules.put(ScheduleDefinition.fixedRate("hourly", HOUR.dividedBy(2)).build()))
            .isEqualTo(SchedulePutResult.REPLACED);

        assertThat(status().sent()).isOne();
        assertThat(status().lastAt()).isEqualTo(now().minus(HOUR));
        assertThat(status().nextAt()).isEqualTo(now());
    }

    private ScheduleStore slowToFire(ScheduleStore store) {
        return intercepted(store, "fire", (call) -> {
            Object answer = call.get();
            advance(HOUR);
            return answer;
        });
    }

    private static ScheduleStore intercepted(ScheduleStore store, String method,
            Function<Supplier<Object>, Object> interceptor) {
        return (ScheduleStore) Proxy.newProxyInstance(ScheduleStore.class.getClassLoader(),
                new Class<?>[] { ScheduleStore.class }, (proxy, called, arguments) -> {
                    Supplier<Object> call = () -> ReflectionUtils.invokeMethod(called, store, arguments);
                    return called.getName().equals(method) ? interceptor.apply(call) : call.get();
                });
    }

    @Test
    void occurrencesThatAChangeDecidesAboutAreCounted() {
        this.schedules.put(hourly().toBuilder().misfire(MisfirePolicy.ALL).build());
        advance(HOUR.multipliedBy(2));
        this.schedules.pause("hourly");
        assertThat(this.counts.sent).containsExactly(SendOutcome.SCHEDULED, SendOutcome.SCHEDULED);
        assertThat(this.counts.skipped).isEmpty();

        advance(HOUR.multipliedBy(3));
        this.schedules.resume("hourly");

        assertThat(this.counts.sent).hasSize(2);
        assertThat(this.counts.skipped).isEqualTo(Map.of(SkipReason.PAUSED, 3L));
    }

    /** Such a process may have become the firing node. */
    @Test
    void aProcessTakesPartThoughTheAnswerToItsPutIsLost() {
        this.local.wrapStore((store) -> new AnswerlessScheduleStore(store, Effect.UNKNOWN));

        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> this.schedules.put(hourly()));

        assertThat(this.local.isAdded(new QueueName("q"))).isTrue();
        assertThat(status().nextAt()).isEqualTo(now().plus(HOUR));
    }

    @Test
    void aProcessTakesNoPartIfItsPutHadNoEffect() {
        this.local.wrapStore((store) -> new AnswerlessScheduleStore(store, Effect.NONE));

        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> this.schedules.put(hourly()));

        assertThat(this.local.isAdded(new QueueName("q"))).isFalse();
    }

    @Test
    void anApplicationWithoutTheJournalOfALedgerDecidesNothing() {
        this.schedules.put(hourly());
        this.store.partitionRecords()
            .replace(new QueueName("q"), Optional.empty(), PartitionLayout.ONE.ofLedger(true))
            .join();
        assertThat(this.schedules.pause("hourly")).isEqualTo(ScheduleChangeResult.DONE);
        this.schedules.resume("hourly");
        advance(HOUR);

        assertThatExceptionOfType(StoreRefusedException.class).isThrownBy(() -> this.schedules.pause("hourly"))
            .withMessageContaining("'q'")
            .withMessageContaining("delayqueue.journal.mode");

        assertThat(status().sent()).isZero();
        assertThat(status().nextAt()).isEqualTo(now());
    }

    @Test
    void theOwnerIsTheNameOfTheApplication() {
        LocalSchedules declaring = new LocalSchedules(this.store.schedules(), TemplateFixture.CODEC,
                LocalSchedules.MISFIRE_THRESHOLD, "Über reports+1");
        declaring.declare(new QueueName("q"), hourly(), "{}");
        new DeclaredScheduleRegistrar(declaring, new QueueName("q"), OccurrenceEvents.NONE, Runnable::run).assertAll()
            .join();

        assertThat(status().owner()).isEqualTo("Über reports+1");
        assertThat(this.schedules.list(null, 1).schedules()).extracting(ScheduleStatus::owner)
            .containsExactly("Über reports+1");
    }

    @Test
    void aTriggeredOccurrenceIsSentNow() {
        this.schedules.put(hourly());

        assertThat(this.schedules.trigger("hourly")).isPresent();

        assertThat(receive()).satisfies((message) -> {
            assertThat(message.id()).isEqualTo("@hourly@%d-triggered", now().toEpochMilli());
            assertThat(message.payload(new ParameterizedTypeReference<Map<String, Integer>>() {
            })).isEqualTo(Map.of("number", 42));
        });
        assertThat(status().nextAt()).isEqualTo(now().plus(HOUR));
        assertThat(status().sent()).isZero();
    }

    @Test
    void aTriggeredOccurrenceWaitsForThoseOfItsGroup() {
        this.schedules.put(hourly().toBuilder().overlap(OverlapPolicy.QUEUE).build());
        advance(HOUR);
        this.schedules.pause("hourly"); // decides what is due
        assertThat(receive().id()).isEqualTo("@hourly@" + now().toEpochMilli());

        assertThat(this.schedules.trigger("hourly")).isPresent();

        assertThat(receive()).isNull();
    }

    @Test
    void eachTriggerSendsAnOccurrenceAlsoWithinAMillisecond() {
        this.schedules.put(hourly());

        this.schedules.trigger("hourly");
        this.schedules.trigger("hourly");

        assertThat(List.of(receive().id(), receive().id())).containsExactlyInAnyOrder(
                "@hourly@%d-triggered".formatted(now().toEpochMilli()),
                "@hourly@%d-triggered".formatted(now().toEpochMilli() + 1));
    }

    @Test
    void aRemovedScheduleIsGoneAndMayBePutAgain() {
        this.schedules.put(hourly());

        assertThat(this.schedules.remove("hourly")).isEqualTo(ScheduleChangeResult.DONE);
        assertThat(this.schedules.remove("hourly")).isEqualTo(ScheduleChangeResult.NOT_FOUND);
        assertThat(this.schedules.find("hourly")).isEmpty();
        assertThat(this.schedules.put(hourly())).isEqualTo(SchedulePutResult.CREATED);
    }

    @Test
    void allSchedulesAreListedByPages() {
        for (int i = 0; i < 25; i++) {
            this.schedules.put(ScheduleDefinition.fixedRate("schedule-" + i, HOUR.plusSeconds(i)).build());
        }
        List<String> names = new ArrayList<>();
        String cursor = null;
        do {
            SchedulePage page = this.schedules.list(cursor, 10);
            page.schedules().forEach((schedule) -> names.add(schedule.name()));
            cursor = page.nextCursor();
        }
        while (cursor != null);

        assertThat(names).hasSize(25).doesNotHaveDuplicates();
    }

    @Test
    void whatIsNotValidIsRejected() {
        ScheduleDefinition large = hourly().toBuilder().payload("x".repeat(2_000)).build();
        assertThatExceptionOfType(PayloadTooLargeException.class).isThrownBy(() -> this.schedules.put(large));
        assertThatIllegalArgumentException().isThrownBy(() -> this.schedules.pause("not a name"));
        assertThatIllegalArgumentException().isThrownBy(() -> this.schedules.list(null, 101));
        assertThatIllegalArgumentException().isThrownBy(() -> this.schedules.list("nonsense", 10));
        assertThatIllegalArgumentException().isThrownBy(() -> this.schedules.preview("hourly", 0));
    }

    @Test
    void aScheduleThatIsNotReadableIsListedAndHidesNoOthers() {
        this.schedules.put(hourly());
        breakSchedule();

        SchedulePage page = this.schedules.list(null, 10);

        assertThat(page.schedules()).extracting(ScheduleStatus::name).containsExactly("hourly");
        assertThat(page.unreadable()).singleElement().satisfies((schedule) -> {
            assertThat(schedule.queue()).isEqualTo("q");
            assertThat(schedule.name()).isEqualTo("broken");
            assertThat(schedule.owner()).isNull();
            assertThat(schedule.reason()).contains("not valid");
        });
        assertThat(this.schedules.find("broken")).isEmpty();
    }

    @Test
    void aScheduleThatIsNotReadableIsRefusedUntilItIsPutAgainOrRemoved() {
        Instant due = breakSchedule();
        assertThatExceptionOfType(UnreadableScheduleException.class).isThrownBy(() -> this.schedules.trigger("broken"));
        assertThat(this.schedules.pause("broken")).isEqualTo(ScheduleChangeResult.DONE);

        assertThat(this.schedules.put(ScheduleDefinition.fixedRate("broken", HOUR).build()))
            .isEqualTo(SchedulePutResult.REPLACED);

        assertThat(this.schedules.find("broken")).hasValueSatisfying((schedule) -> {
            assertThat(schedule.paused()).isTrue();
            assertThat(schedule.nextAt()).isEqualTo(now().plus(HOUR));
            assertThat(schedule.skips()).containsExactly(new ScheduleSkip(SkipReason.REDEFINED, due, due, 1));
        });
        this.schedules.remove("broken");
        breakSchedule();
        assertThat(this.schedules.remove("broken")).isEqualTo(ScheduleChangeResult.DONE);
        assertThat(this.schedules.list(null, 10).unreadable()).isEmpty();
    }

    /** Stores a schedule that is due and not readable. */
    private Instant breakSchedule() {
        long due = now().toEpochMilli();
        this.store.schedules()
            .change(new QueueName("q"),
                    new ScheduleChange("broken", null, new ScheduleState(1, due, 0, due, 0, 0, false, "", "{}\n1"),
                            null, null))
            .join();
        return now();
    }

    private ReceivedMessage receive() {
        return this.template.receive("q", Duration.ZERO).orElse(null);
    }

}
