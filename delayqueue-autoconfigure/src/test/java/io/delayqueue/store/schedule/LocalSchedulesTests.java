package io.delayqueue.store.schedule;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.delayqueue.QueueName;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests which schedules belong to which application. */
@ExtendWith(OutputCaptureExtension.class)
class LocalSchedulesTests {

    private static final QueueName QUEUE = new QueueName("reports");

    private static LocalSchedules of(String application) {
        return new LocalSchedules(ScheduleStore.NONE, new EnvelopeCodec(JsonMapper.builder().build()),
                LocalSchedules.MISFIRE_THRESHOLD, application);
    }

    private static void declare(LocalSchedules schedules, String name) {
        schedules.declare(QUEUE, ScheduleDefinition.cron(name, "@daily").build(), "{}");
    }

    @Test
    void noNameIsTheOwnerOfApplicationsWithoutOne() {
        for (String name : List.of("?", "%3F", "application", "-", "*")) {
            assertThat(of(name).owner()).isNotEqualTo(of(" ").owner());
            assertThat(new ScheduleState(1, 0, 0, 0, 0, 0, false, of(name).owner(), "").application()).isEqualTo(name);
        }
    }

    @Test
    void anApplicationWithoutANameRemovesNothingAndIsWarnedOnce(CapturedOutput output) {
        LocalSchedules unnamed = of("");
        declare(unnamed, "one");
        declare(unnamed, "two");
        declare(of("orders"), "three");

        assertThat(unnamed.isNamed()).isFalse();
        assertThat(output.getAll()).containsOnlyOnce("Set spring.application.name").contains("Schedule 'one'");
    }

    @Test
    void aWithdrawnScheduleCanBeDeclaredAgain() {
        LocalSchedules schedules = of("orders");
        schedules.withdraw(QUEUE, "one");
        assertThat(schedules.isAdded(QUEUE)).isFalse();

        declare(schedules, "one");
        declare(schedules, "two");
        schedules.withdraw(QUEUE, "one");
        assertThat(schedules.declarations(QUEUE)).containsOnlyKeys("two");

        declare(schedules, "one");
        assertThat(schedules.declarations(QUEUE)).containsOnlyKeys("one", "two");
    }

    /** A declaration that is pending may store the schedule later. */
    @Test
    void aWithdrawalIsAUseOfTheQueue() {
        LocalSchedules schedules = of("orders");
        declare(schedules, "one");
        long before = schedules.additions(QUEUE);
        schedules.withdraw(QUEUE, "one");

        schedules.forget(QUEUE, before);
        assertThat(schedules.isAdded(QUEUE)).isTrue();
        schedules.forget(QUEUE, schedules.additions(QUEUE));
        assertThat(schedules.isAdded(QUEUE)).isFalse();
    }

    /** The script removes what the application may remove by a call. */
    @Test
    void aDeclarationCountsForTheSameTimeInJavaAndInLua() throws IOException {
        try (InputStream script = getClass().getResourceAsStream("/io/delayqueue/redis/declare-schedules.lua")) {
            assertThat(new String(script.readAllBytes(), StandardCharsets.UTF_8)).containsPattern(
                    "local LIVE, KEPT, DEFINITIONS = \\d+, %d,".formatted(ScheduleChanger.DECLARED.toMillis()));
        }
    }

    /** The pages of queues ask for schedules, also of a store that has none. */
    @Test
    void aStoreWithoutSchedulesListsNone() {
        assertThat(ScheduleStore.NONE.list(new QueueName("q"), null, 1).join().schedules()).isEmpty();
    }

}
