package io.delayqueue.move;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.delayqueue.migrate.MigrationSource;
import io.delayqueue.migrate.SourceOptions;
import io.delayqueue.migrate.redis.RqueueSource;
import io.lettuce.core.api.sync.RedisCommands;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/** Moves what a real version of Rqueue has written. */
@Tag("server")
class RqueueMoveTests extends MoveTestBase {

    private static final String VERSION = "rqueue-3.2";

    private static final String SCHEDULED = "__rq::d-queue::{orders}";

    private static final String READY = "__rq::queue::{orders}";

    private static final String PROCESSING = "__rq::p-queue::{orders}";

    private static final String ON_REQUEST = "--source-option=ready=true";

    private static final String MESSAGES = "shop:{orders}:messages";

    @Test
    void everyMessageIsMovedWithItsDueTimeAndIdExceptDeletedOnes() {
        send(VERSION, 0, COPIED, HOUR, 60_000);
        Map<String, Long> due = scene().dueIn(SCHEDULED);
        assertThat(due).hasSize(COPIED);
        run("DELETED 2", "delete", "order-3", "order-1999");
        due.remove("3");
        due.remove("1999");

        scene().run("plan");
        scene().run("copy", "--dry-run");
        assertThat(redis().commands().keys("*migrate*")).isEmpty();
        System.out.println(scene().run("copy"));

        assertThat(redis().commands().exists(SCHEDULED)).isZero();
        assertThat(scene().dueInTarget()).isEqualTo(due);
        assertThat(commands().hkeys(MESSAGES)).contains("order-0", "order-1998").doesNotContain("order-3");
        assertThat(scene().run("verify", "--check=5000")).contains(
                "%,d = %,d sent + 2 dropped + 0 unreadable + 0 not settled".formatted(COPIED, COPIED - 2),
                "%,d found with their due time".formatted(Math.min(COPIED - 2, 5_000)));
        scene().run("finish");
        assertThat(redis().commands().keys("*migrate*")).isEmpty();
    }

    @Test
    void rareKindsOfMessagesAreMovedOrReported() {
        run("SENT 7", "special");

        scene().run("copy", "--queue=orders", "--queue=orders_*=orders", "--source-option=priority.orders_high=9");

        assertThat(commands().hget(MESSAGES, "text")).endsWith("\"payload\":\"a text\"}");
        assertThat(commands().zcard("shop:{orders}:scheduled:priorities")).isEqualTo(1);
        assertThat(commands().hget(MESSAGES, "urgent")).contains("\"number\":3");
        assertThat(commands().hget(MESSAGES, "twice")).contains("\"number\":6");
        assertThat(commands().hvals(MESSAGES)).hasSize(5)
            .anySatisfy((message) -> assertThat(message).contains("\"rqueue-retry-count\":\"7\"", "\"number\":2"))
            .anySatisfy((message) -> assertThat(message).contains("\"migrate-source-id\":\"an id, not valid here\""));
        assertThat(commands().zrange(SCHEDULED, 0, -1)).singleElement()
            .satisfies((message) -> assertThat(message).contains("every-hour", "\"period\":3600000"));
        assertThat(scene().execute(1, "verify", "--queue=orders"))
            .contains("1 entries of queue 'orders' are left: periodic");
    }

    @Test
    @Tag("matrix")
    void ofTheMessagesWithOneIdThatOneIsMovedWhichRqueueWouldHandle() {
        run("SENT 7", "special");
        List<String> twice = commands().zrange(SCHEDULED, 0, -1)
            .stream()
            .filter((message) -> message.contains("\"id\":\"twice\""))
            .toList();
        assertThat(twice).hasSize(2);
        assertThat(scene().run("copy", "--queue=orders")).contains("1 dropped");
        List<String> moved = commands().hvals(MESSAGES).stream().filter(RqueueMoveTests::isOneOfTwice).toList();

        twice.forEach((message) -> commands().zadd(SCHEDULED, 1, message));
        try (PeerJvm consumer = peer(VERSION, "consume", "handled")) {
            consumer.await("READY");
            // Only the periodic message waits.
            Awaitility.await()
                .until(() -> commands().zcard(SCHEDULED) == 1 && commands().llen(READY) == 0
                        && commands().zcard(PROCESSING) == 0);
            consumer.stop();
        }

        assertThat(commands().hgetall("handled")).isEqualTo(Map.of("6", "1"));
        assertThat(moved).singleElement().asString().contains("\"number\":6");
    }

    /** Returns whether a message has one of the orders that were sent with one id. */
    private static boolean isOneOfTwice(String message) {
        return message.contains("\"number\":5") || message.contains("\"number\":6");
    }

    @Test
    void messagesInProcessingAreLeftToTheirConsumerUntilTheirVisibilityTimeoutIsOver() {
        send(VERSION, 0, 4, 200, 0);
        try (PeerJvm consumer = peer(VERSION, "hold", "holding")) {
            consumer.await("READY");
            Awaitility.await().until(() -> "4".equals(commands().hget("holding", "held")));
            assertThat(scene().run("copy", ON_REQUEST)).contains("0 sent", "4 entries of queue 'orders' still wait");
        }
        // The consumer was killed, and its messages are hidden for 15 minutes.
        assertThat(scene().run("copy", ON_REQUEST)).contains("0 sent");
        assertThat(scene().execute(1, "verify")).contains("4 entries of queue 'orders' are left: due or in processing");
        assertThat(commands().zcard(PROCESSING)).isEqualTo(4);
        run("DELETED 1", "delete", "order-2");
        List<String> members = commands().zrange(PROCESSING, 0, -1);
        members.stream()
            .filter((member) -> !member.contains("\"order-3\""))
            .forEach((member) -> commands().zadd(PROCESSING, System.currentTimeMillis() - 1, member));
        Map<String, Long> due = dueFields(members);

        scene().run("copy");
        assertThat(commands().zcard(PROCESSING)).isEqualTo(4);
        assertThat(scene().run("copy", ON_REQUEST)).contains("2 sent", "1 dropped");

        assertThat(commands().zrange(PROCESSING, 0, -1)).singleElement().asString().contains("\"order-3\"");
        // A due time in the past becomes the time of the send.
        assertThat(scene().dueInTarget()).containsOnlyKeys("0", "1")
            .allSatisfy((number, time) -> assertThat(time).isGreaterThanOrEqualTo(due.get(number)));
        assertThat(commands().hkeys(MESSAGES)).containsExactlyInAnyOrder("order-0", "order-1");
        assertThat(scene().execute(1, "verify", ON_REQUEST)).contains("1 entries wait");
    }

    /** Returns what the messages themselves say about when they are due. */
    private static Map<String, Long> dueFields(List<String> members) {
        Map<String, Long> due = new HashMap<>();
        members.forEach((member) -> due.put(Scene.numberIn(member),
                Long.valueOf(member.replaceAll(".*\"processAt\":(\\d+).*", "$1"))));
        return due;
    }

    @Test
    @Tag("matrix")
    void messagesThatAreDeletedAfterTheTakeOrHaveAPriorityAreNotSent() {
        run("SENT 7", "special");
        send(VERSION, 0, 2, HOUR, 0);
        try (MigrationSource source = new RqueueSource()) {
            // As a copy that is killed before it has sent anything.
            source.open(new SourceOptions("redis://127.0.0.1:" + redis().port(), null, null, Map.of()));
            assertThat(source.take("orders", "killed", 100)).hasSize(7);
        }
        run("DELETED 3", "delete", "order-1", "high/urgent", "text");

        assertThat(scene().run("copy", "--queue=orders", "--queue=orders_*=orders")).contains("7 repeated", "3 dropped",
                "1 dropped");

        assertThat(commands().hkeys(MESSAGES)).hasSize(4)
            .contains("order-0", "twice")
            .doesNotContain("order-1", "urgent", "text");
    }

    @Test
    @Tag("matrix")
    void messagesThatHaveFailedAreMovedWithTheNumberOfFailuresAndDueOnesAreOnRequest() {
        send(VERSION, 0, 20, 200, 0);
        try (PeerJvm consumer = peer(VERSION, "fail", "failing")) {
            consumer.await("READY");
            Awaitility.await().until(() -> {
                String failures = commands().hget("failing", "failures");
                return failures != null && Integer.parseInt(failures) >= 20 && commands().zcard(SCHEDULED) > 0;
            });
        }
        send(VERSION, 20, 1, 1, 0);

        scene().run("copy", ON_REQUEST);

        assertThat(commands().hvals(MESSAGES)).anySatisfy((message) -> assertThat(message).contains("rqueue-failures"));
        assertThat(commands().hkeys(MESSAGES)).contains("order-20");
        assertThat(commands().llen(READY)).isZero();
    }

    @Test
    @Tag("matrix")
    @Timeout(value = 4, unit = TimeUnit.HOURS)
    void nothingIsLostOrHandledByBothWhileTheToolIsKilledAndBothApplicationsRun() {
        moveUnderFire(VERSION);
    }

    private void run(String answer, Object... arguments) {
        try (PeerJvm peer = peer(VERSION, arguments)) {
            peer.await(answer);
            assertThat(peer.exit()).isZero();
        }
    }

    private RedisCommands<String, String> commands() {
        return redis().commands();
    }

    @Override
    String source() {
        return "rqueue";
    }

    @Override
    Map<String, Long> dueInSource() {
        return scene().dueIn(SCHEDULED);
    }

    @Override
    PeerJvm peer(String version, Object... arguments) {
        Object[] all = new Object[arguments.length + 1];
        all[0] = redis().port();
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        return PeerJvm.start(version, "io.delayqueue.peers.rqueue.RqueuePeer", all);
    }

}
