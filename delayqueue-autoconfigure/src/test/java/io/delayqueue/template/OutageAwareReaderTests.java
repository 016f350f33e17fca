package io.delayqueue.template;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Checks that a store that does not answer is logged once, and that later callers do not
 * wait for it.
 */
@ExtendWith(OutputCaptureExtension.class)
class OutageAwareReaderTests {

    private static final StoreUnavailableException AWAY = new StoreUnavailableException("away", Effect.NONE, null);

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);

    private final OutageAwareReader reading = new OutageAwareReader(this.nanos::get);

    private final List<CompletableFuture<String>> reads = new ArrayList<>();

    private CompletableFuture<String> read() {
        return read("queue 'a'");
    }

    private CompletableFuture<String> read(String queue) {
        return this.reading.read(queue, () -> {
            CompletableFuture<String> read = new CompletableFuture<>();
            this.reads.add(read);
            return read;
        });
    }

    private void pass(Duration time) {
        this.nanos.addAndGet(time.toNanos());
    }

    @Test
    void anUnavailableResourceIsReadAgainInTheBackgroundUntilItAnswers() {
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
    void aRejectedResourceIsReadEachTime() {
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
                read("queue 'log'");
                this.reads.get(this.reads.size() - 1)
                    .completeExceptionally(new StoreRefusedException("WRONGTYPE", null));
            }
            read("queue 'log'");
            this.reads.get(this.reads.size() - 1).complete("the answer");
        }

        await().untilAsserted(() -> assertThat(output.getOut()
            .lines()
            .filter((line) -> line.contains("queue 'log'"))
            .map((line) -> line.replaceFirst(".*OutageAwareReader - ", "")))
            .containsExactly("Cannot read queue 'log': WRONGTYPE (not logged again until it can be read)",
                    "Can read queue 'log' again",
                    "Cannot read queue 'log': WRONGTYPE (not logged again until it can be read)",
                    "Can read queue 'log' again"));
    }

    /** It may have recovered long ago. */
    @Test
    void anOldFailureIsNotAnswered() {
        read();
        this.reads.get(0).completeExceptionally(AWAY);
        pass(Duration.ofSeconds(10));

        CompletableFuture<String> again = read();
        assertThat(again).isNotDone();
        this.reads.get(1).complete("the answer");
        assertThat(again).isCompletedWithValue("the answer");
    }

    /** It may be the event loop of the client, and an appender may block. */
    @Test
    void theThreadOfTheStoreLogsNothing() {
        List<String> threads = new CopyOnWriteArrayList<>();
        AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                if (event.getFormattedMessage().contains("queue 'threads'")) {
                    threads.add(Thread.currentThread().getName());
                }
            }
        };
        Logger logger = (Logger) LoggerFactory.getLogger(OutageAwareReader.class);
        appender.start();
        logger.addAppender(appender);
        try {
            read("queue 'threads'");
            this.reads.get(0).completeExceptionally(new StoreRefusedException("WRONGTYPE", null));
            read("queue 'threads'");
            this.reads.get(1).complete("the answer");
            await().until(() -> threads.size() == 2);
        }
        finally {
            logger.detachAppender(appender);
        }
        assertThat(threads).containsOnly("delayqueue-log");
    }

    @Test
    void aDefectOfWhatIsStoredIsARefusal() {
        read("queue 'threads'");
        CompletableFuture<String> read = this.reading.read("queue 'b'", () -> {
            throw new IllegalArgumentException("no record");
        });

        assertThat(read).failsWithin(Duration.ZERO)
            .withThrowableThat()
            .havingCause()
            .isInstanceOf(StoreRefusedException.class)
            .withMessage("Cannot read the stored data of queue 'b': no record");
    }

}
