package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.PrimaryPollerBid;
import org.jspecify.annotations.Nullable;

/** Creates each kind of message, and every other entry of a queue. */
enum WireScene {

    PLAIN {
        @Override
        void play(Stage stage) {
            stage.send("a", TEN);
            stage.send("b", Duration.ZERO);
        }
    },

    LANE {
        @Override
        void play(Stage stage) {
            stage.send(message("a", MessageLimits.MAX_PRIORITY, null, null));
            stage.send(message("b", MessageLimits.MIN_PRIORITY, null, null));
        }
    },

    EXPIRY {
        @Override
        void play(Stage stage) {
            stage.send(message("a", MessageLimits.NORMAL_PRIORITY, TEN, null));
        }
    },

    GROUP {
        @Override
        void play(Stage stage) {
            stage.send(message("a", MessageLimits.NORMAL_PRIORITY, null, "g"));
            stage.send(message("b", 7, TEN, "g"));
        }
    },

    LEASED {
        @Override
        void play(Stage stage) {
            stage.leased("a");
        }
    },

    RENEWED {
        @Override
        void play(Stage stage) {
            Lease lease = stage.leased("a");
            stage.clock().advance(TEN);
            done(stage.store().extend(QUEUE, List.of(lease), LEASE));
        }
    },

    RETRIED {
        @Override
        void play(Stage stage) {
            done(stage.store().retry(stage.leased("a"), TEN, "first:failure"));
        }
    },

    RELEASED {
        @Override
        void play(Stage stage) {
            done(stage.store().release(QUEUE, List.of(stage.leased("a")), TEN));
        }
    },

    LAPSED {
        @Override
        void play(Stage stage) {
            stage.leased("a");
            stage.clock().advance(LEASE);
            done(stage.store().reschedule(HOME, "a", DueTime.after(TEN)));
        }
    },

    STARTED_AFTER_A_LAPSE {
        @Override
        void play(Stage stage) {
            stage.leased("a");
            stage.clock().advance(LEASE);
            done(stage.store().start(stage.claim(ExpiryPolicy.DROP)));
        }
    },

    LAPSED_AFTER_A_START {
        @Override
        void play(Stage stage) {
            STARTED_AFTER_A_LAPSE.play(stage);
            stage.clock().advance(LEASE);
            done(stage.store().reschedule(HOME, "a", DueTime.after(TEN)));
        }
    },

    SUCCESSOR {
        @Override
        void play(Stage stage) {
            stage.leased("a");
            stage.send(message("a", OnDuplicate.AFTER_CURRENT, 7, TEN, null));
        }
    },

    CANCELLED_WHILE_LEASED {
        @Override
        void play(Stage stage) {
            stage.leased("a");
            done(stage.store().cancel(HOME, "a"));
        }
    },

    REPLACED {
        @Override
        void play(Stage stage) {
            done(stage.store().retry(stage.leased("a"), TEN, "failure"));
            stage.send(new NewMessage("a", false, DueTime.after(TEN), OnDuplicate.REPLACE, 4, null, null,
                    envelope("a again"), 77_000));
        }
    },

    DEAD {
        @Override
        void play(Stage stage) {
            done(stage.store().retry(stage.leased("a"), TEN, "first failure"));
            stage.clock().advance(TEN);
            done(stage.store()
                .deadLetter(stage.claim(ExpiryPolicy.DROP),
                        new DeadLetterRequest("last failure", true, stage.clock().now())));
        }
    },

    DEAD_OF_A_GROUP {
        @Override
        void play(Stage stage) {
            stage.send(message("a", 7, LEASE, "g"));
            stage.clock().advance(TEN);
            done(stage.store()
                .deadLetter(stage.claim(ExpiryPolicy.DROP),
                        new DeadLetterRequest("failure", false, stage.clock().now())));
        }
    },

    EXPIRED_AND_KEPT {
        @Override
        void play(Stage stage) {
            stage.send(message("a", 4, TEN, null));
            stage.clock().advance(LEASE);
            stage.claim(ExpiryPolicy.DEAD_LETTER);
        }
    },

    REDRIVEN {
        @Override
        void play(Stage stage) {
            Lease lease = stage.leased("a");
            done(stage.store().deadLetter(lease, new DeadLetterRequest("failure", true, stage.clock().now())));
            done(stage.store().redrive(HOME, lease.deadLetterId()));
        }
    },

    PRIMARY_POLLER {
        @Override
        void play(Stage stage) {
            stage.send("a", TEN);
            done(stage.store()
                .claim(QUEUE, new ClaimRequest(1, LEASE, ExpiryPolicy.DROP,
                        new PrimaryPollerBid("node1", PrimaryPollerBid.Kind.ACQUIRE, 2, Duration.ofHours(1)))));
        }
    },

    PARTITIONS {
        @Override
        void play(Stage stage) {
            stage.send("a", TEN);
            done(stage.records().establish(QUEUE.queue(), 4));
            done(stage.records().raise(QUEUE, new PartitionLayout(3, List.of(1, 4), true)));
        }
    };

    static final Partition QUEUE = Partition.first(new QueueName("wire"));

    static final PartitionTarget HOME = PartitionTarget.first(QUEUE.queue());

    static final Duration TEN = Duration.ofSeconds(10);

    static final Duration LEASE = Duration.ofSeconds(30);

    /** Fills an empty queue. */
    abstract void play(Stage stage);

    /** Returns whether its stamp is random. */
    boolean isStampedAtRandom() {
        return this == REDRIVEN;
    }

    String file() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-') + ".txt";
    }

    private static NewMessage message(String id, int lane, @Nullable Duration timeToLive, @Nullable String group) {
        return message(id, OnDuplicate.KEEP, lane, timeToLive, group);
    }

    private static NewMessage message(String id, OnDuplicate onDuplicate, int lane, @Nullable Duration timeToLive,
            @Nullable String group) {
        return new NewMessage(id, false, DueTime.after(TEN), onDuplicate, lane, timeToLive, group, envelope(id),
                id.hashCode() + lane);
    }

    /** Returns an envelope as {@code EnvelopeCodec} writes it. */
    static byte[] envelope(String content) {
        return "{\"headers\":{\"trace\":\"42\"},\"payload\":{\"content\":\"%s\"}}".formatted(content)
            .getBytes(StandardCharsets.UTF_8);
    }

    static <T> T done(CompletableFuture<T> answer) {
        return answer.join();
    }

    /** Holds the store and the clock that scenes use. */
    record Stage(RedisMessageStore store, RedisPartitionLayoutStore records, ManualClock clock) {

        void send(NewMessage message) {
            done(this.store.schedule(HOME, List.of(message)));
        }

        void send(String id, Duration delay) {
            send(new NewMessage(id, false, DueTime.after(delay), OnDuplicate.KEEP, MessageLimits.NORMAL_PRIORITY, null,
                    null, envelope(id), id.hashCode()));
        }

        Lease leased(String id) {
            send(id, Duration.ZERO);
            return claim(ExpiryPolicy.DROP);
        }

        /** Returns the lease of a due message, or an invalid one if none is due. */
        Lease claim(ExpiryPolicy policy) {
            return done(this.store.claim(QUEUE, new ClaimRequest(1, LEASE, policy))).messages()
                .stream()
                .map((message) -> message.lease())
                .findFirst()
                .orElse(new Lease(QUEUE, "none", "1"));
        }

    }

}
