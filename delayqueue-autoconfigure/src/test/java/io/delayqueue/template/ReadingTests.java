package io.delayqueue.template;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** What does not answer is said once, and keeps nobody waiting again. */
@ExtendWith(OutputCaptureExtension.class)
class ReadingTests {

    private static final StoreUnavailableException AWAY = new StoreUnavailableException("away", Effect.NONE, null);

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);

    private final Reading reading = new Reading(this.nanos::get);

    private final List<CompletableFuture<String>> reads = new ArrayList<>();

    private CompletableFuture<String> read() {
        return this.reading.read("queue 'a'", () -> {
            CompletableFuture<String> read = new CompletableFuture<>();
            this.reads.add(read);
            return read;
        });
    }

    private void pass(Duration time) {
        this.nanos.addAndGet(time.toNanos());
    }

    @Test
    void whatIsAwayIsReadAgainInTheBackgroundUntilItAnswers() {
        read();
        this.reads.get(0).completeExceptionally(AWAY);
        pass(Duration.ofSeconds(5).minusNanos(1));
        assertThat(read()).isCompletedExceptionally();
        assertThat(this.reads).hasSize(1);

        pass(Duration.ofNanos(1));
        assertThat(read()).as("not waited for").isCompletedExceptionally();
        assertThat(this.reads).hasSize(2);
        this.reads.get(1).complete("the answer");

        CompletableFuture<String> again = read();
        assertThat(again).isNotDone();
        this.reads.get(2).complete("the next answer");
        assertThat(again).isCompletedWithValue("the next answer");
    }

    @Test
    void whatIsRefusedIsReadEachTime() {
        read();
        this.reads.get(0).completeExceptionally(new StoreRefusedException("WRONGTYPE", null));

        CompletableFuture<String> again = read();
        this.reads.get(1).complete("the answer");
        assertThat(again).isCompletedWithValue("the answer");
    }

    @Test
    void eachOutageIsLoggedOnce(CapturedOutput output) {
        for (int outage = 0; outage < 2; outage++) {
            for (int i = 0; i < 3; i++) {
                read();
                this.reads.get(this.reads.size() - 1)
                    .completeExceptionally(new StoreRefusedException("WRONGTYPE", null));
            }
            read();
            this.reads.get(this.reads.size() - 1).complete("the answer");
        }

        assertThat(output.getOut().lines().map((line) -> line.replaceFirst(".*Reading - ", ""))).containsExactly(
                "Cannot read queue 'a': WRONGTYPE (not logged again until it can be read)", "Can read queue 'a' again",
                "Cannot read queue 'a': WRONGTYPE (not logged again until it can be read)", "Can read queue 'a' again");
    }

    @Test
    void aDefectOfWhatIsStoredIsARefusal() {
        read();
        CompletableFuture<String> read = this.reading.read("queue 'b'", () -> {
            throw new IllegalArgumentException("no record");
        });

        assertThat(read).failsWithin(Duration.ZERO)
            .withThrowableThat()
            .havingCause()
            .isInstanceOf(StoreRefusedException.class)
            .withMessage("What is stored of queue 'b' cannot be read: no record");
    }

}
