package io.delayqueue.template;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.fixtures.store.TemplateFakeStore;
import io.delayqueue.store.ClaimResult;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Verifies that no caller receives a message whose time to live is over. */
class ReceiverExpiryTests {

    private static final byte[] ENVELOPE = TemplateFixture.CODEC.write(Map.of("n", 7), Map.of("a", "b"));

    private final TemplateFixture templates = new TemplateFixture(TemplateFixture::runningMillis);

    private final TemplateFakeStore store = this.templates.store;

    private final AtomicLong nanos = new AtomicLong();

    private final DelayQueueTemplate template = this.templates.template();

    /** With a clock that stands still unless moved. */
    private final DelayQueueTemplate frozen = this.templates.template(false, TemplateFixture.AGES, this.nanos::get);

    @Test
    void anExpiredMessageIsPublishedIfItIsKept() {
        DeadLetterEvent death = new DeadLetterEvent("q", "old", "old~1", 0, "expired");
        this.store.deadLettered.add(death);

        assertThat(this.template.receive("q", Duration.ZERO)).isEmpty();

        assertThat(this.templates.events).containsExactly(death);
    }

    @Test
    void aMessageThatExpiresOnItsWayIsReleased() {
        this.store.put("q", "a", 0, 0, false, ENVELOPE);
        this.store.expire("q", "a", Duration.ofMillis(1500));
        this.store.answers = (call, effect) -> {
            Object answer = effect.get();
            this.nanos.addAndGet(call.startsWith("claim") ? Duration.ofSeconds(2).toNanos() : 0);
            this.store.expire("q", "a", Duration.ofHours(1));
            return CompletableFuture.completedFuture(answer);
        };

        assertThat(this.frozen.receive("q", Duration.ZERO)).isPresent();

        assertThat(this.store.calls).containsExactly("claim q 1", "release a as before", "claim q 1");
    }

    @Test
    void aPollContinuesWhileClaimsOnlyRemoveExpiredMessages() {
        AtomicInteger claims = new AtomicInteger();
        this.store.put("q", "a", 0, 0, false, ENVELOPE);
        Instant now = Instant.ofEpochMilli(TemplateFixture.runningMillis());
        this.store.answers = (call, effect) -> {
            boolean removes = call.startsWith("claim") && claims.incrementAndGet() < 3;
            return CompletableFuture
                .completedFuture(removes ? new ClaimResult(List.of(), now, now, 100, List.of()) : effect.get());
        };

        assertThat(this.template.receive("q", Duration.ZERO)).isPresent();
        assertThat(claims).hasValue(3);
    }

}
