package io.delayqueue.store.routing;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.QueueName;
import io.delayqueue.store.QueueRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** That noting queues costs a process next to nothing, whatever the store does. */
class QueueRegistrarTests {

    private static final QueueName QUEUE = new QueueName("q");

    private final List<QueueName> added = new ArrayList<>();

    private boolean away;

    private long now = -5;

    private final QueueRegistrar registrar = new QueueRegistrar(new QueueRegistry() {
        @Override
        public CompletableFuture<Void> add(QueueName queue) {
            QueueRegistrarTests.this.added.add(queue);
            return QueueRegistrarTests.this.away ? CompletableFuture.failedFuture(new IllegalStateException("away"))
                    : CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletableFuture<Boolean> remove(QueueName queue) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletableFuture<List<QueueName>> list(String after, int limit) {
            throw new UnsupportedOperationException();
        }
    }, () -> this.now);

    private void noteAfter(Duration time) {
        this.now += time.toNanos();
        this.registrar.register(QUEUE);
        this.registrar.register(QUEUE);
    }

    @ParameterizedTest
    @ValueSource(booleans = { true, false })
    void aQueueIsNotedAtItsFirstUseAndOnceAMinute(boolean storeIsAway) {
        this.away = storeIsAway;
        noteAfter(Duration.ZERO);
        noteAfter(Duration.ofSeconds(59));
        assertThat(this.added).containsExactly(QUEUE);

        noteAfter(Duration.ofSeconds(1));
        assertThat(this.added).containsExactly(QUEUE, QUEUE);
    }

    @Test
    void namesWithoutEndDoNotFillTheMemory() {
        for (int i = 0; i < 30_000; i++) {
            this.registrar.register(new QueueName("q" + i));
        }

        assertThat(this.added).hasSize(30_000);
    }

}
