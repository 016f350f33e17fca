package io.delayqueue.integration.outage;

import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.delayqueue.DelayedSchedule;
import io.delayqueue.ScheduleOperations;
import io.delayqueue.ScheduleSkip;
import io.delayqueue.ScheduleStatus;
import io.delayqueue.ScheduledOccurrence;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.lettuce.core.ScriptOutputType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Redis loses all data while an application runs: the schedules that it declares are back
 * within a minute, and the times in between are recorded.
 */
@Tag("server")
class ScheduleLossIntegrationTests {

    private static final String QUEUE = "pulses";

    private static final Duration RATE = Duration.ofSeconds(1);

    private RedisServer redis;

    @RegisterExtension
    final Applications applications = new Applications();

    @BeforeEach
    void start() {
        this.redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterEach
    void stop() {
        this.applications.close();
        this.redis.close();
    }

    @Test
    @Tag("matrix")
    void declaredSchedulesAreBackAndTheGapIsRecorded() {
        Application application = this.applications.start(Reporting.class, Applications.at(this.redis.port()));
        Pulses pulses = application.context().getBean(Pulses.class);
        ScheduleOperations schedules = application.queue().schedules(QUEUE);
        Applications.await(() -> assertThat(schedules.find("daily")).isPresent());
        Applications.await(() -> assertThat(pulses.times).hasSizeGreaterThan(1));

        Applications.awaitTrue("Redis is emptied while it holds no occurrence", this::empty);
        int handled = pulses.times.size();

        Applications.await(() -> assertThat(schedules.list(null, 10).schedules()).extracting(ScheduleStatus::name)
            .containsExactlyInAnyOrder("pulse", "daily"));
        Applications.await(() -> assertThat(pulses.times).hasSizeGreaterThan(handled + 1));
        assertThat(schedules.find("daily").orElseThrow().nextAt().toString()).endsWith("T06:00:00Z");
        schedules.pause("pulse");
        Applications.awaitTrue("all are handled", () -> this.redis.commands().exists(messages()) == 0);
        assertComplete(List.copyOf(pulses.times), schedules.find("pulse").orElseThrow().skips());
    }

    private boolean empty() {
        String script = "if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end redis.call('FLUSHALL') return 1";
        Long emptied = this.redis.commands().eval(script, ScriptOutputType.INTEGER, messages());
        return emptied == 1;
    }

    private String messages() {
        return "%s:{%s}:messages".formatted(this.applications.namespace(), QUEUE);
    }

    /** Each time was handled once, or lost. */
    private static void assertComplete(List<Instant> handled, List<ScheduleSkip> skips) {
        assertThat(handled).doesNotHaveDuplicates();
        Instant last = Collections.max(handled);
        for (Instant time = Collections.min(handled); time.isBefore(last); time = time.plus(RATE)) {
            Instant each = time;
            boolean lost = skips.stream()
                .anyMatch((skip) -> !each.isBefore(skip.first()) && !each.isAfter(skip.last()));
            assertThat(lost || handled.contains(each)).as("%s in %s or %s", each, handled, skips).isTrue();
        }
    }

    static class Pulses {

        final List<Instant> times = new CopyOnWriteArrayList<>();

        @DelayedSchedule(name = "pulse", fixedRate = "1s", queue = QUEUE)
        @DelayedSchedule(name = "daily", cron = "0 0 6 * * *", queue = QUEUE)
        void handle(ScheduledOccurrence occurrence) {
            if (occurrence.name().equals("pulse")) {
                this.times.add(occurrence.nominalTime());
            }
        }

    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Reporting {

        @Bean
        Pulses pulses() {
            return new Pulses();
        }

    }

}
