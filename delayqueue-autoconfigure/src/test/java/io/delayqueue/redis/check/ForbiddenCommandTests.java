package io.delayqueue.redis.check;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.stream.Stream;

import io.delayqueue.CancelResult;
import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.QueueStatistics;
import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.store.ScheduleValues;
import io.delayqueue.fixtures.store.KeyInvariants;
import io.delayqueue.fixtures.store.PinnedTimeRunner;
import io.delayqueue.redis.RedisMessageInspector;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisScheduleStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.script.RedisKeys;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.schedule.ScheduleChange;
import io.delayqueue.store.schedule.ScheduleStep;
import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.protocol.CommandType;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * P1: a permission that is revoked at any time, and a key of another type, cost no
 * message its place, and leave a queue with which the scripts work.
 */
@Tag("server")
class ForbiddenCommandTests {

    private static final List<String> COMMANDS = List.of("zadd", "zrem", "zremrangebyrank", "zrange", "zcount",
            "zscore", "zmscore", "hset", "hsetnx", "hget", "hgetall", "hmget", "hdel", "hexists", "hstrlen", "exists",
            "get", "set", "del", "time", "publish");

    private static final Duration LEASE = Duration.ofSeconds(30);

    private static final Partition QUEUE = Partition.first(new QueueName("forbidden"));

    private static final PartitionTarget HOME = PartitionTarget.first(QUEUE.queue());

    private final RedisServer server = RedisServer.shared(RedisBinary.preferred());

    private final String namespace = "forbidden-" + UUID.randomUUID();

    private final ManualClock clock = new ManualClock();

    private LettuceConnectionFactory connections;

    private RedisScriptExecutor redis;

    private RedisMessageStore store;

    @BeforeEach
    void open() {
        this.server.commands()
            .aclSetuser(this.namespace, AclSetuserArgs.Builder.on().nopass().allKeys().allChannels().allCommands());
        RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(this.server.host(),
                this.server.port());
        configuration.setUsername(this.namespace);
        configuration.setPassword("any");
        this.connections = ConnectionFactories.started(new LettuceConnectionFactory(configuration));
        this.redis = new RedisScriptExecutor(
                new PinnedTimeRunner(RedisScriptExecutor.runner(this.connections, Duration.ofSeconds(30)), this.clock),
                this.namespace);
        this.store = new RedisMessageStore(this.redis);
    }

    @AfterEach
    void close() {
        this.redis.close();
        this.connections.destroy();
        this.server.commands().aclDeluser(this.namespace);
        removeKeys();
    }

    private void removeKeys() {
        List<String> keys = this.server.commands().keys(this.namespace + ":*");
        if (!keys.isEmpty()) {
            this.server.commands().del(keys.toArray(String[]::new));
        }
    }

    static Stream<String> transitions() {
        return transitionsByName().keySet().stream();
    }

    private static Map<String, Transition> transitionsByName() {
        Map<String, Transition> all = new LinkedHashMap<>();
        all.put("a plain message is sent",
                new Transition((test) -> List.of(), (test, none) -> test.send(plain("a", 0))));
        all.put("plain messages are sent",
                new Transition((test) -> List.of(), (test, none) -> test.send(plain("a", 0), plain("b", 0))));
        all.put("a message of a group is sent",
                new Transition((test) -> List.of(), (test, none) -> test.send(message("a", 0, OnDuplicate.KEEP, "g"))));
        all.put("a message whose turn is before that of its head is sent",
                new Transition((test) -> test.sent(message("a", 9, OnDuplicate.KEEP, "g")),
                        (test, none) -> test.send(message("b", 5, OnDuplicate.KEEP, "g"))));
        all.put("a message is replaced", new Transition((test) -> test.sent(message("a", 9, OnDuplicate.KEEP, "g")),
                (test, none) -> test.send(message("a", 5, OnDuplicate.REPLACE, "g"))));
        all.put("a message is followed", new Transition((test) -> test.leased(plain("a", 0)),
                (test, leases) -> test.send(message("a", 5, OnDuplicate.REPLACE, null))));
        all.put("plain messages are claimed",
                new Transition((test) -> test.sent(plain("a", 0), plain("b", 0)), (test, none) -> test.claim()));
        all.put("messages of a group are claimed", new Transition(
                (test) -> test.sent(message("a", 0, OnDuplicate.KEEP, "g"), message("b", 0, OnDuplicate.KEEP, "g")),
                (test, none) -> test.claim()));
        all.put("a message that was tried before is claimed", new Transition((test) -> {
            test.store.retry(test.leased(plain("a", 0)).get(0), Duration.ZERO, "boom").join();
            return List.of();
        }, (test, none) -> test.claim()));
        all.put("a lease that ran out is found", new Transition((test) -> {
            List<Lease> leases = test.leased(plain("a", 0), message("b", 0, OnDuplicate.KEEP, "g"));
            test.clock.advance(LEASE);
            return leases;
        }, (test, leases) -> test.claim()));
        all.put("an expired message is buried", new Transition((test) -> {
            test.send(new NewMessage("a", false, DueTime.NOW, OnDuplicate.KEEP, 3, Duration.ofSeconds(1), null,
                    envelope()));
            test.clock.advance(LEASE);
            return List.of();
        }, (test, none) -> test.claim()));
        all.put("messages are acknowledged", new Transition((test) -> test.leased(plain("a", 0), plain("b", 0)),
                (test, leases) -> test.store.acknowledge(QUEUE, leases).join()));
        all.put("a message with a successor is acknowledged", new Transition((test) -> {
            List<Lease> leases = test.leased(plain("a", 0));
            test.send(message("a", 5, OnDuplicate.REPLACE, null));
            return leases;
        }, (test, leases) -> test.store.acknowledge(QUEUE, leases).join()));
        all.put("the head of a group is acknowledged", new Transition(
                (test) -> test.leased(message("a", 0, OnDuplicate.KEEP, "g"), message("b", 5, OnDuplicate.KEEP, "g")),
                (test, leases) -> test.store.acknowledge(QUEUE, leases).join()));
        all.put("a message is tried again", new Transition((test) -> test.leased(plain("a", 0)),
                (test, leases) -> test.store.retry(leases.get(0), LEASE, "boom").join()));
        all.put("a message is given back", new Transition((test) -> test.leased(plain("a", 0)),
                (test, leases) -> test.store.release(QUEUE, leases, LEASE).join()));
        all.put("a message dies",
                new Transition((test) -> test.leased(message("a", 0, OnDuplicate.KEEP, "g")),
                        (test, leases) -> test.store
                            .deadLetter(leases.get(0), new DeadLetterRequest("boom", true, Instant.EPOCH))
                            .join()));
        all.put("a lease is extended", new Transition((test) -> test.leased(plain("a", 0)),
                (test, leases) -> test.store.extend(QUEUE, leases, LEASE.multipliedBy(2)).join()));
        all.put("a message is cancelled", new Transition((test) -> test.sent(message("a", 9, OnDuplicate.KEEP, "g")),
                (test, none) -> test.store.cancel(HOME, "a").join()));
        all.put("a message with a time to live is cancelled",
                new Transition((test) -> test.sent(
                        new NewMessage("a", false, DueTime.after(LEASE), OnDuplicate.KEEP, 4, LEASE, null, envelope())),
                        (test, none) -> test.store.cancel(HOME, "a").join()));
        all.put("a plain message is cancelled", new Transition((test) -> test.sent(plain("a", 9)),
                (test, none) -> test.store.cancel(HOME, "a").join()));
        all.put("a message whose lease ran out is cancelled", new Transition((test) -> {
            List<Lease> leases = test.leased(plain("a", 0));
            test.clock.advance(LEASE);
            return leases;
        }, (test, leases) -> test.store.cancel(HOME, "a").join()));
        all.put("the head of a group is cancelled", new Transition(
                (test) -> test.sent(message("a", 5, OnDuplicate.KEEP, "g"), message("b", 9, OnDuplicate.KEEP, "g")),
                (test, none) -> test.store.cancel(HOME, "a").join()));
        all.put("a plain message is rescheduled", new Transition((test) -> test.sent(plain("a", 9)),
                (test, none) -> test.store.reschedule(HOME, "a", DueTime.after(LEASE)).join()));
        all.put("a message is rescheduled", new Transition((test) -> test.sent(message("a", 9, OnDuplicate.KEEP, "g")),
                (test, none) -> test.store.reschedule(HOME, "a", DueTime.after(LEASE)).join()));
        all.put("a dead letter is brought back", new Transition((test) -> {
            List<Lease> leases = test.leased(message("a", 0, OnDuplicate.KEEP, "g"));
            test.store.deadLetter(leases.get(0), new DeadLetterRequest("boom", true, Instant.EPOCH)).join();
            return leases;
        }, (test, leases) -> test.store.redrive(HOME, leases.get(0).deadLetterId()).join()));
        all.put("an occurrence of a group is sent", new Transition((test) -> test.scheduled(),
                (test, none) -> test.fire(ScheduleValues.sendDetailed(ScheduleValues.fresh()))));
        all.put("dead letters are purged", new Transition((test) -> {
            List<Lease> leases = test.leased(plain("a", 0));
            test.store.deadLetter(leases.get(0), new DeadLetterRequest("boom", true, Instant.EPOCH)).join();
            return leases;
        }, (test, leases) -> test.store.purgeOlderThan(QUEUE, Duration.ZERO).join()));
        return all;
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void losesNothing(String name) {
        Transition transition = transitionsByName().get(name);
        List<String> damages = new ArrayList<>();
        for (String command : COMMANDS) {
            removeKeys();
            List<Lease> leases = transition.before.apply(this);
            long held = held();
            this.server.commands()
                .aclSetuser(this.namespace,
                        new AclSetuserArgs().removeCommand(CommandType.valueOf(command.toUpperCase(Locale.ROOT))));
            boolean done = succeeds(transition, leases);
            this.server.commands().aclSetuser(this.namespace, AclSetuserArgs.Builder.allCommands());
            if (!done && command.equals("publish")) {
                damages.add("fails only because nobody can be told");
            }
            check(command, (done || takesAway(name)) ? 0 : held, damages);
        }
        assertThat(damages).isEmpty();
    }

    @Test
    void aCancelThatCannotBeNotedLeavesTheSuccessor() {
        List<Lease> leases = leased(plain("a", 0));
        send(message("a", 0, OnDuplicate.REPLACE, null));

        without(CommandType.HSET, () -> this.store.cancel(HOME, "a").join());

        assertThat(this.store.acknowledge(QUEUE, leases).join()).containsExactly(true);
        assertThat(claim().messages()).extracting((message) -> message.lease().id()).containsExactly("a");
    }

    @Test
    void aSendThatFailsStoresNothing() {
        send(message("a", 9, OnDuplicate.KEEP, "g"));

        without(CommandType.ZREM,
                () -> send(message("b", 5, OnDuplicate.KEEP, "h"), message("c", 5, OnDuplicate.KEEP, "g")));

        assertThat(this.store.cancel(HOME, "b").join()).isEqualTo(CancelResult.NOT_FOUND);
        assertThat(this.store.cancel(HOME, "c").join()).isEqualTo(CancelResult.NOT_FOUND);
    }

    @Test
    void aLeaseThatCannotBeExtendedIsStillItsHolders() {
        List<Lease> leases = leased(plain("a", 0));
        this.store.extend(QUEUE, leases, LEASE.multipliedBy(2)).join();

        without(CommandType.HSET, () -> this.store.extend(QUEUE, leases, LEASE.multipliedBy(3)).join());

        assertThat(this.store.acknowledge(QUEUE, leases).join()).containsExactly(true);
    }

    @Test
    void aStartThatCannotBeRecordedForgetsNoFailure() {
        this.store.retry(leased(plain("a", 0)).get(0), Duration.ZERO, "boom").join();
        Lease lease = claim().messages().get(0).lease();

        without(CommandType.HSET, () -> this.store.start(lease).join());

        this.store.release(QUEUE, List.of(lease), Duration.ZERO).join();
        assertThat(claim().messages()).extracting(ClaimedMessage::failures).containsExactly(1);
    }

    private void without(CommandType command, ThrowingCallable call) {
        this.server.commands().aclSetuser(this.namespace, new AclSetuserArgs().removeCommand(command));
        assertThatThrownBy(call).isInstanceOf(CompletionException.class);
        this.server.commands().aclSetuser(this.namespace, AclSetuserArgs.Builder.allCommands());
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void losesNothingToAKeyOfAnotherType(String name) {
        Transition transition = transitionsByName().get(name);
        List<String> damages = new ArrayList<>();
        for (byte[] bytes : new RedisKeys(this.namespace, QUEUE).all()) {
            String key = new String(bytes, StandardCharsets.UTF_8);
            removeKeys();
            List<Lease> leases = transition.before.apply(this);
            if (this.server.commands().exists(key) == 1) {
                continue;
            }
            long held = held();
            this.server.commands().rpush(key, "oops");
            boolean done = succeeds(transition, leases);
            if (this.server.commands().type(key).equals("list")) {
                this.server.commands().del(key);
            }
            check(key, (done || takesAway(name)) ? 0 : held, damages);
        }
        assertThat(damages).isEmpty();
    }

    /** Runs a call that fails for a missing permission or a key of another type. */
    private boolean succeeds(Transition transition, List<Lease> leases) {
        try {
            transition.action.accept(this, leases);
            return true;
        }
        catch (CompletionException ex) {
            return false;
        }
    }

    /** Counts messages and dead letters. */
    private long held() {
        QueueStatistics now = new RedisMessageInspector(this.redis, new EnvelopeCodec(new JsonMapper()))
            .statistics(QUEUE)
            .join();
        return now.scheduled() + now.leased() + now.dead();
    }

    /** A cancel that fails may have taken effect, and its exception reports that. */
    private static boolean takesAway(String name) {
        return name.endsWith("cancelled") || name.endsWith("purged");
    }

    /** Any other call that failed has taken nothing away. */
    private void check(String command, long atLeast, List<String> damages) {
        if (held() < atLeast) {
            damages.add(command + ": only " + held() + " of " + atLeast + " are left");
        }
        try {
            new KeyInvariants(this.connections, this.namespace, QUEUE).check();
        }
        catch (AssertionError ex) {
            // A wake mark that cannot be removed expires.
            if (!ex.getMessage().contains("I5")) {
                damages.add(command + ": " + ex.getMessage().replaceAll("\\s+", " "));
            }
        }
    }

    private static NewMessage plain(String id, int seconds) {
        return message(id, seconds, OnDuplicate.KEEP, null);
    }

    private static NewMessage message(String id, int seconds, OnDuplicate onDuplicate, @Nullable String group) {
        return new NewMessage(id, false, DueTime.after(Duration.ofSeconds(seconds)), onDuplicate,
                MessageLimits.NORMAL_PRIORITY, null, group, envelope());
    }

    private static byte[] envelope() {
        return "{\"payload\":1}".getBytes(StandardCharsets.UTF_8);
    }

    private void send(NewMessage... messages) {
        this.store.schedule(HOME, List.of(messages)).join();
    }

    private List<Lease> sent(NewMessage... messages) {
        send(messages);
        return List.of();
    }

    private List<Lease> leased(NewMessage... messages) {
        send(messages);
        return claim().messages().stream().map(ClaimedMessage::lease).toList();
    }

    private List<Lease> scheduled() {
        new RedisScheduleStore(this.redis)
            .change(QUEUE.queue(), new ScheduleChange(ScheduleValues.NAME, null, ScheduleValues.fresh(), null, null))
            .join();
        return List.of();
    }

    private void fire(ScheduleStep step) {
        new RedisScheduleStore(this.redis).fire(QUEUE.queue(), "node", List.of(step)).join();
    }

    private ClaimResult claim() {
        return this.store.claim(QUEUE, new ClaimRequest(10, LEASE, ExpiryPolicy.DEAD_LETTER)).join();
    }

    /** Holds the calls with all rights, and then those with fewer. */
    private record Transition(Function<ForbiddenCommandTests, List<Lease>> before,
            BiConsumer<ForbiddenCommandTests, List<Lease>> action) {
    }

}
