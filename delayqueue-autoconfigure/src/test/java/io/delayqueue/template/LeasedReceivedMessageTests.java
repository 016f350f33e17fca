package io.delayqueue.template;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterEvent;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.fixtures.store.TemplateFakeStore;
import org.junit.jupiter.api.Test;

import org.springframework.core.ParameterizedTypeReference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * A message in a caller's hands: P5 (it is settled by its token, once) and P9 (its last
 * failure makes one dead letter with its cause).
 */
class LeasedReceivedMessageTests {

    private static final byte[] ENVELOPE = TemplateFixture.CODEC.write(Map.of("n", 7), Map.of("a", "b"));

    private final TemplateFixture templates = new TemplateFixture(TemplateFixture::runningMillis);

    private final TemplateFakeStore store = this.templates.store;

    private final AtomicLong nanos = new AtomicLong();

    /** With a clock that stands still unless moved. */
    private final DelayQueueTemplate frozen = this.templates.template(false, TemplateFixture.AGES, this.nanos::get);

    @Test
    void leasedForIsCountedFromBeforeTheClaimAndEndsAtZero() {
        this.store.put("q", "a", 0, 0, false, ENVELOPE);
        this.store.answers = (call, effect) -> {
            this.nanos.addAndGet(Duration.ofSeconds(1).toNanos());
            return CompletableFuture.completedFuture(effect.get());
        };

        ReceivedMessage message = this.frozen.receive("q", Duration.ZERO).orElseThrow();

        assertThat(message.leasedFor()).isEqualTo(TemplateFixture.LEASE.minusSeconds(1));
        this.nanos.addAndGet(TemplateFixture.LEASE.toNanos());
        assertThat(message.leasedFor()).isZero();
    }

    @Test
    void extendProlongsButNeverShortens() {
        ReceivedMessage message = received(0);

        assertThat(message.extend(Duration.ofSeconds(10))).isTrue();
        assertThat(message.leasedFor()).isEqualTo(TemplateFixture.LEASE);
        assertThat(message.extend(Duration.ofSeconds(40).plusNanos(1))).isTrue();
        assertThat(message.leasedFor()).isEqualTo(Duration.ofSeconds(40).plusMillis(1));
        assertThatIllegalArgumentException().isThrownBy(() -> message.extend(Duration.ZERO))
            .withMessageContaining("Lease time 0 s is not valid");
    }

    @Test
    void aPayloadIsReadAsAGenericType() {
        ReceivedMessage message = received(0);

        Map<String, Long> payload = message.payload(new ParameterizedTypeReference<>() {
        });

        assertThat(payload).isEqualTo(Map.of("n", 7L));
        assertThatExceptionOfType(PayloadConversionException.class)
            .isThrownBy(() -> message.payload(new ParameterizedTypeReference<Map<String, List<Long>>>() {
            }))
            .withMessageContaining("java.util.Map<java.lang.String,java.util.List<java.lang.Long>>");
    }

    @Test
    void acknowledgeEndsTheLeaseOnce() {
        ReceivedMessage message = received(0);

        assertThat(message.acknowledge()).isTrue();
        assertThat(message.leasedFor()).isZero();
        assertThat(message.acknowledge()).isFalse();
        assertThat(message.retry(Duration.ZERO, "late")).isFalse();
        assertThat(message.release(Duration.ZERO)).isFalse();
        assertThat(message.deadLetter("late")).isFalse();
        assertThat(message.extend(Duration.ofSeconds(1))).isFalse();
        assertThat(this.templates.events).isEmpty();
    }

    @Test
    void retryMakesTheMessageDueAgainAndCountsAnAttempt() {
        assertThat(received(0).retry(Duration.ofNanos(1), "boom")).isTrue();

        assertThat(this.store.calls).last().isEqualTo("retry a PT0.001S boom");
    }

    @Test
    void retryAfterTheLastAttemptMakesADeadLetter() {
        assertThat(received(2).retry(Duration.ofSeconds(1), "boom\n  at x")).isTrue();

        DeadLetter letter = this.store.deadLetters().get(0);
        assertThat(letter.failures()).isEqualTo(3);
        assertThat(letter.cause()).isEqualTo("boom\n  at x");
        assertThat(this.templates.events).containsExactly(new DeadLetterEvent("q", "a", letter.id(), 3, "boom   at x"));
    }

    @Test
    void releaseCountsNoAttempt() {
        assertThat(received(0).release(Duration.ZERO)).isTrue();

        assertThat(this.frozen.receive("q", Duration.ZERO)).map(ReceivedMessage::attempt).hasValue(1);
    }

    @Test
    void deadLetterKeepsItsReasonWithinBounds() {
        assertThat(received(0).deadLetter("x".repeat(5000))).isTrue();

        DeadLetter letter = this.store.deadLetters().get(0);
        assertThat(letter.failures()).isZero();
        assertThat(letter.cause()).hasSize(4000).endsWith("...");
        assertThat(this.templates.events).singleElement()
            .satisfies((event) -> assertThat(((DeadLetterEvent) event).reason()).hasSize(500));
    }

    @Test
    void wrongDelaysAreRefusedBeforeAnyCallOfTheStore() {
        ReceivedMessage message = received(0);

        assertThatIllegalArgumentException().isThrownBy(() -> message.retry(Duration.ofSeconds(-1), "x"));
        assertThatIllegalArgumentException().isThrownBy(() -> message.release(Duration.ofSeconds(-1)));
        assertThat(this.store.calls).containsExactly("claim q 1");
    }

    @Test
    void settlingMayBeRepeatedAfterAnOutage() {
        ReceivedMessage message = received(0);
        this.store.failOn("acknowledge", away());
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(message::acknowledge);
        assertThat(message.leasedFor()).isEqualTo(TemplateFixture.LEASE);

        this.store.recover();

        assertThat(message.acknowledge()).isTrue();
    }

    @Test
    void aPayloadOfAnotherTypeIsReportedAndTheMessageStaysLeased() {
        ReceivedMessage message = received(0);

        assertThatExceptionOfType(PayloadConversionException.class).isThrownBy(() -> message.payload(int.class));
        assertThat(this.store.isLeased("q", "a")).isTrue();
    }

    private ReceivedMessage received(int failures) {
        this.store.put("q", "a", failures, 0, false, ENVELOPE);
        return this.frozen.receive("q", Duration.ZERO).orElseThrow();
    }

    private static StoreUnavailableException away() {
        return new StoreUnavailableException("away", Effect.UNKNOWN, null);
    }

}
