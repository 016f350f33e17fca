package io.delayqueue.integration.handling;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.ChildJvm;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P2: no JVM's clock takes part. Two processes whose clocks are two hours apart send to
 * each other, and nothing is early or an hour late.
 */
@Tag("server")
class ClockIntegrationTests {

    private static final Pattern HANDLING = Pattern
        .compile("HANDLING (\\d+) attempt 1 lapses 0 due (\\S+) late (\\S+)");

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    @RegisterExtension
    final Applications applications = new Applications();

    /** How late each order was, by Redis' clock and the child's span since the claim. */
    private final Map<Integer, Duration> late = new HashMap<>();

    /** The time as the child processes see it. */
    private final Map<String, Instant> clocks = new HashMap<>();

    @Test
    void processesWhoseClocksAreHoursApartAgreeOnDelays() throws Exception {
        Assumptions.assumeTrue(hasFaketime(), "faketime is not installed");
        Instant before = Applications.timeOf(this.redis.commands());
        try (ChildJvm ahead = start("+3600s", 100); ChildJvm behind = start("-3600s", 200)) {
            Applications.awaitTrue("all is handled", () -> {
                note(ahead, "ahead", before);
                note(behind, "behind", before);
                return this.late.size() == 10 && this.clocks.size() == 2;
            });
            assertThat(Duration.between(this.clocks.get("behind"), this.clocks.get("ahead")))
                .isGreaterThan(Duration.ofMinutes(110));
            this.applications.assertNoKeysLeft(this.redis);
        }
        assertThat(this.late).hasSize(10);
        assertThat(this.late.values()).allMatch((lateness) -> !lateness.isNegative())
            .allMatch((lateness) -> lateness.compareTo(Duration.ofMinutes(30)) < 0);
    }

    private void note(ChildJvm child, String name, Instant before) throws InterruptedException {
        String line = child.poll();
        if (line != null && line.startsWith("READY ")) {
            this.clocks.put(name, Instant.parse(line.substring(6)));
        }
        else if (line != null) {
            Matcher matcher = HANDLING.matcher(line);
            assertThat(matcher.matches()).as(line).isTrue();
            Instant due = Instant.parse(matcher.group(2));
            assertThat(due).isAfterOrEqualTo(before.plusMillis(200));
            assertThat(Applications.timeOf(this.redis.commands())).isAfterOrEqualTo(due);
            assertThat(this.late.put(Integer.parseInt(matcher.group(1)), Duration.parse(matcher.group(3)))).isNull();
        }
    }

    private ChildJvm start(String offset, int sendFrom) {
        return ChildJvm.start(List.of("faketime", "-f", offset), Applications.at(this.redis.port(),
                "delayqueue.namespace=" + this.applications.namespace(), "test.send-from=" + sendFrom));
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
