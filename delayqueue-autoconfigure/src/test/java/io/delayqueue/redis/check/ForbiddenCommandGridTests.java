package io.delayqueue.redis.check;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.OnDuplicate;
import io.delayqueue.SendOutcome;
import io.delayqueue.StoredMessage;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.store.KeyInvariants;
import io.delayqueue.fixtures.store.PinnedTimeRunner;
import io.delayqueue.fixtures.store.RightsScenes;
import io.delayqueue.fixtures.store.RightsStage;
import io.delayqueue.redis.RedisMessageInspector;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.check.RightsCalls.Call;
import io.delayqueue.redis.check.RightsCalls.User;
import io.delayqueue.redis.script.RedisKeys;
import io.delayqueue.redis.script.ScriptCodec;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static io.delayqueue.fixtures.store.RightsStage.QUEUE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * P1, P8, P10: makes each call in each state of a queue, with each command that the call
 * uses there forbidden in turn. A call that is refused has changed nothing, or it leaves
 * a sound queue: I1 to I6 hold, nothing is gone that the whole call would have kept, all
 * messages are handed out in the end, and a later message of the same id inherits
 * nothing. Prints how many cells were tried.
 */
@Tag("server")
@Tag("matrix")
class ForbiddenCommandGridTests {

    private static final Logger logger = LoggerFactory.getLogger(ForbiddenCommandGridTests.class);

    private static final String NAMESPACE = "grid";

    private static final String USER = "grid-user";

    private static final Pattern COMMAND = Pattern.compile("cmdstat_([a-z|]+):calls=(\\d+)");

    private static final Pattern CONTENT = Pattern.compile("\"payload\":\"([^\"]*)\"");

    /** Those without which no script runs at all. */
    private static final Set<String> OTHERS = Set.of("evalsha", "eval", "info", "config|resetstat", "config", "ping",
            "script|load", "script", "client|setinfo", "client", "hello", "dump", "restore", "flushdb");

    private static final byte[] DUMP = ScriptCodec
        .bytes("local r = {} for i, k in ipairs(KEYS) do r[i] = redis.call('DUMP', k) end return r");

    private static final byte[] RESTORE = ScriptCodec.bytes("redis.call('DEL', unpack(KEYS)) "
            + "for i, k in ipairs(KEYS) do if ARGV[i] ~= '' then redis.call('RESTORE', k, 0, ARGV[i]) end end");

    /** The wake mark and the primary poller are hints, or expire. */
    private static final byte[] SAME = ScriptCodec.bytes("for i, k in ipairs(KEYS) do "
            + "if i ~= 3 and i ~= 15 and (redis.call('DUMP', k) or '') ~= ARGV[i] then return 0 end end return 1");

    /** Keys of the namespace stand behind those of the queue. */
    private static final int NODES = KeyKind.PRIMARY.number() + 2;

    private static final int SEEN = KeyKind.PRIMARY.number() + 3;

    /** Version of the partitions that every send accepts. */
    private static final int MAX_VERSION = 99;

    private static final List<String> IDS = List.of("a", "b", "c", "x", "y", "o");

    private static final Map<String, Integer> tally = new TreeMap<>();

    private static RedisServer server;

    private static LettuceConnectionFactory admin;

    private static LettuceConnectionFactory user;

    private static byte[][] keys;

    private static RedisScriptExecutor ours;

    private static RedisScriptExecutor theirs;

    private static final AtomicLong micros = new AtomicLong();

    @BeforeAll
    static void connect() {
        server = RedisServer.start(RedisBinary.preferred(), "rdbcompression no"); // dumps
                                                                                  // can
                                                                                  // be
                                                                                  // read
        server.commands().aclSetuser(USER, AclSetuserArgs.Builder.on().nopass().allKeys().allChannels().allCommands());
        admin = ConnectionFactories.started(new LettuceConnectionFactory(server.host(), server.port()));
        RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(server.host(), server.port());
        configuration.setUsername(USER);
        configuration.setPassword("any");
        user = ConnectionFactories.started(new LettuceConnectionFactory(configuration));
        ours = access(admin);
        theirs = access(user);
        List<byte[]> all = new ArrayList<>(List.of(new RedisKeys(NAMESPACE, QUEUE).all()));
        all.addAll(List.of(RedisKeys.ofDirectory(NAMESPACE)));
        all.addAll(List.of(RedisKeys.ofActivity(NAMESPACE)));
        keys = all.toArray(byte[][]::new);
    }

    private static RedisScriptExecutor access(LettuceConnectionFactory factory) {
        return new RedisScriptExecutor(
                PinnedTimeRunner.callingTime(RedisScriptExecutor.runner(factory, Duration.ofSeconds(30)), micros::get),
                NAMESPACE);
    }

    @AfterAll
    static void disconnect() {
        logger.info("Forbidden commands: {} cells tried, {}", tally.values().stream().mapToInt((n) -> n).sum(), tally);
        ours.close();
        theirs.close();
        user.destroy();
        admin.destroy();
        server.close();
    }

    static Set<String> scenes() {
        return RightsScenes.all().keySet();
    }

    @ParameterizedTest
    @MethodSource("scenes")
    void aRefusedCallLeavesASoundQueue(String scene) {
        List<String> damages = new ArrayList<>();
        try (RedisConnection connection = admin.getConnection()) {
            new Row(connection, RightsScenes.all().get(scene)).fill(RightsCalls.in(scene), damages);
        }
        assertThat(damages).isEmpty();
    }

    /** Tries all calls in one state of a queue. */
    private static final class Row {

        private final RedisConnection connection;

        private final RightsStage stage;

        private final long now;

        private final List<byte[]> before;

        Row(RedisConnection connection, Consumer<RightsStage> scene) {
            this.connection = connection;
            this.connection.serverCommands().flushDb();
            this.stage = new RightsStage(ours, micros);
            scene.accept(this.stage);
            this.now = micros.get();
            this.before = dump();
        }

        void fill(Map<String, Call> calls, List<String> damages) {
            Map<String, Map<String, Outcome>> byCommand = new LinkedHashMap<>();
            calls.forEach((name, call) -> {
                restore();
                server.commands().configResetstat();
                call.make(new User(theirs), this.stage).handle((done, failure) -> done).join();
                Outcome allowed = new Outcome(call, contents(dump()), record(dump()));
                for (String command : used()) {
                    byCommand.computeIfAbsent(command, (any) -> new LinkedHashMap<>()).put(name, allowed);
                }
            });
            assertThat(byCommand).isNotEmpty();
            restore();
            byCommand.forEach((command, allowed) -> {
                server.commands()
                    .aclSetuser(USER, new AclSetuserArgs().removeCommand(CommandType.valueOf(command.toUpperCase())));
                allowed.forEach((name, outcome) -> {
                    String found = cell(command, outcome);
                    tally.merge(found.startsWith("DAMAGED") ? "damaged" : found, 1, Integer::sum);
                    if (found.startsWith("DAMAGED")) {
                        damages.add("%s without %s: %s".formatted(name, command, found));
                    }
                });
                server.commands().aclSetuser(USER, AclSetuserArgs.Builder.allCommands());
            });
        }

        /** Returns the commands that were called since the statistics were reset. */
        private static Set<String> used() {
            Set<String> used = new TreeSet<>();
            Matcher command = COMMAND.matcher(server.commands().info("commandstats"));
            while (command.find()) {
                used.add(command.group(1));
            }
            used.removeAll(OTHERS);
            return used;
        }

        private String cell(String command, Outcome allowed) {
            boolean done;
            try {
                allowed.call().make(new User(theirs), this.stage).join();
                done = true;
            }
            catch (CompletionException ex) {
                done = false;
            }
            if (!done && isHint(command)) {
                return "DAMAGED: fails only because nobody can be told";
            }
            if (isUnchanged()) {
                return done ? "done, nothing changed" : "refused, nothing changed";
            }
            List<String> damage = damage(allowed, dump());
            micros.set(this.now);
            restore();
            if (!damage.isEmpty()) {
                return "DAMAGED: " + (done ? "done" : "refused") + ", " + damage;
            }
            return done ? "done all the same" : "refused in part, sound";
        }

        private static boolean isHint(String command) {
            return command.equals("publish");
        }

        private List<String> damage(Outcome allowed, List<byte[]> after) {
            List<String> damage = new ArrayList<>();
            Set<String> kept = contents(this.before);
            kept.retainAll(allowed.contents());
            Set<String> there = contents(after);
            Set<String> lost = new TreeSet<>(kept);
            lost.removeAll(there);
            if (!lost.isEmpty()) {
                damage.add("lost " + lost);
            }
            if (!List.of(record(this.before), allowed.record()).contains(record(after))) {
                damage.add("the record of partitions is '%s'".formatted(record(after)));
            }
            Set<String> nodes = new HashSet<>(fields(NODES));
            nodes.removeAll(members(SEEN));
            if (!nodes.isEmpty()) {
                damage.add("nodes that are never forgotten: " + nodes);
            }
            try {
                new KeyInvariants(admin, NAMESPACE, QUEUE).check();
            }
            catch (AssertionError ex) {
                if (!ex.getMessage().contains("I5")) { // a wake mark expires
                    damage.add(ex.getMessage().replaceAll("\\s+", " "));
                }
            }
            if (damage.isEmpty() && !record(after).contains("p")) {
                there.removeAll(superseded());
                damage.addAll(new Drain(there, new PartitionTarget(QUEUE, MAX_VERSION)).damage());
            }
            return damage;
        }

        /** Returns the contents of messages that have a successor or were cancelled. */
        private Set<String> superseded() {
            Set<String> contents = new TreeSet<>();
            for (byte[] id : this.connection.hashCommands().hKeys(keys[KeyKind.SUCCESSORS.ordinal()])) {
                contents.addAll(contents(this.connection.hashCommands().hGet(keys[KeyKind.MESSAGES.ordinal()], id)));
            }
            return contents;
        }

        private Set<String> fields(int key) {
            Set<String> names = new TreeSet<>();
            this.connection.hashCommands().hKeys(keys[key - 1]).forEach((name) -> names.add(ScriptCodec.raw(name)));
            return names;
        }

        private Set<String> members(int key) {
            Set<String> names = new TreeSet<>();
            this.connection.zSetCommands()
                .zRange(keys[key - 1], 0, -1)
                .forEach((name) -> names.add(ScriptCodec.raw(name)));
            return names;
        }

        private List<byte[]> dump() {
            return this.connection.scriptingCommands().eval(DUMP, ReturnType.MULTI, keys.length, keys);
        }

        private void restore() {
            this.connection.scriptingCommands()
                .eval(RESTORE, ReturnType.STATUS, keys.length, keysAndContents(this.before));
        }

        private static byte[][] keysAndContents(List<byte[]> contents) {
            byte[][] both = Arrays.copyOf(keys, 2 * keys.length);
            for (int i = 0; i < keys.length; i++) {
                both[keys.length + i] = (contents.get(i) != null) ? contents.get(i) : new byte[0];
            }
            return both;
        }

        /** Whether everything is as before, but for hints. */
        private boolean isUnchanged() {
            Long same = this.connection.scriptingCommands()
                .eval(SAME, ReturnType.INTEGER, keys.length, keysAndContents(this.before));
            return Long.valueOf(1).equals(same);
        }

        /** The contents of all messages, successors and dead letters. */
        private static Set<String> contents(List<byte[]> dump) {
            Set<String> contents = new TreeSet<>();
            for (KeyKind key : List.of(KeyKind.MESSAGES, KeyKind.SUCCESSORS, KeyKind.DEAD_LETTERS)) {
                contents.addAll(contents(dump.get(key.ordinal())));
            }
            return contents;
        }

        private static Set<String> contents(byte @Nullable [] stored) {
            Set<String> contents = new TreeSet<>();
            Matcher content = CONTENT.matcher((stored != null) ? ScriptCodec.raw(stored) : "");
            while (content.find()) {
                contents.add(content.group(1));
            }
            return contents;
        }

        private static String record(List<byte[]> dump) {
            byte[] record = dump.get(KeyKind.PARTITIONS.ordinal());
            return (record != null) ? ScriptCodec.raw(record) : "";
        }

    }

    /**
     * Sends a message to each id, then handles all that there is, and reports what is
     * never handed out or has inherited something.
     */
    private static final class Drain {

        private static final ClaimRequest CLAIM = new ClaimRequest(100, Duration.ofSeconds(30),
                ExpiryPolicy.DEAD_LETTER);

        private final RedisMessageStore store = new RedisMessageStore(ours);

        private final RedisMessageInspector inspector = new RedisMessageInspector(ours,
                new EnvelopeCodec(JsonMapper.builder().build()));

        private final Set<String> expected;

        private final PartitionTarget target;

        private final List<String> damage = new ArrayList<>();

        Drain(Set<String> expected, PartitionTarget target) {
            this.expected = new LinkedHashSet<>(expected);
            this.target = target;
        }

        List<String> damage() {
            try {
                IDS.forEach(this::sendLater);
                drain();
            }
            catch (CompletionException ex) {
                this.damage.add("later: " + ex.getCause());
            }
            if (!this.expected.isEmpty()) {
                this.damage.add("never handed out: " + this.expected);
            }
            try {
                new KeyInvariants(admin, NAMESPACE, QUEUE).checkNothingLeft();
            }
            catch (AssertionError ex) {
                this.damage.add("left: " + ex.getMessage().replaceAll("\\s+", " "));
            }
            return this.damage;
        }

        private void sendLater(String id) {
            StoredMessage there = this.inspector.find(this.target, id).join().orElse(null);
            NewMessage later = RightsStage.message(id, "later-" + id, Duration.ZERO, 4, null,
                    (there != null) ? there.group() : null, OnDuplicate.KEEP);
            SendOutcome outcome = this.store.schedule(this.target, List.of(later)).join().get(0).outcome();
            if (outcome != SendOutcome.KEPT) {
                this.expected.add("later-" + id);
            }
            if (outcome == SendOutcome.AFTER_CURRENT && there != null) {
                this.expected.remove(there.payload().replace("\"", ""));
            }
        }

        private void drain() {
            for (int i = 0; i < 100; i++) {
                micros.addAndGet(Duration.ofDays(400).toNanos() / 1_000);
                ClaimResult claim = this.store.claim(QUEUE, CLAIM).join();
                claim.messages().forEach(this::handedOut);
                if (!claim.messages().isEmpty()) {
                    this.store.acknowledge(QUEUE, claim.messages().stream().map(ClaimedMessage::lease).toList()).join();
                }
                if (claim.nextAt() == null) {
                    break;
                }
            }
            try (RedisConnection connection = admin.getConnection()) {
                connection.hashCommands().hVals(keys[KeyKind.DEAD_LETTERS.ordinal()]).forEach((deadLetter) -> {
                    Matcher content = CONTENT.matcher(ScriptCodec.raw(deadLetter));
                    if (content.find() && !content.group(1).startsWith("later-")) {
                        this.expected.remove(content.group(1));
                    }
                });
            }
            while (this.store.purgeOlderThan(QUEUE, Duration.ZERO).join() > 0) {
                continue;
            }
        }

        private void handedOut(ClaimedMessage message) {
            Matcher content = CONTENT.matcher(ScriptCodec.raw(message.envelope()));
            assertThat(content.find()).isTrue();
            this.expected.remove(content.group(1));
            if (content.group(1).startsWith("later-") && (message.failures() > 0 || message.lapses() > 0
                    || message.redelivered() || message.expiresAt() != null)) {
                this.damage.add("inherits: " + message);
            }
        }

    }

    /**
     * Holds what a call does that has all rights.
     *
     * @param call the call
     * @param contents the messages that are there afterwards
     * @param record that of the partitions
     */
    private record Outcome(Call call, Set<String> contents, String record) {
    }

}
