package io.delayqueue.web.http;

import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.UnreadableScheduleException;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;

/** Checks that failures are logged, but an open page does not flood the log. */
@ExtendWith(OutputCaptureExtension.class)
class RequestFailureLogTests {

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);

    private final RequestFailureLog log = new RequestFailureLog(this.nanos::get);

    private void fail(String path, Throwable failure) {
        this.log.log(new MockHttpServletRequest("GET", path), failure);
    }

    @Test
    void aRejectionByTheStoreIsLoggedOnceAMinute(CapturedOutput output) {
        StoreRefusedException refused = new StoreRefusedException("WRONGTYPE", null);
        for (int i = 0; i < 5; i++) {
            fail("/queues/a", new CompletionException(refused));
        }
        fail("/queues/b", refused);
        fail("/queues/a", new StoreUnavailableException("away", Effect.NONE, null));
        this.nanos.addAndGet(TimeUnit.MINUTES.toNanos(1));
        fail("/queues/a", refused);
        fail("/queues/b", refused);

        assertThat(output.getOut().lines().map((line) -> line.replaceFirst(".*RequestFailureLog - ", "")))
            .containsExactly("GET /queues/a failed: WRONGTYPE", "GET /queues/b failed: WRONGTYPE",
                    "GET /queues/a failed: away",
                    "GET /queues/a failed (and 4 times more since it was logged): WRONGTYPE",
                    "GET /queues/b failed: WRONGTYPE");
    }

    @Test
    void aDefectIsLoggedWithItsStackThoughItIsCalledAnIllegalArgument(CapturedOutput output) {
        fail("/queues", new IllegalArgumentException("a defect"));

        assertThat(output).contains("ERROR", "GET /queues failed", "IllegalArgumentException: a defect", "\tat ");
        assertThat(ProblemTranslator.of(new IllegalArgumentException("a defect")).kind())
            .isEqualTo(Problem.Kind.DEFECT);
    }

    @Test
    void problemsReturnedToTheCallerAreNotLogged(CapturedOutput output) {
        fail("/queues", ProblemException.invalid("use 1 to 100"));
        fail("/queues", new NotReplicatedException("stored", null));
        fail("/queues", new UnreadableScheduleException("put it again", null));

        assertThat(output).isEmpty();
    }

    @Test
    void aPathIsLoggedInOneLine(CapturedOutput output) {
        fail("/queues/\n\u202e", new StoreRefusedException("first\nsecond", null));

        assertThat(output.getOut().lines()).singleElement().asString().endsWith("GET /queues/ ? failed: first second");
    }

    @Test
    void remembersALimitedNumberOfFailures() {
        for (int i = 0; i < 1_000; i++) {
            fail("/queues/" + i, new StoreUnavailableException("away", Effect.NONE, null));
        }
        assertThat(this.log).extracting("known", InstanceOfAssertFactories.MAP).hasSize(200);
    }

}
