package io.delayqueue.redis;

import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.delayqueue.QueueName;
import io.delayqueue.redis.script.ScriptCodec;
import io.delayqueue.redis.script.ScriptRunner;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/** Verifies that members which are no names of queues do not end the list early. */
class RedisQueueRegistryTests {

    private final TreeSet<String> members = new TreeSet<>(List.of("a", "b", "c"));

    private final RedisQueueRegistry registry = new RedisQueueRegistry(new RedisScriptExecutor(runner(), "n"));

    /** Returns a runner that lists like {@code queues.lua}. */
    private ScriptRunner runner() {
        ScriptRunner runner = mock(ScriptRunner.class);
        when(runner.run(any(), any(), any())).thenAnswer((call) -> {
            byte[][] arguments = call.getArgument(2);
            String after = ScriptCodec.text(arguments[1]);
            List<Object> rows = this.members.tailSet(after, false)
                .stream()
                .limit(Long.parseLong(ScriptCodec.text(arguments[2])))
                .<Object>map(ScriptCodec::bytes)
                .toList();
            return CompletableFuture.completedFuture(rows);
        });
        return runner;
    }

    private List<String> listed(String after, int limit) {
        return this.registry.list(after, limit).join().stream().map(QueueName::value).toList();
    }

    @Test
    void invalidNamesDoNotCountTowardsTheLimit() {
        this.members.add("a {}");
        this.members.add("b b");

        assertThat(listed("", 2)).containsExactly("a", "b");
        assertThat(listed("a", 2)).containsExactly("b", "c");
        assertThat(listed("", 4)).containsExactly("a", "b", "c");
    }

    @Test
    void manyInvalidNamesAreSkipped() {
        IntStream.range(0, 5_000).forEach((i) -> this.members.add("a {" + i));

        assertThat(listed("", 1)).containsExactly("a");
        assertThat(listed("", 2)).containsExactly("a", "b");
        assertThat(listed("b", 9)).containsExactly("c");
    }

}
