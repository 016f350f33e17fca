package io.delayqueue.test;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

import io.delayqueue.DelayedListener;
import io.delayqueue.Delivery;
import io.delayqueue.MisfirePolicy;
import io.delayqueue.OverlapPolicy;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleOperations;
import io.delayqueue.ScheduleSkip;
import io.delayqueue.SkipReason;
import io.delayqueue.listener.DelayedListenerLifecycle;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;

/** Verifies that schedules fire in virtual time, on each store. */
abstract class ScheduleTimeCases extends TesterCase {

    static final String REPORTS = "reports";

    @Autowired
    private Reports reports;

    @Autowired
    private DelayedListenerLifecycle listeners;

    private ScheduleOperations schedules;

    @BeforeEach
    void operations() {
        this.schedules = this.queue.schedules(REPORTS);
        this.reports.times.clear();
    }

    private List<Instant> times(int count, Duration interval) {
        List<Instant> times = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            times.add(at(interval.multipliedBy(i)));
        }
        return times;
    }

    private void putHourly(MisfirePolicy misfire, int catchUpLimit) {
        this.schedules.put(ScheduleDefinition.fixedRate("hourly", Duration.ofHours(1))
            .misfire(misfire)
            .catchUpLimit(catchUpLimit)
            .build());
    }

    @Test
    void anOutageOfThreeDaysIsDecidedByThePolicy() {
        assertThat(afterOutage(MisfirePolicy.ONCE, 100)).containsExactly(at(Duration.ofHours(72)));
        assertThat(afterOutage(MisfirePolicy.SKIP, 100)).isEmpty();
        assertThat(afterOutage(MisfirePolicy.ALL, 100)).isEqualTo(times(72, Duration.ofHours(1)));
        assertThat(afterOutage(MisfirePolicy.ALL, 10)).isEqualTo(times(72, Duration.ofHours(1)).subList(62, 72));
    }

    /** The application is down for three days, until two minutes after a full hour. */
    private List<Instant> afterOutage(MisfirePolicy misfire, int catchUpLimit) {
        this.start = this.tester.now().truncatedTo(ChronoUnit.HOURS).plus(Duration.ofHours(1));
        this.tester.advanceTo(this.start.plusSeconds(120));
        putHourly(misfire, catchUpLimit);
        this.listeners.stop();
        this.tester.advance(Duration.ofDays(3));
        this.reports.times.clear();
        this.listeners.start();
        this.tester.drain();
        List<Instant> times = this.reports.times.stream().sorted().toList();
        this.tester.advance(Duration.ofHours(1));
        assertThat(this.reports.times).hasSize(times.size() + 1);
        this.schedules.remove("hourly");
        return times;
    }

    @Test
    void anOccurrenceThatIsSkippedIsRecorded() {
        putHourly(MisfirePolicy.ONCE, 100);
        Instant first = this.schedules.preview("hourly", 1).get(0);
        this.schedules.pause("hourly");
        this.tester.advance(Duration.ofHours(3));
        this.schedules.resume("hourly");

        assertThat(this.tester.advance(Duration.ofHours(1))).hasSucceeded(1).hasNoOthers();
        assertThat(this.schedules.find("hourly")).hasValueSatisfying((schedule) -> {
            assertThat(schedule.skipped()).isEqualTo(Map.of(SkipReason.PAUSED, 3L));
            assertThat(schedule.skips())
                .containsExactly(new ScheduleSkip(SkipReason.PAUSED, first, first.plus(Duration.ofHours(2)), 3));
            assertThat(schedule.lastAt()).isEqualTo(first.plus(Duration.ofHours(3)));
        });
    }

    @Test
    void aTriggeredOccurrenceIsAdditional() {
        putHourly(MisfirePolicy.ONCE, 100);

        assertThat(this.schedules.trigger("hourly")).hasValueSatisfying(
                (sent) -> assertThat(sent.id()).isEqualTo("@hourly@%d-triggered", this.start.toEpochMilli()));

        assertThat(this.tester.advance(Duration.ZERO)).hasSucceeded(1).hasNoOthers();
        assertThat(this.tester.advance(Duration.ofHours(2))).hasSucceeded(2).hasNoOthers();
        assertThat(this.schedules.trigger("other")).isEmpty();
    }

    @Test
    void occurrencesOfAScheduleThatQueuesAreHandledInOrder() {
        this.schedules
            .put(ScheduleDefinition.fixedRate("quick", Duration.ofSeconds(1)).overlap(OverlapPolicy.QUEUE).build());
        this.queue.pause(REPORTS);
        this.tester.advance(Duration.ofSeconds(30));
        this.queue.resume(REPORTS);

        assertThat(this.tester.advance(Duration.ZERO)).hasSucceeded(30).hasNoOthers();
        assertThat(this.reports.times).isSorted();
    }

    @Test
    void occurrencesAreExactThoughTheirScheduleHasJitter() {
        this.schedules
            .put(ScheduleDefinition.fixedRate("spread", Duration.ofHours(1)).jitter(Duration.ofMinutes(10)).build());
        Instant first = this.schedules.preview("spread", 1).get(0);

        assertThat(this.tester.advance(Duration.ofHours(3))).hasSucceeded(3).hasNoOthers();
        assertThat(this.reports.times).containsExactly(first, first.plus(Duration.ofHours(1)),
                first.plus(Duration.ofHours(2)));
    }

    static class Reports {

        final List<Instant> times = Collections.synchronizedList(new ArrayList<>());

        @DelayedListener(REPORTS)
        void report(Object payload, Delivery delivery) {
            this.times.add(delivery.dueAt());
        }

    }

}
