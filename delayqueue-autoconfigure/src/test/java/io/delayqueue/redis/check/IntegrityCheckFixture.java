package io.delayqueue.redis.check;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.admin.DelayQueueIntegrityChecker;
import io.delayqueue.admin.Finding;
import io.delayqueue.admin.IntegrityReport;
import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.store.PinnedTimeRunner;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.script.ScriptCodec;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** Provides a queue with a message in each state, to damage, check and repair it. */
abstract class IntegrityCheckFixture {

    static final Partition QUEUE = Partition.first(new QueueName("checked"));

    static final PartitionTarget HOME = PartitionTarget.first(QUEUE.queue());

    static final byte[] ENVELOPE = "{\"payload\":\"secret\"}".getBytes(StandardCharsets.UTF_8);

    static final Pattern WORD = Pattern.compile("\"[^\"]*\"|[^ ]+");

    static final Pattern ESCAPE = Pattern.compile("\\\\x([0-9a-f]{2})");

    static RedisServer server;

    static LettuceConnectionFactory connections;

    final String namespace = "checked-" + UUID.randomUUID();

    final ManualClock clock = new ManualClock();

    final RedisScriptExecutor redis = new RedisScriptExecutor(
            new PinnedTimeRunner(RedisScriptExecutor.runner(connections, Duration.ofSeconds(30)), this.clock),
            this.namespace);

    final RedisMessageStore store = new RedisMessageStore(this.redis);

    final DelayQueueIntegrityChecker checker = new RedisIntegrityChecker(this.redis, () -> connections,
            new EnvelopeCodec(JsonMapper.builder().build()));

    String deadLetter = "";

    @BeforeAll
    static void connect() {
        server = RedisServer.shared(RedisBinary.preferred());
        connections = ConnectionFactories.lettuce(server);
    }

    @AfterAll
    static void disconnect() {
        connections.destroy();
    }

    /** Adds a message in each state, with all entries that one can have. */
    void fill() {
        send("leased", 4, null, null, Duration.ZERO);
        send("retried", 4, null, null, Duration.ZERO);
        send("dead", 4, Duration.ofHours(1), null, Duration.ZERO);
        List<Lease> leases = done(
                this.store.claim(QUEUE, new ClaimRequest(10, Duration.ofMinutes(1), ExpiryPolicy.DROP)))
            .messages()
            .stream()
            .map((message) -> message.lease())
            .toList();
        for (Lease lease : leases) {
            switch (lease.id()) {
                case "retried" -> done(this.store.retry(lease, Duration.ofHours(1), "boom"));
                case "dead" -> {
                    done(this.store.deadLetter(lease, new DeadLetterRequest("boom", true, ManualClock.START)));
                    this.deadLetter = lease.deadLetterId();
                }
                default -> {
                    done(this.store.extend(QUEUE, leases, Duration.ofHours(2)));
                    schedule(new NewMessage("leased", false, DueTime.after(Duration.ofHours(3)),
                            OnDuplicate.AFTER_CURRENT, 4, null, null, ENVELOPE));
                }
            }
        }
        send("plain", 4, null, null, Duration.ofHours(1));
        send("lane", 7, Duration.ofHours(1), null, Duration.ofHours(1));
        for (int i = 1; i <= 3; i++) {
            send("g" + i, 4, null, "g", Duration.ofMinutes(i));
        }
        assertThat(kindsAndIds(this.checker.check("checked"))).isEmpty();
    }

    void send(String id, int priority, @Nullable Duration timeToLive, @Nullable String group, Duration delay) {
        schedule(new NewMessage(id, false, DueTime.after(delay), OnDuplicate.KEEP, priority, timeToLive, group,
                ENVELOPE));
    }

    private void schedule(NewMessage message) {
        done(this.store.schedule(HOME, List.of(message)));
    }

    static List<String> kindsAndIds(IntegrityReport examination) {
        return examination.findings().stream().map((finding) -> finding.kind() + " " + finding.id()).toList();
    }

    /** A command on a key of the queue; in a word, a line stands for a blank. */
    List<String> words(String command) {
        List<String> words = new ArrayList<>(List.of(command.split(" ")));
        words.set(1, stem() + words.get(1));
        words.replaceAll((word) -> word.equals("LETTER") ? this.deadLetter : word.replace('_', ' '));
        return words;
    }

    /** Parses a command of a finding, as the prompt of redis-cli does. */
    static List<String> parsed(String command) {
        return WORD.matcher(command)
            .results()
            .map(MatchResult::group)
            .map((word) -> ESCAPE.matcher(word.replace("\"", ""))
                .replaceAll((code) -> Matcher.quoteReplacement((char) Integer.parseInt(code.group(1), 16) + "")))
            .toList();
    }

    /** Each character is a byte. */
    static void run(List<String> command) {
        try (RedisConnection connection = ConnectionFactories.ofFixture(connections)) {
            connection.scriptingCommands()
                .eval(ScriptCodec.bytes("return redis.call(unpack(ARGV))"), ReturnType.MULTI, 0,
                        command.stream().map(ScriptCodec::bytesOfRaw).toArray(byte[][]::new));
        }
    }

    void damage(String commands) {
        for (String command : commands.split("\\|")) {
            run(words(command));
        }
    }

    /** Runs the proposed commands. */
    static void repair(Finding finding) {
        finding.commands().forEach((command) -> run(parsed(command)));
    }

    String stem() {
        return key(QUEUE, "");
    }

    String key(Partition partition, String kind) {
        return this.namespace + ":{" + partition + "}:" + kind;
    }

    static <T> T done(CompletableFuture<T> answer) {
        return answer.join();
    }

}
