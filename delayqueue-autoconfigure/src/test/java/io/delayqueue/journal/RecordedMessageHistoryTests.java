package io.delayqueue.journal;

import io.delayqueue.CancelResult;
import io.delayqueue.DeadLetterOperations;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.StoreUnavailableException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Tests P11 for the erasure of an id: which effect a failure reports. */
class RecordedMessageHistoryTests {

    private final DelayQueueOperations operations = mock();

    private final DeadLetterOperations deadLetters = mock();

    private final RecordedMessageHistory history = new RecordedMessageHistory(mock(HistoryTable.class),
            mock(HistoryWriter.class), () -> this.operations);

    @ParameterizedTest
    @CsvSource({ "CANCELLED, UNKNOWN", "NOT_FOUND, NONE" })
    void aFailureAfterTheCancelHasChangedSomething(CancelResult cancelled, Effect effect) {
        given(this.operations.cancel("orders", "42")).willReturn(cancelled);
        given(this.operations.deadLetters("orders")).willReturn(this.deadLetters);
        given(this.deadLetters.list(any(), anyInt()))
            .willThrow(new StoreUnavailableException("No connection", Effect.NONE, null));

        assertThatExceptionOfType(DelayQueueException.class).isThrownBy(() -> this.history.erase("orders", "42"))
            .extracting(DelayQueueException::effect)
            .isEqualTo(effect);
    }

}
