package io.delayqueue.test;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedSchedule;
import io.delayqueue.ScheduleChangeResult;
import io.delayqueue.ScheduledOccurrence;
import io.delayqueue.test.DeclaredScheduleTests.Reports;
import io.delayqueue.test.autoconfigure.DelayQueueTest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

/** Verifies a schedule that a method declares, from the start of the application on. */
@DelayQueueTest
@Import(Reports.class)
class DeclaredScheduleTests {

    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

    @Autowired
    private DelayQueueTester tester;

    @Autowired
    private DelayQueueOperations queue;

    @Autowired
    private Reports reports;

    @BeforeEach
    void clear() {
        this.reports.occurrences.clear();
    }

    @Test
    @Tag("long")
    void firesEachDayOfAYear() {
        assertThat(this.tester.advance(Duration.ofDays(365))).hasSucceeded(365).hasNoOthers();

        List<ScheduledOccurrence> all = this.reports.occurrences;
        assertThat(all)
            .allSatisfy((occurrence) -> assertThat(occurrence.nominalTime().atZone(BERLIN).getHour()).isEqualTo(6));
        assertThat(all.get(0).previous()).isNull();
        for (int i = 1; i < all.size(); i++) {
            assertThat(all.get(i).previous()).isEqualTo(all.get(i - 1).nominalTime());
            assertThat(all.get(i - 1).next()).isEqualTo(all.get(i).nominalTime());
        }
    }

    @Test
    void aDeclaredScheduleExistsWhenATestBegins() {
        assertThat(this.queue.schedules("daily-reports").preview("daily", 1)).hasSize(1);
        assertThat(this.queue.schedules("daily-reports").pause("daily")).isEqualTo(ScheduleChangeResult.DONE);
        assertThat(this.tester.advance(Duration.ofDays(3))).isEmpty();
    }

    @Test
    void aMessageOfNoScheduleHasNoOccurrence() {
        this.queue.send("daily-reports", "text");

        assertThat(this.tester.advance(Duration.ofMinutes(1))).hasSucceeded(1);
        assertThat(this.reports.occurrences).containsExactly((ScheduledOccurrence) null);
    }

    @Test
    void aDeclaredScheduleCanBePausedAndNotRemoved() {
        this.tester.advance(Duration.ofMinutes(1));

        assertThat(this.queue.schedules("daily-reports").remove("daily")).isEqualTo(ScheduleChangeResult.DECLARED);
        assertThat(this.queue.schedules("daily-reports").pause("daily")).isEqualTo(ScheduleChangeResult.DONE);
        assertThat(this.tester.advance(Duration.ofDays(3))).isEmpty();
        assertThat(this.queue.schedules("daily-reports").find("daily")).hasValueSatisfying((schedule) -> {
            assertThat(schedule.owner()).isEqualTo("?");
            assertThat(schedule.paused()).isTrue();
            assertThat(schedule.nextAt()).isAfter(this.tester.now());
        });
        assertThat(this.queue.schedules("daily-reports").preview("daily", 1)).first()
            .satisfies((time) -> assertThat(Instant.from(time).atZone(BERLIN).getHour()).isEqualTo(6));
    }

    static class Reports {

        final List<@Nullable ScheduledOccurrence> occurrences = Collections.synchronizedList(new ArrayList<>());

        @DelayedSchedule(name = "daily", cron = "0 0 6 * * *", zone = "Europe/Berlin", queue = "daily-reports")
        void report(@Nullable ScheduledOccurrence occurrence) {
            this.occurrences.add(occurrence);
        }

    }

}
