package io.delayqueue.move;

import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.delayqueue.MisfirePolicy;
import io.delayqueue.OverlapPolicy;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleOperations;
import io.delayqueue.ScheduleStatus;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/** Moves the cron triggers of real versions of Quartz, which become schedules. */
@Tag("server")
class QuartzScheduleTests extends QuartzTestBase {

    private static final int TRIGGERS = 16;

    private static final String MONDAYS = "0 0 6 ? * 2";

    @Override
    String jobs() {
        return "*OrderJob";
    }

    @ParameterizedTest
    @MethodSource("everyVersion")
    void cronTriggersBecomeSchedulesThatBeginWithTheNextTimeOfQuartz(String version, SourceDatabase used) {
        create(version, used);
        schedule(version, "plain", MONDAYS, "Europe/Berlin", "plain", "workdays", "0 0/10 9-17 ? * mon-fri", "UTC",
                "grouped", "nothing", MONDAYS, "UTC", "nothing", "ignore", MONDAYS, "UTC", "ignore", "exclusive",
                MONDAYS, "EST", "exclusive");
        Map<String, String> next = query("SELECT TRIGGER_NAME, NEXT_FIRE_TIME FROM QRTZ_TRIGGERS");

        assertThat(scene().run("plan")).contains("4 schedules waiting", "4 of a sample can be sent");
        scene().run("copy", "--dry-run");
        assertThat(query("SELECT TRIGGER_NAME, NEXT_FIRE_TIME FROM QRTZ_TRIGGERS")).isEqualTo(next);
        assertThat(scene().run("copy")).contains("4 schedules sent", "this run        4 schedules");
        assertThat(scene().json("copy")).contains("\"schedules sent\" : 4");

        assertThat(query("SELECT TRIGGER_NAME, '' FROM QRTZ_TRIGGERS")).isEmpty();
        assertThat(query("SELECT TRIGGER_NAME, '' FROM QRTZ_CRON_TRIGGERS")).isEmpty();
        assertThat(query("SELECT JOB_NAME, '' FROM QRTZ_JOB_DETAILS")).isEmpty();
        try (OccurrenceConsumer consumer = OccurrenceConsumer.start(redis())) {
            ScheduleOperations schedules = consumer.queues().schedules("orders");
            assertThat(schedules.find("plain")).hasValueSatisfying((schedule) -> {
                assertThat(schedule.definition()).returns("0 0 6 * * MON", (each) -> each.cron().orElseThrow())
                    .returns(ZoneId.of("Europe/Berlin"), ScheduleDefinition::zone)
                    .returns(MisfirePolicy.ONCE, ScheduleDefinition::misfire)
                    .returns(OverlapPolicy.ALLOW, ScheduleDefinition::overlap);
                assertThat(schedule.payload()).contains("\"number\":\"42\"", "für Müller");
                assertThat(schedule.nextAt()).isEqualTo(Instant.ofEpochMilli(Long.parseLong(next.get("plain"))));
                assertThat(schedule.owner()).isNull();
            });
            assertThat(schedules.find("shop.workdays").flatMap((schedule) -> schedule.definition().cron()))
                .contains("0 */10 9-17 * * MON-FRI");
            assertThat(schedules.find("nothing")).map(ScheduleStatus::definition)
                .map(ScheduleDefinition::misfire)
                .contains(MisfirePolicy.SKIP);
            assertThat(schedules.find("ignore")).map(ScheduleStatus::definition)
                .map(ScheduleDefinition::misfire)
                .contains(MisfirePolicy.ALL);
            assertThat(schedules.find("exclusive")).map(ScheduleStatus::definition).hasValueSatisfying((definition) -> {
                assertThat(definition.overlap()).isEqualTo(OverlapPolicy.QUEUE);
                // EST: -05:00, and America/Panama from JDK 23 on
                assertThat(definition.zone().getRules().getOffset(Instant.now())).isEqualTo(ZoneOffset.ofHours(-5));
            });
        }
        assertThat(scene().run("verify", "--check=100")).contains("4 found with their due time");
        scene().run("finish");
    }

    @ParameterizedTest
    @MethodSource("everyVersion")
    void otherCronTriggersStayAndAreReported(String version, SourceDatabase used) {
        create(version, used);
        schedule(version, "years", "0 0 6 ? * 2 2030-2090", "UTC", "plain", "end", MONDAYS, "UTC", "end", "later",
                MONDAYS, "UTC", "later", "calendar", MONDAYS, "UTC", "calendar", "paused", MONDAYS, "UTC", "paused",
                "changing", MONDAYS, "UTC", "changing", "a name", MONDAYS, "UTC", "plain", "misfired", MONDAYS, "UTC",
                "plain", "nowhere", MONDAYS, "UTC", "plain");
        update("UPDATE QRTZ_CRON_TRIGGERS SET TIME_ZONE_ID = 'GMTnowhere' WHERE TRIGGER_NAME = 'nowhere'");
        update("UPDATE QRTZ_TRIGGERS SET NEXT_FIRE_TIME = NEXT_FIRE_TIME - 1000 WHERE TRIGGER_NAME = 'misfired'");

        assertThat(scene().run("plan")).contains("0 waiting");
        scene().run("copy");

        assertThat(query("SELECT TRIGGER_NAME, '' FROM QRTZ_TRIGGERS")).hasSize(9);
        assertThat(redis().commands().keys("shop:*schedules*")).isEmpty();
        assertThat(scene().execute(1, "verify")).contains("cron, not expressed by a schedule: its years are restricted",
                "cron, with an end", "cron, with a start in the future", "with a calendar", "paused, or in state ERROR",
                "cron, of a job that changes its data", "cron, with a name that no schedule may have",
                "cron, due at another time than those of its expression", "cron, in a time zone that is not known");
    }

    @ParameterizedTest
    @MethodSource("everyVersion")
    void aSerializedMapWithoutEntriesNeedsNoDecoder(String version, SourceDatabase used) {
        this.data = "serialized";
        create(version, used);
        schedule(version, "none", MONDAYS, "UTC", "empty", "some", MONDAYS, "UTC", "plain");

        assertThat(scene().execute(1, "copy")).contains("1 schedules sent", "1 unreadable");

        try (OccurrenceConsumer consumer = OccurrenceConsumer.start(redis())) {
            ScheduleOperations schedules = consumer.queues().schedules("orders");
            assertThat(schedules.find("none")).map(ScheduleStatus::payload).contains("{}");
            assertThat(schedules.find("some")).isEmpty();
            scene().run("copy", "--payload=" + SerializedMapDecoder.class.getName());
            assertThat(schedules.find("some")).map(ScheduleStatus::payload).get().asString().contains("42");
        }
    }

    @ParameterizedTest
    @MethodSource("everyVersion")
    void anOccurrenceThatPassesBetweenTakeAndPutIsTreatedAsAMisfire(String version, SourceDatabase used) {
        create(version, used);
        int hour = (LocalTime.now(ZoneOffset.UTC).getHour() + 12) % 24;
        String daily = "0 0 %d * * ?".formatted(hour);
        schedule(version, "once", daily, "UTC", "plain", "nothing", daily, "UTC", "nothing");
        scene().run("copy");
        // As if the program had been killed between take and put, two days ago.
        redis().commands().del("shop:{orders}:schedules", "shop:{orders}:schedule-times");
        long passed = Long.parseLong(query("SELECT business_id, due FROM delayqueue_migrate").get("once"))
                - 2 * 24 * HOUR;
        update("UPDATE delayqueue_migrate SET state = 'pending', due = " + passed);

        try (OccurrenceConsumer consumer = OccurrenceConsumer.start(redis())) {
            assertThat(scene().run("copy")).contains("2 repeated");
            Awaitility.await().until(() -> !consumer.handled().isEmpty());

            ScheduleOperations schedules = consumer.queues().schedules("orders");
            Awaitility.await().until(() -> schedules.find("nothing").orElseThrow().skipped().size() == 1);
            Map<String, String> before = redis().commands().hgetall("shop:{orders}:schedules");
            update("UPDATE delayqueue_migrate SET state = 'pending'");
            assertThat(scene().run("copy")).contains("2 kept");

            assertThat(redis().commands().hgetall("shop:{orders}:schedules")).isEqualTo(before);
            assertThat(consumer.handled()).containsExactly("once@" + (passed + 24 * HOUR));
        }
    }

    @ParameterizedTest
    @MethodSource("everyVersion")
    void anotherScheduleOfThatNameIsNotReplaced(String version, SourceDatabase used) {
        create(version, used);
        schedule(version, "plain", MONDAYS, "UTC", "plain");
        try (OccurrenceConsumer consumer = OccurrenceConsumer.start(redis())) {
            ScheduleOperations schedules = consumer.queues().schedules("orders");
            schedules.put(ScheduleDefinition.cron("plain", "0 0 7 * * MON").build());

            assertThat(scene().execute(1, "copy")).contains("queue 'orders' has another schedule 'plain'");
            assertThat(schedules.find("plain").flatMap((schedule) -> schedule.definition().cron()))
                .contains("0 0 7 * * MON");
            // The same times, and another payload.
            schedules.put(ScheduleDefinition.cron("plain", "0 0 6 * * MON").zone(ZoneId.of("UTC")).build());
            assertThat(scene().execute(1, "copy")).contains("queue 'orders' has another schedule 'plain'");
            assertThat(schedules.find("plain")).map(ScheduleStatus::payload).contains("{}");
            schedules.remove("plain");
            scene().run("copy");

            assertThat(schedules.find("plain").flatMap((schedule) -> schedule.definition().cron()))
                .contains("0 0 6 * * MON");
        }
    }

    @ParameterizedTest
    @Tag("matrix")
    @MethodSource("killedVersions")
    @Execution(ExecutionMode.CONCURRENT)
    void noOccurrenceIsDoubledOrMissingWhileTheToolIsKilledAndBothApplicationsRun(String version, SourceDatabase used,
            String cluster) {
        this.cluster = cluster;
        create(version, used);
        List<String> triggers = new ArrayList<>();
        for (int i = 0; i < TRIGGERS; i++) {
            int seconds = (i % 2 == 0) ? 4 : 6;
            triggers.addAll(
                    List.of("every-%d-%d".formatted(seconds, i), "0/%d * * * * ?".formatted(seconds), "UTC", "ignore"));
        }
        schedule(version, triggers.toArray(String[]::new));
        try (OccurrenceConsumer consumer = OccurrenceConsumer.start(redis());
                PeerJvm old = peer(version, "consume", "old")) {
            old.await("READY");
            within(() -> handledByOld().size() > TRIGGERS);
            for (int kill = 1; kill <= KILLS; kill++) {
                int goal = kill * TRIGGERS / (KILLS + 1);
                try (PeerJvm tool = scene().start("follow", "--batch=4", "--poll=20ms")) {
                    within(() -> count("taken") >= goal || !tool.isAlive());
                    assertThat(tool.isAlive()).as(tool::text).isTrue();
                }
            }
            try (PeerJvm tool = scene().start("follow", "--poll=20ms")) {
                within(() -> query("SELECT TRIGGER_NAME, '' FROM QRTZ_TRIGGERS").isEmpty());
                within(() -> count("taken") == TRIGGERS && pending() == 0);
                tool.terminate();
            }
            within(() -> names(consumer.handled()).size() == TRIGGERS);
            old.stop();
            assertThatEachOccurrenceIsHandledOnce(consumer.handled());
        }
        scene().run("verify");
    }

    private long pending() {
        return query("SELECT id, state FROM delayqueue_migrate").values().stream().filter("pending"::equals).count();
    }

    private void assertThatEachOccurrenceIsHandledOnce(List<String> byNew) {
        Map<String, Integer> byOld = handledByOld();
        assertThat(byOld.values()).containsOnly(1);
        assertThat(byNew).doesNotHaveDuplicates().doesNotContainAnyElementsOf(byOld.keySet());
        TreeSet<String> all = new TreeSet<>(byNew);
        all.addAll(byOld.keySet());
        String name = "";
        long last = 0;
        long step = 0;
        for (String each : all) {
            String[] parts = each.split("@");
            long time = Long.parseLong(parts[1]);
            if (parts[0].equals(name)) {
                assertThat(time).as("after " + last + " of " + name).isEqualTo(last + step);
            }
            name = parts[0];
            last = time;
            step = Long.parseLong(name.split("-")[1]) * 1_000;
        }
        System.out.printf("%s: %,d occurrences, %,d by old, %,d by new, %d kills, counted as repeated: %,d%n",
                getClass().getSimpleName(), all.size(), byOld.size(), byNew.size(), KILLS, count("repeated"));
    }

    private static HashSet<String> names(List<String> occurrences) {
        HashSet<String> names = new HashSet<>();
        occurrences.forEach((each) -> names.add(each.split("@")[0]));
        return names;
    }

    private static void within(Callable<Boolean> condition) {
        Awaitility.await().pollInterval(20, TimeUnit.MILLISECONDS).atMost(3, TimeUnit.MINUTES).until(condition);
    }

    private void schedule(String version, String... triggers) {
        Object[] arguments = new Object[triggers.length + 1];
        arguments[0] = "cron";
        System.arraycopy(triggers, 0, arguments, 1, triggers.length);
        try (PeerJvm peer = peer(version, arguments)) {
            peer.await("SENT all");
            assertThat(peer.exit()).isZero();
        }
    }

    static Stream<Arguments> everyVersion() {
        return QuartzMoveTests.everyVersion();
    }

    static Stream<Arguments> killedVersions() {
        return Stream.of(arguments("quartz-2.3", SourceDatabase.POSTGRESQL, "clustered"),
                arguments("quartz-2.4", SourceDatabase.H2, "clustered"),
                arguments("quartz-2.4", SourceDatabase.POSTGRESQL, "alone"),
                arguments("quartz-2.4", SourceDatabase.MARIADB, "clustered"));
    }

}
