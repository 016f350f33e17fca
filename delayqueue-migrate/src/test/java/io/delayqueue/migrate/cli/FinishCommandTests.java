package io.delayqueue.migrate.cli;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.migrate.MigrationSource;
import io.delayqueue.migrate.SourceException;
import io.delayqueue.migrate.SourceInUseException;
import io.delayqueue.migrate.engine.StopSignal;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mockito.InOrder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

/** Deletes the records only while no other process works on the queue. */
class FinishCommandTests {

    private static final String TAKEN = "delayqueue_migrate:redisson:{orders}";

    private final List<Duration> pauses = new ArrayList<>();

    private final StopSignal stop = new StopSignal() {

        @Override
        public void pause(Duration time) {
            FinishCommandTests.this.pauses.add(time);
        }

    };

    private final MigrationSource source = mock();

    @Test
    void waitsForAProcessThatWasKilledAndIsRefusedWhileAnotherGoesOn() {
        given(this.source.queues()).willReturn(List.of("orders"));
        willThrow(new SourceInUseException("orders")).given(this.source).own("orders");

        assertThatExceptionOfType(SourceInUseException.class)
            .isThrownBy(() -> new FinishCommand(this.stop).run(this.source));

        assertThat(this.pauses).hasSize(14).containsOnly(Duration.ofSeconds(1));
        verify(this.source, never()).status("orders");
        verify(this.source, never()).finish(any(), any());
    }

    @Test
    void reservesTheQueueBeforeItsStatusIsRead() {
        given(this.source.queues()).willReturn(List.of("orders"));
        given(this.source.status("orders")).willThrow(new SourceException("It is read", null));

        assertThatExceptionOfType(SourceException.class).isThrownBy(() -> new FinishCommand(this.stop).run(this.source))
            .withMessage("It is read");

        InOrder order = inOrder(this.source);
        order.verify(this.source).own("orders");
        order.verify(this.source).status("orders");
    }

    @Test
    @Tag("server")
    void unreadableEntriesAreKeptUnlessTheyAreDiscarded(@TempDir Path directory) {
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred())) {
            redis.commands().hset(TAKEN, Map.of("a-1", "1900000000000\nx", "a-2", "1900000000000\ny"));
            redis.commands().hset(TAKEN + ":unreadable", "a-2", "it is not JSON");
            redis.commands().hset(TAKEN + ":counts", Map.of("taken", "2", "sent", "1"));
            String[] arguments = { "finish", "--source=redisson", "--source-url=redis://127.0.0.1:" + redis.port(),
                    "--report=" + directory.resolve("report") };

            Tool refused = new Tool(arguments);
            assertThat(refused.run()).isOne();
            assertThat(refused.output()).contains("1 entries of queue 'orders' are unreadable",
                    "finish with --discard-unreadable");
            assertThat(redis.commands().hlen(TAKEN)).isEqualTo(2);

            Tool discarding = new Tool(arguments).with("--discard-unreadable");
            assertThat(discarding.run()).as(discarding::output).isZero();
            assertThat(redis.commands().keys("*")).isEmpty();
        }
    }

}
