package io.delayqueue;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

/** A message to send: valid by construction, and silent about its payload. */
class DelayedMessageTests {

    private static final Duration SECOND = Duration.ofSeconds(1);

    @Test
    void aMessageIsDueAtOnceByDefault() {
        DelayedMessage message = DelayedMessage.builder("q", "x").build();

        assertThat(message.queue()).isEqualTo(new QueueName("q"));
        assertThat(message.payload()).isEqualTo("x");
        assertThat(message.delay()).isEmpty();
        assertThat(message.dueAt()).isEmpty();
        assertThat(message.id()).isEmpty();
        assertThat(message.onDuplicate()).isEqualTo(OnDuplicate.KEEP);
        assertThat(message.priority()).isEqualTo(4);
        assertThat(message.timeToLive()).isEmpty();
        assertThat(message.group()).isEmpty();
        assertThat(message.headers()).isEmpty();
        assertThat(message.afterCommit()).isEmpty();
    }

    @Test
    void toBuilderCopiesAllValues() {
        DelayedMessage message = DelayedMessage.builder("q", "x")
            .delay(SECOND)
            .id("a")
            .onDuplicate(OnDuplicate.REPLACE)
            .priority(0)
            .timeToLive(SECOND)
            .group("g")
            .header("h", "v")
            .afterCommit(false)
            .build();

        assertThat(message.toBuilder().build()).usingRecursiveComparison().isEqualTo(message);
    }

    @Test
    void aDuplicateWindowNeedsAnIdAndKeep() {
        DelayedMessage.Builder windowed = DelayedMessage.builder("q", "x").duplicateWindow(SECOND);

        assertThatIllegalArgumentException().isThrownBy(windowed::build)
            .withMessage("A duplicate window needs an id and onDuplicate KEEP, but the id was not set and onDuplicate "
                    + "KEEP");
        assertThatIllegalArgumentException().isThrownBy(() -> windowed.id("a").onDuplicate(OnDuplicate.REPLACE).build())
            .withMessageEndingWith("but the id was 'a' and onDuplicate REPLACE");
        DelayedMessage message = windowed.onDuplicate(OnDuplicate.KEEP).build();
        assertThat(message.toBuilder().build().duplicateWindow()).contains(SECOND);
    }

    @Test
    void aDuplicateWindowIsAtMostSevenDays() {
        DelayedMessage.Builder builder = DelayedMessage.builder("q", "x");

        assertThatIllegalArgumentException().isThrownBy(() -> builder.duplicateWindow(Duration.ofDays(7).plusNanos(1)))
            .withMessageEndingWith("is not valid: use more than zero and at most 7 days");
        assertThatIllegalArgumentException().isThrownBy(() -> builder.duplicateWindow(Duration.ZERO));
    }

    @Test
    void delayAndDueTimeTogetherAreRefused() {
        DelayedMessage.Builder delayed = DelayedMessage.builder("q", "x").delay(SECOND);
        DelayedMessage.Builder dated = DelayedMessage.builder("q", "x").dueAt(Instant.EPOCH);

        assertThatIllegalArgumentException().isThrownBy(() -> delayed.dueAt(Instant.EPOCH))
            .withMessage("A message has a delay or a due time, not both: was given 1 s, and now 1970-01-01T00:00:00Z");
        assertThatIllegalArgumentException().isThrownBy(() -> dated.delay(SECOND))
            .withMessage("A message has a delay or a due time, not both: was given 1970-01-01T00:00:00Z, and now 1 s");
        assertThat(delayed.build().delay()).hasValue(SECOND);
        assertThat(dated.build().dueAt()).hasValue(Instant.EPOCH);
    }

    @Test
    void theLastOfSeveralDelaysOrDueTimesCounts() {
        assertThat(DelayedMessage.builder("q", "x").delay(SECOND).delay(SECOND.plusMillis(1)).build().delay())
            .hasValue(SECOND.plusMillis(1));
        assertThat(DelayedMessage.builder("q", "x")
            .dueAt(Instant.EPOCH)
            .dueAt(Instant.EPOCH.plusMillis(1))
            .build()
            .dueAt()).hasValue(Instant.EPOCH.plusMillis(1));
    }

    @Test
    void aCopyMayHaveTheOtherKindOfTime() {
        DelayedMessage dated = DelayedMessage.builder("q", "x")
            .delay(SECOND)
            .build()
            .toBuilder()
            .dueAt(Instant.EPOCH)
            .build();
        DelayedMessage delayed = dated.toBuilder().delay(SECOND).build();

        assertThat(dated.delay()).isEmpty();
        assertThat(dated.dueAt()).hasValue(Instant.EPOCH);
        assertThat(delayed.delay()).hasValue(SECOND);
        assertThat(delayed.dueAt()).isEmpty();
        assertThatIllegalArgumentException().isThrownBy(() -> dated.toBuilder().delay(SECOND).dueAt(Instant.EPOCH));
    }

    @Test
    void aMessageDoesNotChangeWithItsBuilder() {
        DelayedMessage.Builder builder = DelayedMessage.builder("q", "x").header("a", "1");
        DelayedMessage message = builder.build();
        builder.header("b", "2");

        assertThat(message.headers()).isEqualTo(Map.of("a", "1"));
    }

    @ParameterizedTest
    @ValueSource(strings = { "", "id", "timestamp", "delayqueue_", "delayqueue_id" })
    void reservedHeaderNamesAreRefused(String name) {
        assertThatIllegalArgumentException().isThrownBy(() -> DelayedMessage.builder("q", "x").header(name, "v"))
            .withMessageStartingWith("Header name '" + name + "' is not valid: use 1 to 128 characters");
    }

    @Test
    void headerNamesHaveAtMost128CharactersAndNeedAValue() {
        DelayedMessage.Builder builder = DelayedMessage.builder("q", "x").header("a".repeat(128), "v");

        assertThatIllegalArgumentException().isThrownBy(() -> builder.header("a".repeat(129), "v"));
        assertThatNullPointerException().isThrownBy(() -> builder.header("b", null));
        assertThat(builder.build().headers()).hasSize(1);
    }

    @Test
    void aHeaderTooManyIsRefusedAndLeavesTheBuilderAsItWas() {
        DelayedMessage.Builder builder = DelayedMessage.builder("q", "x");
        for (int i = 0; i < 64; i++) {
            builder.header("h" + i, "v");
        }

        assertThatIllegalArgumentException().isThrownBy(() -> builder.header("more", "v"))
            .withMessage("65 headers are too many: use at most 64");
        assertThat(builder.header("h0", "new").build().headers()).hasSize(64)
            .containsEntry("h0", "new")
            .doesNotContainKey("more");
    }

    @Test
    void everyValueIsCheckedWhereItIsSet() {
        DelayedMessage.Builder builder = DelayedMessage.builder("q", "x");

        assertThatIllegalArgumentException().isThrownBy(() -> DelayedMessage.builder("a b", "x"));
        assertThatNullPointerException().isThrownBy(() -> DelayedMessage.builder("q", null));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.id("a b"));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.group("a b"));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.delay(SECOND.negated()));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.dueAt(MessageLimits.MAX_DUE_AT));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.priority(10));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.timeToLive(Duration.ZERO))
            .withMessageStartingWith("Time to live 0 s is not valid");
    }

    @Test
    void itsTextNeverShowsThePayload() {
        assertThat(DelayedMessage.builder("q", "4111").id("a").header("h", "4111").build().toString())
            .isEqualTo("DelayedMessage[queue=q, id=a, delay=null, dueAt=null]");
    }

}
