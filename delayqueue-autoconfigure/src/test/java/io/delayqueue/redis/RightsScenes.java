package io.delayqueue.redis;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.PrimaryPollerBid;
import org.jspecify.annotations.Nullable;

/**
 * Generates the states in which calls are tried: each shape that a message may have in
 * each state that it may come to, and the settings of a queue.
 */
public final class RightsScenes {

    private static final Duration TEN = Duration.ofSeconds(10);

    private static final Duration HOUR = Duration.ofHours(1);

    private final Map<String, Consumer<RightsStage>> scenes = new LinkedHashMap<>();

    public static Map<String, Consumer<RightsStage>> all() {
        RightsScenes all = new RightsScenes();
        for (Shape shape : Shape.values()) {
            all.addMessages(shape);
        }
        all.addFollowers();
        all.addSettings();
        return all.scenes;
    }

    /** Whether calls that change no message are worth trying too. */
    public static boolean isTriedWithAll(String scene) {
        return Stream.of(Shape.values())
            .noneMatch((shape) -> shape != Shape.LEADER && scene.startsWith(shape.text + " that"));
    }

    private void addMessages(Shape shape) {
        add(shape, "waits", (stage, a) -> a.send(stage, TEN));
        add(shape, "is due", (stage, a) -> a.send(stage, Duration.ZERO));
        if (shape.timeToLive != null) {
            add(shape, "has expired", (stage, a) -> {
                a.send(stage, Duration.ZERO);
                stage.advance(HOUR.multipliedBy(2));
            });
        }
        add(shape, "is leased", RightsScenes::lease);
        add(shape, "is leased and renewed", RightsScenes::renew);
        add(shape, "lapsed", RightsScenes::lapse);
        add(shape, "was renewed and lapsed", (stage, a) -> {
            renew(stage, a);
            stage.advance(HOUR);
        });
        addGivenBack(shape);
        addSuspects(shape);
        addFollowed(shape);
    }

    private void addGivenBack(Shape shape) {
        add(shape, "waits for its retry", (stage, a) -> {
            lease(stage, a);
            stage.retry(TEN);
        });
        add(shape, "is due after a retry", RightsScenes::retried);
        add(shape, "is leased after a retry", (stage, a) -> {
            retried(stage, a);
            stage.claim(RightsStage.LEASE);
        });
        add(shape, "lapsed after a retry", (stage, a) -> {
            retried(stage, a);
            stage.claim(RightsStage.LEASE);
            stage.advance(RightsStage.LEASE);
        });
        add(shape, "was leased for longer before", (stage, a) -> {
            a.send(stage, Duration.ZERO);
            stage.claim(HOUR);
            stage.retry(Duration.ZERO);
        });
        add(shape, "was released", (stage, a) -> {
            lease(stage, a);
            stage.release();
        });
        add(shape, "was replaced after a retry", (stage, a) -> {
            retried(stage, a);
            stage.send(a.message("a", "replacement", Duration.ZERO, OnDuplicate.REPLACE));
        });
        add(shape, "is dead", RightsScenes::dead);
        add(shape, "is dead and was sent again", (stage, a) -> {
            dead(stage, a);
            stage.send(a.message("a", "sent-again", TEN, OnDuplicate.KEEP));
        });
    }

    private void addSuspects(Shape shape) {
        add(shape, "lapsed, which was noticed", RightsScenes::noticed);
        add(shape, "is leased as a suspect", (stage, a) -> {
            noticed(stage, a);
            stage.claim(RightsStage.LEASE);
        });
        add(shape, "is leased as a suspect and started", RightsScenes::started);
        add(shape, "lapsed after it was started", (stage, a) -> {
            started(stage, a);
            stage.advance(RightsStage.LEASE);
        });
    }

    private void addFollowed(Shape shape) {
        add(shape, "is cancelled while leased", (stage, a) -> {
            lease(stage, a);
            stage.cancel("a");
        });
        add(shape, "is cancelled while leased, and lapsed", (stage, a) -> {
            lease(stage, a);
            stage.cancel("a");
            stage.advance(RightsStage.LEASE);
        });
        add(shape, "has a successor", RightsScenes::succeeded);
        add(shape, "has a successor and was renewed", (stage, a) -> {
            succeeded(stage, a);
            stage.extend(HOUR);
        });
        add(shape, "has a successor, and lapsed", (stage, a) -> {
            succeeded(stage, a);
            stage.advance(RightsStage.LEASE);
        });
        add(shape, "has a successor after a retry", (stage, a) -> {
            retried(stage, a);
            stage.claim(RightsStage.LEASE);
            stage.send(a.message("a", "successor", TEN, OnDuplicate.REPLACE));
        });
        add(shape, "has a successor of another shape", (stage, a) -> {
            lease(stage, a);
            stage.send(RightsStage.message("a", "other-successor", TEN, 7, HOUR, a.group, OnDuplicate.REPLACE));
        });
    }

    private void addFollowers() {
        Shape shape = Shape.HEAD;
        for (Duration timeToLive : new Duration[] { HOUR, null }) {
            String kind = (timeToLive != null) ? "a follower with a time to live" : "a follower";
            NewMessage a = RightsStage.message("a", "a", TEN, 7, timeToLive, "g", OnDuplicate.KEEP);
            NewMessage head = shape.message("b", "b", Duration.ZERO, OnDuplicate.KEEP);
            this.scenes.put(kind, (stage) -> stage.send(head, a));
            this.scenes.put(kind + " of one that is leased", (stage) -> {
                stage.send(head, a);
                stage.claim(RightsStage.LEASE);
            });
            this.scenes.put(kind + " of one that waits for its retry", (stage) -> {
                stage.send(head, a);
                stage.claim(RightsStage.LEASE);
                stage.retry(HOUR);
            });
            this.scenes.put(kind + " of one that lapsed", (stage) -> {
                stage.send(head, a);
                stage.claim(RightsStage.LEASE);
                stage.advance(RightsStage.LEASE);
            });
        }
    }

    private void addSettings() {
        this.scenes.put("nothing", (stage) -> {
        });
        this.scenes.put("a paused queue", (stage) -> {
            Shape.PLAIN.send(stage, Duration.ZERO);
            RightsStage.done(stage.records().raise(RightsStage.QUEUE, RightsStage.PAUSED));
        });
        this.scenes.put("a queue with a keeper", (stage) -> {
            Shape.PLAIN.send(stage, Duration.ZERO);
            RightsStage.done(stage.store()
                .claim(RightsStage.QUEUE, new ClaimRequest(10, RightsStage.LEASE, ExpiryPolicy.DROP,
                        new PrimaryPollerBid("node1", PrimaryPollerBid.Kind.CONFIRM, 0, HOUR))));
        });
        this.scenes.put("nodes and names of queues", (stage) -> {
            RightsStage.done(stage.nodes().report("gone", new byte[] { 'x' }));
            stage.advance(HOUR);
            RightsStage.done(stage.nodes().report("node", new byte[] { 'y' }));
            RightsStage.done(stage.queues().add(RightsStage.QUEUE.queue()));
        });
    }

    private void add(Shape shape, String history, BiConsumer<RightsStage, Shape> play) {
        this.scenes.put(shape.text + " that " + history, (stage) -> play.accept(stage, shape));
    }

    private static void lease(RightsStage stage, Shape shape) {
        shape.send(stage, Duration.ZERO);
        stage.claim(RightsStage.LEASE);
    }

    private static void renew(RightsStage stage, Shape shape) {
        lease(stage, shape);
        stage.advance(TEN);
        stage.extend(RightsStage.LEASE);
    }

    private static void lapse(RightsStage stage, Shape shape) {
        lease(stage, shape);
        stage.advance(RightsStage.LEASE);
    }

    private static void retried(RightsStage stage, Shape shape) {
        lease(stage, shape);
        stage.retry(Duration.ZERO);
    }

    private static void noticed(RightsStage stage, Shape shape) {
        lapse(stage, shape);
        stage.send(shape.message("a", "ignored", TEN, OnDuplicate.KEEP));
    }

    private static void started(RightsStage stage, Shape shape) {
        noticed(stage, shape);
        stage.claim(RightsStage.LEASE);
        stage.start();
    }

    private static void succeeded(RightsStage stage, Shape shape) {
        lease(stage, shape);
        stage.send(shape.message("a", "successor", TEN, OnDuplicate.REPLACE));
    }

    private static void dead(RightsStage stage, Shape shape) {
        lease(stage, shape);
        stage.die();
    }

    /** Names what a message is like, and what is in the queue besides. */
    enum Shape {

        PLAIN("a plain message", 4, null, null),

        AMONG("a plain message beside one with a time to live", 4, null, null) {
            @Override
            void send(RightsStage stage, Duration delay) {
                stage.send(RightsStage.message("o", "o", HOUR, 2, HOUR, null, OnDuplicate.KEEP));
                super.send(stage, delay);
            }
        },

        PAIR("a plain message of two", 4, null, null) {
            @Override
            void send(RightsStage stage, Duration delay) {
                super.send(stage, delay);
                stage.send(message("b", "b", delay, OnDuplicate.KEEP));
            }
        },

        EXPIRING("a message with a time to live", 4, HOUR, null),

        LANE("a message in another lane", 7, null, null),

        HEAD("the only message of a group", 4, null, "g"),

        LEADER("the head of a group", 4, null, "g") {
            @Override
            void send(RightsStage stage, Duration delay) {
                super.send(stage, delay);
                stage.send(RightsStage.message("b", "b", delay.plusMillis(1), 2, HOUR, "g", OnDuplicate.KEEP),
                        RightsStage.message("c", "c", delay.plusMillis(2), 4, null, "g", OnDuplicate.KEEP));
            }
        },

        ALL("the head of a group in another lane, with a time to live", 7, HOUR, "g") {
            @Override
            void send(RightsStage stage, Duration delay) {
                super.send(stage, delay);
                stage.send(message("b", "b", delay.plusMillis(1), OnDuplicate.KEEP));
            }
        };

        private final String text;

        private final int lane;

        private final @Nullable Duration timeToLive;

        private final @Nullable String group;

        Shape(String text, int lane, @Nullable Duration timeToLive, @Nullable String group) {
            assert lane >= MessageLimits.MIN_PRIORITY;
            this.text = text;
            this.lane = lane;
            this.timeToLive = timeToLive;
            this.group = group;
        }

        NewMessage message(String id, String content, Duration delay, OnDuplicate onDuplicate) {
            return RightsStage.message(id, content, delay, this.lane, this.timeToLive, this.group, onDuplicate);
        }

        void send(RightsStage stage, Duration delay) {
            stage.send(message("a", "a", delay, OnDuplicate.KEEP));
        }

    }

}
