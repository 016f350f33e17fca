package io.delayqueue.web.api;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.delayqueue.DeadLetterFilter;
import io.delayqueue.DeadLetterOperations;
import io.delayqueue.QueueName;
import io.delayqueue.admin.AuditedOperationEvent;
import io.delayqueue.web.http.AuditPublisher;
import io.delayqueue.web.http.AuditedOperation;
import io.delayqueue.web.http.ProblemException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Checks that each step through dead letters is audited, whatever its outcome. */
class DeadLetterRoutesTests {

    @Test
    void aStepThatFailsInTheMiddleIsAudited() {
        DeadLetterOperations deadLetters = mock(DeadLetterOperations.class);
        given(deadLetters.purge(any(), any())).willThrow(new IllegalStateException("away after some"));
        AuditedOperation change = new AuditedOperation("ann", "purge", new QueueName("orders"), "{}");
        List<Object> events = new ArrayList<>();
        DeadLetterRoutes routes = new DeadLetterRoutes(mock(), null, new AuditPublisher(events::add));

        assertThatIllegalStateException().isThrownBy(() -> routes.change(change,
                () -> deadLetters.purge(DeadLetterFilter.ALL.withDeadLetteredBetween(null, Instant.EPOCH), null)));
        assertThat(events).singleElement().isInstanceOfSatisfying(AuditedOperationEvent.class, (event) -> {
            assertThat(event.operation()).isEqualTo("purge");
            assertThat(event.count()).isEqualTo(AuditedOperationEvent.UNKNOWN);
        });
    }

    /** The audit repeats it, and keeps it for long. */
    @Test
    void aCursorThatNoPageCanHaveReturnedIsRejected() {
        String longest = "-999999999999999:" + "c".repeat(256);

        assertThat(DeadLetterRoutes.cursor(longest)).isEqualTo(longest);
        assertThatExceptionOfType(ProblemException.class)
            .isThrownBy(() -> DeadLetterRoutes.cursor("1:" + "c".repeat(600)))
            .withMessage("This cursor is not valid: use the nextCursor of a page, or null");
    }

}
