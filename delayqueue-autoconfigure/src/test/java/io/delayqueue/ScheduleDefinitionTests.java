package io.delayqueue;

import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ScheduleDefinitionTests {

    private static final Duration HOUR = Duration.ofHours(1);

    @Test
    void hasDefaults() {
        ScheduleDefinition definition = ScheduleDefinition.fixedRate("s", HOUR).build();

        assertThat(definition.name()).isEqualTo("s");
        assertThat(definition.cron()).isEmpty();
        assertThat(definition.fixedRate()).hasValue(HOUR);
        assertThat(definition.zone()).isEqualTo(ZoneOffset.UTC);
        assertThat(definition.payload()).isEqualTo(Map.of());
        assertThat(definition.misfire()).isEqualTo(MisfirePolicy.ONCE);
        assertThat(definition.catchUpLimit()).isEqualTo(100);
        assertThat(definition.overlap()).isEqualTo(OverlapPolicy.ALLOW);
        assertThat(definition.timeToLive()).isEmpty();
        assertThat(definition.jitter()).isZero();
        assertThat(definition.priority()).isEqualTo(MessageLimits.NORMAL_PRIORITY);
    }

    @Test
    void isCopiedWithAllItsSettings() {
        ScheduleDefinition definition = ScheduleDefinition.cron("s", "@daily")
            .zone(ZoneId.of("Asia/Tokyo"))
            .payload("p")
            .misfire(MisfirePolicy.ALL)
            .catchUpLimit(3)
            .overlap(OverlapPolicy.QUEUE)
            .timeToLive(HOUR)
            .jitter(Duration.ofSeconds(1))
            .priority(7)
            .build();

        assertThat(definition.toBuilder().build()).usingRecursiveComparison().isEqualTo(definition);
        assertThat(definition).hasToString("ScheduleDefinition[name=s, times='@daily' in Asia/Tokyo]");
    }

    @Test
    void comparesTimes() {
        ScheduleDefinition utc = ScheduleDefinition.cron("s", "@daily").build();

        assertThat(utc.hasTimesOf(ScheduleDefinition.cron("t", "@daily").payload(1).build())).isTrue();
        assertThat(utc.hasTimesOf(utc.toBuilder().zone(ZoneId.of("Asia/Tokyo")).build())).isFalse();
        assertThat(utc.hasTimesOf(ScheduleDefinition.fixedRate("s", HOUR).build())).isFalse();
        assertThat(ScheduleDefinition.fixedRate("s", HOUR)
            .build()
            .hasTimesOf(ScheduleDefinition.fixedRate("s", HOUR).zone(ZoneId.of("Asia/Tokyo")).build())).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = { "", "a b", "a@b", "a~b", "ä" })
    void needsAValidName(String name) {
        assertThatIllegalArgumentException().isThrownBy(() -> ScheduleDefinition.fixedRate(name, HOUR))
            .withMessageStartingWith("Schedule name '%s' is not valid: use 1 to 100 characters".formatted(name));
    }

    @Test
    void needsANameOfALimitedLength() {
        assertThat(ScheduleDefinition.requireName("n".repeat(100))).hasSize(100);
        assertThatIllegalArgumentException().isThrownBy(() -> ScheduleDefinition.requireName("n".repeat(101)));
        String longestId = "@%s@%d-triggered".formatted("n".repeat(100), MessageLimits.MAX_DUE_AT.toEpochMilli());
        assertThat(MessageLimits.requireId(longestId)).hasSizeLessThanOrEqualTo(MessageLimits.MAX_ID_LENGTH);
    }

    @Test
    void rejectsLimitsOutOfRange() {
        ScheduleDefinition.Builder builder = ScheduleDefinition.fixedRate("s", HOUR);

        assertThatIllegalArgumentException().isThrownBy(() -> builder.catchUpLimit(0))
            .withMessage("Catch-up limit 0 is not valid: use 1 to 1000");
        assertThatIllegalArgumentException().isThrownBy(() -> builder.catchUpLimit(1_001));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.timeToLive(Duration.ZERO));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.jitter(Duration.ofMillis(-1)))
            .withMessage("Jitter -1 ms is not valid: use zero to 36500 days");
        assertThatIllegalArgumentException().isThrownBy(() -> builder.priority(10));
    }

    @Test
    void reservesIdsAndGroups() {
        DelayedMessage.Builder message = DelayedMessage.builder("q", "p");

        assertThatIllegalArgumentException().isThrownBy(() -> message.id("@s@1"))
            .withMessage(
                    "Message id '@s@1' is not valid: a message that is sent cannot begin with '@', which schedules use");
        assertThatIllegalArgumentException().isThrownBy(() -> message.group("@s"));
        assertThat(MessageLimits.requireId("@s@1")).isEqualTo("@s@1");
    }

}
