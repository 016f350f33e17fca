package io.delayqueue.web.dashboard;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterOperations;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.FailureReasons;
import io.delayqueue.MessageState;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleStatus;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.StoredMessage;
import io.delayqueue.admin.HistoryEntry;
import io.delayqueue.admin.HistoryEntry.Event;
import io.delayqueue.admin.MessageHistory;
import io.delayqueue.web.dashboard.OccurrenceStatus.State;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Checks what is said of the last occurrence of a schedule, wherever its message is. */
class OccurrenceStatusFinderTests {

    private static final Instant LAST = Instant.ofEpochMilli(1_790_000_000_000L);

    private static final String ID = "@daily@1790000000000";

    private final DelayQueueOperations operations = mock();

    private final DeadLetterOperations deadLetters = mock();

    @BeforeEach
    void holdNothing() {
        given(this.operations.find("reports", ID)).willReturn(Optional.empty());
        given(this.operations.deadLetters("reports")).willReturn(this.deadLetters);
        given(this.deadLetters.list(null, 100)).willReturn(new DeadLetterPage(List.of(), null));
    }

    private static ScheduleStatus schedule(@Nullable Instant last) {
        return new ScheduleStatus("reports", ScheduleDefinition.cron("daily", "@daily").build(), "{}", null, false,
                null, last, 1, Map.of(), List.of());
    }

    private @Nullable OccurrenceStatus outcome(@Nullable MessageHistory history) {
        return new OccurrenceStatusFinder(this.operations, history).find(schedule(LAST));
    }

    private void hold(MessageState state, int failures) {
        FailureReasons reasons = (failures > 0) ? new FailureReasons("first", "last", LAST) : null;
        given(this.operations.find("reports", ID)).willReturn(Optional.of(new StoredMessage("reports", ID, state, LAST,
                LAST, null, 4, null, failures, 0, reasons, "{}", Map.of())));
    }

    private static DeadLetter dead(String messageId, Duration afterLast) {
        return new DeadLetter("reports", messageId + "~1", messageId, null, LAST, LAST.plus(afterLast), 4, 0,
                "java.io.IOException: full\n\tat", null, "{}", Map.of());
    }

    @ParameterizedTest
    @CsvSource({ "SCHEDULED,0,WAITING", "SCHEDULED,2,RETRYING", "LEASED,2,IN_FLIGHT" })
    void aMessageThatTheQueueHoldsHasItsState(MessageState state, int failures, State expected) {
        hold(state, failures);

        assertThat(outcome(null))
            .isEqualTo(new OccurrenceStatus(ID, expected, null, failures, (failures > 0) ? "last" : null));
    }

    @Test
    void aDeadLetterIsFoundWithItsCause() {
        given(this.deadLetters.list(null, 100)).willReturn(
                new DeadLetterPage(List.of(dead("other", Duration.ofHours(1)), dead(ID, Duration.ofMinutes(1))), null));

        assertThat(outcome(null))
            .isEqualTo(new OccurrenceStatus(ID, State.DEAD_LETTER, ID + "~1", 4, "java.io.IOException: full"));
    }

    @Test
    void anOccurrenceThatNothingHoldsHasEndedUnlessItMayBeAnOlderDeadLetter() {
        assertThat(outcome(null)).isEqualTo(new OccurrenceStatus(ID, State.ENDED));
        given(this.deadLetters.list(null, 100))
            .willReturn(new DeadLetterPage(List.of(dead("other", Duration.ofHours(1))), "more"));
        assertThat(outcome(null)).isEqualTo(new OccurrenceStatus(ID, State.UNKNOWN));
        given(this.deadLetters.list(null, 100))
            .willReturn(new DeadLetterPage(List.of(dead("other", Duration.ofHours(-1))), "more"));
        assertThat(outcome(null)).isEqualTo(new OccurrenceStatus(ID, State.ENDED));
    }

    @Test
    void aScheduleThatHasSentNothingHasNoOutcome() {
        assertThat(new OccurrenceStatusFinder(this.operations, null).find(schedule(null))).isNull();
    }

    @ParameterizedTest
    @CsvSource({ "HANDLED", "EXPIRED", "CANCELLED", "PURGED" })
    void theHistoryOfMessagesTellsTheEnd(Event end) {
        assertThat(outcome(history(Event.SENT, Event.CLAIMED, Event.FAILED, Event.RETRIED, end)))
            .isEqualTo(new OccurrenceStatus(ID, State.valueOf(end.name())));
    }

    @Test
    void aHistoryThatHasNoEndOrCannotBeReadChangesNothing() {
        assertThat(outcome(history(Event.SENT))).isEqualTo(new OccurrenceStatus(ID, State.ENDED));
        MessageHistory broken = mock();
        given(broken.of("reports", ID))
            .willThrow(new StoreUnavailableException("no answer", Effect.NONE, new IllegalStateException()));
        assertThat(outcome(broken)).isEqualTo(new OccurrenceStatus(ID, State.ENDED));
    }

    private static MessageHistory history(Event... events) {
        MessageHistory history = mock();
        Collection<HistoryEntry> entries = List.of(events)
            .stream()
            .map((event) -> new HistoryEntry(LAST, event, "node", null, null))
            .toList();
        given(history.of("reports", ID)).willReturn(List.copyOf(entries));
        return history;
    }

    @Test
    void theCauseOfAFailureNeedsTheAuthorityForPayloads() {
        OccurrenceStatus failed = new OccurrenceStatus(ID, State.RETRYING, null, 1, "java.io.IOException: card 4711");

        assertThat(failed.toJson(false).path("lastFailure").asString()).isEqualTo("java.io.IOException");
        assertThat(failed.toJson(true).path("lastFailure").asString()).isEqualTo("java.io.IOException: card 4711");
    }

}
