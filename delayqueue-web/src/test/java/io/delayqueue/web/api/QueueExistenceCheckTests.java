package io.delayqueue.web.api;

import java.time.Instant;
import java.util.List;

import io.delayqueue.QueueName;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.admin.QueuePage;
import io.delayqueue.web.http.ProblemException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mockito.ArgumentCaptor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;

/** Checks that an empty queue is found, or not, by one name of the list of queues. */
class QueueExistenceCheckTests {

    private final DelayQueueInspector inspector = mock();

    @BeforeEach
    void holdNothing() {
        given(this.inspector.overview(anyString())).willAnswer((call) -> new QueueOverview(call.getArgument(0), 0, 0, 0,
                0, 0, 0, 0, null, null, false, null, Instant.EPOCH));
    }

    @Test
    void readsOneNameOfTheListForAQueueThatDoesNotExist() {
        given(this.inspector.queues(any(), anyInt())).willReturn(new QueuePage(List.of("r"), "r"));

        assertThatExceptionOfType(ProblemException.class)
            .isThrownBy(() -> QueueExistenceCheck.overview(this.inspector, new QueueName("q")));

        ArgumentCaptor<String> cursor = ArgumentCaptor.forClass(String.class);
        verify(this.inspector).queues(cursor.capture(), eq(1));
        assertThat(cursor.getValue()).isLessThan("q").isGreaterThan("pzzzzzzz");
    }

    @Test
    void findsAnEmptyQueueOfTheList() {
        given(this.inspector.queues(any(), anyInt())).willReturn(new QueuePage(List.of("q"), "q"));

        assertThat(QueueExistenceCheck.overview(this.inspector, new QueueName("q")).queue()).isEqualTo("q");
    }

    /**
     * Each cursor is a valid name, and no other valid name is between it and the queue's.
     */
    @ParameterizedTest
    @CsvSource({ "b, a", "a.b, a.a", "a0, a.", "aA, a9", "a_, aZ", "aa, a_", "a., a-", "A, 9" })
    void startsAfterTheLastPossibleNameBeforeTheQueue(String queue, String prefix) {
        assertThat(QueueExistenceCheck.predecessor(queue)).hasSize(64).startsWith(prefix).endsWith("zz");
        assertThatCode(() -> new QueueName(String.valueOf(QueueExistenceCheck.predecessor(queue))))
            .doesNotThrowAnyException();
    }

    @Test
    void startsAfterTheShorterNameIfTheLastCharacterIsTheFirstOfAll() {
        assertThat(QueueExistenceCheck.predecessor("a-")).isEqualTo("a");
        assertThat(QueueExistenceCheck.predecessor("0")).isNull();
        assertThat(QueueExistenceCheck.predecessor("a".repeat(63) + "b")).isEqualTo("a".repeat(64));
    }

}
