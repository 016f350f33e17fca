package io.delayqueue.shop.crash;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.fixtures.application.ChildJvm;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.ShopDatabase;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Tests delays in a ledger of nodes whose clocks are an hour ahead of those of Redis and
 * of the database, and an hour behind them. Skipped where faketime is not installed.
 */
@Tag("server")
@Tag("matrix")
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class NodeClockTests {

    private static final Duration PATIENCE = LedgerProcesses.PATIENCE;

    @TempDir
    private Path directory;

    static Stream<Arguments> databasesAndOffsets() {
        return EachDatabase.Databases.ofThisRun()
            .map((database) -> database.get()[0])
            .flatMap((database) -> Stream.of(1, -1).map((hours) -> Arguments.of(database, hours)));
    }

    /**
     * P1, P2: no message is early or lost, also if a node applies the request of another
     * whose clock differs by two hours, and if Redis has lost all of them meanwhile.
     */
    @ParameterizedTest
    @MethodSource("databasesAndOffsets")
    void nodesWhoseClocksDifferKeepDelays(ShopDatabase database, int hours) throws Exception {
        assumeTrue(hasFaketime(), "faketime is not installed");
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred())) {
            LedgerProcesses processes = new LedgerProcesses(LedgerClock.class, database, redis.port(), this.directory);
            processes.createTables("shop-order.sql");
            try (ChildJvm other = start(processes, -hours)) {
                Instant otherTime = time(other);
                try (ChildJvm sender = start(processes, hours, "clock.node=sender")) {
                    assertThat(Duration.between(otherTime, time(sender)).abs()).isGreaterThan(Duration.ofMinutes(110));
                }
                redis.commands().flushall();

                List<String> sent = LedgerClock.MESSAGES.stream().map((name) -> name + "-sender").toList();
                await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(times(processes, "HANDLED").keySet())
                        .containsExactlyInAnyOrderElementsOf(sent));
            }
            Map<String, Long> earliest = times(processes, "EARLIEST");
            assertThat(times(processes, "HANDLED")).allSatisfy((id, handled) -> assertThat(handled - earliest.get(id))
                .as("milliseconds from the due time of %s to its handling", id)
                .isBetween(0L, Duration.ofMinutes(30).toMillis()));
        }
    }

    private static ChildJvm start(LedgerProcesses processes, int hours, String... settings) {
        return processes.process(List.of("faketime", "-f", "%+dh".formatted(hours)),
                Stream.concat(Stream.of("spring.main.keep-alive=true"), Stream.of(settings)).toArray(String[]::new));
    }

    /** Returns the time of a process when it was ready. */
    private static Instant time(ChildJvm child) throws InterruptedException {
        return Instant.parse(child.next().substring("READY ".length()));
    }

    /** Returns the times of the lines of a kind, by ids; the first of each. */
    private static Map<String, Long> times(LedgerProcesses processes, String kind) throws IOException {
        return processes.handled()
            .stream()
            .map((line) -> line.split(" "))
            .filter((words) -> words[0].equals(kind))
            .collect(Collectors.toMap((words) -> words[1], (words) -> Long.parseLong(words[2]), (one, other) -> one));
    }

    private static boolean hasFaketime() throws InterruptedException {
        try {
            return new ProcessBuilder("faketime", "--version").redirectErrorStream(true).start().waitFor() == 0;
        }
        catch (IOException ex) {
            return false;
        }
    }

}
