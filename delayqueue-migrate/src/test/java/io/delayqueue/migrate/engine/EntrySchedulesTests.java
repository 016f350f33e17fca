package io.delayqueue.migrate.engine;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.MisfirePolicy;
import io.delayqueue.OverlapPolicy;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleOperations;
import io.delayqueue.ScheduleStatus;
import io.delayqueue.migrate.EntryOutcome;
import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceSchedule;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Verifies which schedules count as that of an entry. */
class EntrySchedulesTests {

    private static final SourceSchedule SCHEDULE = new SourceSchedule("0 0 6 * * MON", ZoneOffset.UTC,
            MisfirePolicy.SKIP, OverlapPolicy.QUEUE);

    private static final EntrySchedules.Put UNREADABLE = new EntrySchedules.Put(
            EntryOutcome.unreadable("entry-1",
                    "queue 'orders' has another schedule 'report': remove it, or keep it and discard the entry"),
            false);

    private final DelayQueueOperations queues = mock();

    private final ScheduleOperations schedules = mock();

    private final EntrySchedules entries = new EntrySchedules(this.queues,
            new EntryMessages(PayloadDecoders.named("json")), JsonMapper.builder().build());

    @Test
    void aScheduleWithTheSameTimesPayloadAndPoliciesIsKept() {
        assertThat(put(definition(), "{\"customer\":42,\"kind\":\"week\"}"))
            .isEqualTo(new EntrySchedules.Put(EntryOutcome.sent("entry-1"), true));
    }

    /** The entry would count as sent, and would have no occurrence. */
    @Test
    void aScheduleWithAnotherPayloadOrAnotherPolicyIsNotTheSame() {
        assertThat(put(definition(), "{\"customer\":43,\"kind\":\"week\"}")).isEqualTo(UNREADABLE);
        String payload = "{\"customer\":42,\"kind\":\"week\"}";
        assertThat(put(definition().misfire(MisfirePolicy.ALL), payload)).isEqualTo(UNREADABLE);
        assertThat(put(definition().overlap(OverlapPolicy.ALLOW), payload)).isEqualTo(UNREADABLE);
        assertThat(put(definition().zone(ZoneOffset.ofHours(1)), payload)).isEqualTo(UNREADABLE);
    }

    private static ScheduleDefinition.Builder definition() {
        return SCHEDULE.named("report");
    }

    /** Puts an entry into a queue that has a schedule of its name. */
    private EntrySchedules.Put put(ScheduleDefinition.Builder held, String payload) {
        given(this.queues.schedules("orders")).willReturn(this.schedules);
        given(this.schedules.find("report")).willReturn(Optional
            .of(new ScheduleStatus("orders", held.build(), payload, null, false, null, null, 0, Map.of(), List.of())));
        byte[] json = "{ \"kind\": \"week\", \"customer\": 42 }".getBytes(StandardCharsets.UTF_8);
        SourceEntry entry = SourceEntry.of("entry-1", Instant.EPOCH, json).with("report", Map.of());
        return this.entries.put("orders", entry.withSchedule(SCHEDULE), SCHEDULE);
    }

}
