package io.delayqueue.integration.faults;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

import io.delayqueue.fixtures.faults.FaultRun;
import io.delayqueue.fixtures.faults.OlderVersion;
import io.delayqueue.fixtures.faults.Seeds;
import io.delayqueue.fixtures.history.CheckResult;
import io.delayqueue.fixtures.history.EventHistory;
import io.delayqueue.fixtures.history.HistoryEvent;
import io.delayqueue.fixtures.history.HistoryEvent.Kind;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Nodes of an earlier version and of this one on one Redis, under load: a rolling update,
 * with nodes of both killed half way, and the way back. No promise of P1, P2, P4 to P6,
 * P9, P10 and P12 is broken.
 */
@Tag("faults")
@Timeout(value = 15, unit = TimeUnit.MINUTES)
@Tag("server")
class MixedVersionsFaultTests {

    /** The first that today's nodes can be compiled with. */
    private static final String FIRST = "2807166f";

    private static final long MOMENT = 2000;

    private final long seed = Seeds.next();

    private final String commit = System.getProperty("dq.older", FIRST);

    private final Set<String> olderNodes = new HashSet<>();

    @Test
    void nodesOfTwoVersionsShareARedis() throws Exception {
        Assumptions.assumeTrue(OlderVersion.isKnown(this.commit), "no git repository with " + this.commit);
        String older = OlderVersion.of(this.commit).classPath();
        String newer = System.getProperty("java.class.path");
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred(), "appendonly yes", "appendfsync always");
                FaultRun run = new FaultRun("versions", this.seed, redis, 3, "test.rate=20")) {
            run.seats().forEach((seat) -> seat.setClassPath(older));
            run.start();
            run.seats().forEach((seat) -> this.olderNodes.add(seat.node().name()));
            run.phase("older");
            FaultRun.pass(MOMENT);
            roll(run, "update", newer, false);
            run.phase("newer");
            FaultRun.pass(MOMENT);
            roll(run, "way back", older, true);
            run.phase("older again");
            FaultRun.pass(MOMENT);
            CheckResult verdict = run.end("versions", this.commit + " beside this one");
            assertThat(verdict.violations()).as("seed %d, see %s", this.seed, run.directory()).isEmpty();
            Map<String, Integer> crossings = crossings(EventHistory.read(run.directory()));
            System.out.printf("%s, seed %d: %s; %s%n", this.commit, this.seed, crossings, verdict.counts());
            assertThat(crossings).containsOnlyKeys("sent by older, handled by newer", "sent by newer, handled by older",
                    "claimed by older, then by newer", "claimed by newer, then by older");
        }
    }

    /** Node by node; once there are both, one of each is killed with its leases. */
    private void roll(FaultRun run, String phase, String classPath, boolean toOlder) throws InterruptedException {
        run.phase(phase);
        List<FaultRun.Seat> seats = run.seats();
        for (FaultRun.Seat seat : seats) {
            seat.stop();
            seat.setClassPath(classPath);
            restart(seat, toOlder);
            FaultRun.pass(MOMENT);
            if (seat == seats.get(0)) {
                restart(seat, toOlder);
                restart(seats.get(1), !toOlder);
            }
        }
    }

    private void restart(FaultRun.Seat seat, boolean older) throws InterruptedException {
        seat.restart();
        if (older) {
            this.olderNodes.add(seat.node().name());
        }
        seat.awaitReady();
    }

    /** How many messages went from one version to the other, and how. */
    private Map<String, Integer> crossings(EventHistory history) {
        Map<String, Integer> crossings = new TreeMap<>();
        for (HistoryEvent start : history.of(Kind.HANDLE)) {
            String number = start.get("number");
            count(crossings, "sent by %s, handled by %s", number.substring(0, number.lastIndexOf('-')), start.node());
        }
        Map<String, String> claimed = new HashMap<>();
        for (HistoryEvent claim : history.of(Kind.CLAIMED)) {
            String before = claimed.put(claim.get("number"), claim.node());
            if (before != null) {
                count(crossings, "claimed by %s, then by %s", before, claim.node());
            }
        }
        return crossings;
    }

    private void count(Map<String, Integer> crossings, String text, String from, String to) {
        if (isOlder(from) != isOlder(to)) {
            crossings.merge(text.formatted(version(from), version(to)), 1, Integer::sum);
        }
    }

    private boolean isOlder(String node) {
        return this.olderNodes.contains(node);
    }

    private String version(String node) {
        return isOlder(node) ? "older" : "newer";
    }

}
