package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayedMessage;
import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.redis.script.LoadedScripts;
import io.delayqueue.redis.script.RedisKeys;
import io.delayqueue.redis.script.RedisScript;
import io.delayqueue.redis.script.RedisScripts;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.lettuce.core.cluster.SlotHash;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Verifies that any name of a queue, id, group, header or namespace is rejected with an
 * error of one line, or affects only its own queue: no two queues share a key, all keys
 * of a queue are in its slot, and no script contains a name.
 */
@Tag("server")
class HostileNamesTests {

    private static final long SEED = Long.getLong("dq.seed", ThreadLocalRandom.current().nextLong(1_000_000));

    private static final int NAMES = 3_000;

    private static final String[] PIECES = { "a", "b", "orders", "{", "}", "{}", "{a}", ":", "::", ":1", ":messages",
            "*", "?", "[a]", "\\", "/", ".", "..", "-", "_", "+", "=", "~", "@", "%", "%7B", " ", "\n", "\r\n", "\0",
            "\t", "'", "\"", "]]", "--", "$", "${a}", "#{a}", "\u00e9", "\u2028", "\u202e", "\ud83d\ude00", "\ud800",
            "scheduled", "_probe", "9".repeat(20), "x".repeat(200) };

    private final Random random = new Random(SEED);

    private String name() {
        return Stream.generate(() -> PIECES[this.random.nextInt(PIECES.length)])
            .limit(this.random.nextInt(5))
            .collect(Collectors.joining());
    }

    /** Returns the distinct names that pass the check. */
    private Set<String> admitted(Function<String, Object> check) {
        return admitted(check, "[^\\p{C}\\p{Zl}\\p{Zp}]{1,400}");
    }

    private Set<String> admitted(Function<String, Object> check, String error) {
        Set<String> admitted = new TreeSet<>();
        int refused = 0;
        for (int i = 0; i < NAMES; i++) {
            String name = name();
            try {
                check.apply(name);
                admitted.add(name);
            }
            catch (IllegalArgumentException ex) {
                refused++;
                assertThat(ex.getMessage()).as("-Ddq.seed=%d", SEED).contains("is not valid").matches(error);
            }
        }
        assertThat(refused).isPositive();
        assertThat(admitted).isNotEmpty();
        return admitted;
    }

    @Test
    void noTwoQueuesShareAKeyOrAChannel() {
        Map<String, String> owners = new HashMap<>();
        for (String name : admitted(QueueName::new)) {
            for (int index : new int[] { 0, 1, 2, 12, Partition.LIMIT - 1 }) {
                Partition partition = new Partition(new QueueName(name), index);
                RedisKeys keys = new RedisKeys("shop", partition);
                for (byte[] key : keys.all()) {
                    assertThat(owners.put(new String(key, StandardCharsets.UTF_8), partition.toString()))
                        .as("-Ddq.seed=%d", SEED)
                        .isNull();
                    assertThat(SlotHash.getSlot(key)).isEqualTo(SlotHash.getSlot(partition.toString()));
                }
            }
        }
        assertThat(owners.keySet()).allMatch((key) -> key.matches("shop:\\{[^{}]+}:[a-z-]+(:[a-z]+)?"));
    }

    @Test
    void noTwoNamespacesShareAKey() {
        Map<String, String> owners = new HashMap<>();
        for (String namespace : admitted(RedisScriptExecutor::requireNamespace, "(?s).*")) {
            for (String queue : List.of("a", "b", "orders")) {
                RedisKeys keys = new RedisKeys(namespace, Partition.first(new QueueName(queue)));
                for (byte[] key : keys.all()) {
                    assertThat(owners.put(new String(key, StandardCharsets.UTF_8), namespace)).isNull();
                    assertThat(SlotHash.getSlot(key)).isEqualTo(SlotHash.getSlot(queue));
                }
                assertThat(keys.keyspacePattern().replace("__keyspace@*__", "")).doesNotContainPattern("[?\\[\\]\\\\]")
                    .endsWith("scheduled*");
            }
        }
    }

    @Test
    void headerNamesAreUnchanged() {
        EnvelopeCodec codec = new EnvelopeCodec(JsonMapper.builder().build());
        for (String name : admitted((header) -> DelayedMessage.builder("orders", "x").header(header, "v"))) {
            if (StandardCharsets.UTF_8.newEncoder().canEncode(name)) {
                assertThat(codec.read(codec.write("x", Map.of(name, name))).headers()).isEqualTo(Map.of(name, name));
            }
        }
    }

    @Test
    void idsAndGroupsAffectOnlyTheirQueue() {
        List<String> ids = List.copyOf(admitted(MessageLimits::requireId)).stream().limit(60).toList();
        List<String> groups = List.copyOf(admitted(MessageLimits::requireGroup)).stream().limit(60).toList();
        String namespace = "names-" + UUID.randomUUID();
        RedisServer server = RedisServer.shared(RedisBinary.preferred());
        LettuceConnectionFactory connections = ConnectionFactories.lettuce(server);
        try (RedisScriptExecutor redis = RedisScriptExecutor.to(connections, namespace, Duration.ofSeconds(30))) {
            RedisMessageStore store = new RedisMessageStore(redis);
            PartitionTarget target = PartitionTarget.first(new QueueName("orders"));
            Set<String> held = new TreeSet<>();
            for (int i = 0; i < ids.size(); i++) {
                String id = ids.get(i);
                done(store.schedule(target, List.of(new NewMessage(id, false, DueTime.NOW, OnDuplicate.KEEP, i % 10,
                        null, (i % 2 == 0) ? groups.get(i % groups.size()) : null, new byte[] { '{', '}' }))));
                held.add(id);
                assertThat(server.commands().hkeys(namespace + ":{orders}:messages")).as("-Ddq.seed=%d", SEED)
                    .containsExactlyInAnyOrderElementsOf(held);
            }
            List<Lease> leases = new ArrayList<>();
            done(store.claim(target.partition(), new ClaimRequest(100, Duration.ofMinutes(1), ExpiryPolicy.DROP)))
                .messages()
                .forEach((message) -> leases.add(message.lease()));
            assertThat(done(store.acknowledge(target.partition(), leases))).doesNotContain(false);
            leases.forEach((lease) -> held.remove(lease.id()));
            held.forEach((id) -> assertThat(done(store.cancel(target, id))).isEqualTo(CancelResult.CANCELLED));
            assertThat(server.commands().keys(namespace + "*")).isEmpty();
        }
        finally {
            connections.destroy();
        }
    }

    private static <T> T done(CompletableFuture<T> answer) {
        return answer.join();
    }

    /** Scripts name no key, call only bounded commands, and run no text. */
    @Test
    void scriptsAccessOnlyTheirKeysWithBoundedCommands() {
        Pattern call = Pattern.compile("redis\\.p?call\\(([^,)]+)(?:,\\s*([^,)]+))?");
        Pattern key = Pattern.compile("[A-Z_]+|KEYS\\[\\w+]|key|lane|hash");
        LoadedScripts.texts().forEach((name, text) -> {
            assertThat(Pattern.compile("\\b(loadstring|load|dofile|require|setfenv)\\s*\\(").matcher(text).find())
                .as(name)
                .isFalse();
            Matcher calls = call.matcher(text.replaceAll("(?m)--.*$", ""));
            while (calls.find()) {
                String command = calls.group(1);
                assertThat(command).as(name).matches("'[A-Z]+'|\\.\\.\\.");
                assertThat(command).as(name)
                    .isNotIn("'KEYS'", "'SCAN'", "'EVAL'", "'EVALSHA'", "'CONFIG'", "'FLUSHALL'");
                if (calls.group(2) != null && !command.equals("'INFO'")) { // reads no key
                    assertThat(calls.group(2).strip()).as("%s: %s", name, calls.group()).matches(key);
                }
            }
        });
    }

    /** The class path is the only source of scripts, and only the loader creates them. */
    @Test
    void productionCodeListsNoKeysAndBuildsNoScript() throws Exception {
        try (Stream<Path> files = Files.walk(Path.of("src", "main", "java"))) {
            for (Path file : files.filter((each) -> each.toString().endsWith(".java")).toList()) {
                String code = Files.readString(file).replaceAll("(?s)/\\*.*?\\*/|//[^\\n]*", "");
                assertThat(Pattern
                    .compile("\"KEYS\"|CommandType\\.KEYS|[cC]ommands(?:\\(\\))?\\.keys\\(|redis\\.p?call\\(")
                    .matcher(code)
                    .find()).as(file.toString()).isFalse();
                if (!file.endsWith("RedisScripts.java") && !file.endsWith("RedisScript.java")) {
                    assertThat(code).as(file.toString()).doesNotContain("RedisScript.of(", "new RedisScript(");
                }
                Matcher eval = Pattern.compile("\\.eval\\(([^,]+),").matcher(code);
                while (eval.find()) {
                    assertThat(eval.group(1)).as(file.toString()).isIn("this.script.text()", "text");
                }
            }
        }
    }

}
