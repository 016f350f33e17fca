package io.delayqueue.intake;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.delayqueue.admin.NodeStatus.IntakeStatus;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.Mockito.mock;

/**
 * Tests that reports of a node have the status of its intakes, and never wait for a
 * broker.
 */
class IntakeStatusCacheTests {

    private static final IntakeStatus STATUS = new IntakeStatus("kafka:later", "orders", true, null, 1, 0, 0, 0);

    private final Intake intake = mock();

    private final IntakeStatusCache cache = new IntakeStatusCache(
            () -> Stream.of(new IntakeGroup(List.of(this.intake))));

    @Test
    void aReportHasTheStatusThatWasReadAfterTheReportBefore() {
        given(this.intake.status()).willReturn(STATUS);

        this.cache.get();

        await().untilAsserted(() -> assertThat(this.cache.get()).containsExactly(STATUS));
    }

    @Test
    void aClientThatBlocksDelaysNoReport() {
        CountDownLatch answer = new CountDownLatch(1);
        willAnswer((call) -> {
            answer.await();
            return STATUS;
        }).given(this.intake).status();

        assertThat(this.cache.get()).isEmpty();
        assertThat(this.cache.get()).isEmpty();
        answer.countDown();

        await().untilAsserted(() -> assertThat(this.cache.get()).containsExactly(STATUS));
    }

    @Test
    void aFailureKeepsTheStatusBefore() {
        AtomicInteger failures = new AtomicInteger();
        given(this.intake.status()).willReturn(STATUS);
        await().untilAsserted(() -> assertThat(this.cache.get()).containsExactly(STATUS));
        willAnswer((call) -> {
            failures.incrementAndGet();
            throw new IllegalStateException("no metrics");
        }).given(this.intake).status();

        await().untilAsserted(() -> {
            assertThat(this.cache.get()).containsExactly(STATUS);
            assertThat(failures).hasValueGreaterThan(1);
        });
    }

}
