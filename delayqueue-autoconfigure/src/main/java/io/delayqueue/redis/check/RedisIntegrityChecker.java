package io.delayqueue.redis.check;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.DelayQueueIntegrityChecker;
import io.delayqueue.admin.Finding;
import io.delayqueue.admin.Finding.Kind;
import io.delayqueue.admin.IntegrityReport;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.script.RedisExceptionTranslator;
import io.delayqueue.redis.script.RedisScripts;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.envelope.EnvelopeCodec;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import static io.delayqueue.redis.script.ScriptCodec.bytes;
import static io.delayqueue.redis.script.ScriptCodec.bytesOfRaw;
import static io.delayqueue.redis.script.ScriptCodec.number;
import static io.delayqueue.redis.script.ScriptCodec.raw;
import static io.delayqueue.redis.script.ScriptCodec.text;

/**
 * Checks the integrity of the keys in Redis. Reads each key of a queue page by page; a
 * script reads all entries of the messages of a page at one moment, so a message that
 * moves between two pages is right in both. Members that seem wrong are checked once more
 * at the end, as another producer needs two steps to write a message, and partitions may
 * have been added.
 * <p>
 * <strong>Threads.</strong> Any; nothing is shared.
 */
public final class RedisIntegrityChecker implements DelayQueueIntegrityChecker {

    /**
     * Messages come with their content, which may be long. Redis returns a key in compact
     * form, which is always small, as one page.
     */
    private static final int MESSAGES_AT_ONCE = 20;

    private static final int MEMBERS_AT_ONCE = 100;

    /** Position of the first key's type in the reply of {@code inspect-partition.lua}. */
    private static final int TYPES = 5;

    private final RedisScriptExecutor redis;

    private final Supplier<RedisConnectionFactory> connections;

    private final EnvelopeCodec codec;

    /**
     * Creates a checker.
     * @param redis runs the scripts
     * @param connections to scan the names of keys
     * @param codec reads messages
     */
    public RedisIntegrityChecker(RedisScriptExecutor redis, Supplier<RedisConnectionFactory> connections,
            EnvelopeCodec codec) {
        this.redis = redis;
        this.connections = connections;
        this.codec = codec;
    }

    @Override
    public IntegrityReport check(String queue) {
        QueueName name = new QueueName(queue);
        Records records = records(name);
        List<Finding> found = new ArrayList<>(records.findings());
        Map<PartitionKey, Set<String>> suspects = new LinkedHashMap<>();
        long examined = 0;
        int places = 0;
        for (Partition partition : records.layout().all(name)) {
            List<Object> survey = survey(partition);
            List<Finding> keys = checkTypes(partition, survey);
            found.addAll(keys);
            examined += number(survey.get(0)) + number(survey.get(1));
            boolean readable = keys.stream().noneMatch((finding) -> finding.kind() == Kind.WRONG_TYPE);
            for (KeyKind key : KeyKind.values()) {
                if (readable && key.isChecked() && !typeOf(key, survey).equals("none")) {
                    places += page(new PartitionKey(partition, key), records.layout(), suspects, places);
                }
            }
        }
        PartitionLayout layout = suspects.isEmpty() ? records.layout() : records(name).layout();
        suspects.forEach((place, members) -> found.addAll(recheck(place, members, layout)));
        boolean complete = places < MAX_FINDINGS && found.size() <= MAX_FINDINGS;
        return new IntegrityReport(examined, found.subList(0, Math.min(MAX_FINDINGS, found.size())), complete);
    }

    private static String typeOf(KeyKind key, List<Object> survey) {
        return text(survey.get(TYPES + key.ordinal()));
    }

    private List<Object> survey(Partition partition) {
        return await(this.redis.run(RedisScripts.INSPECT_PARTITION, partition));
    }

    /** Reads a key, and collects the members that seem wrong; returns how many. */
    private int page(PartitionKey place, PartitionLayout layout, Map<PartitionKey, Set<String>> suspects, int before) {
        byte[] count = bytes((place.key() == KeyKind.MESSAGES) ? MESSAGES_AT_ONCE : MEMBERS_AT_ONCE);
        byte[] cursor = bytes(0);
        Set<String> members = new LinkedHashSet<>();
        do {
            List<Object> reply = await(this.redis.run(RedisScripts.INSPECT_MESSAGES, place.partition(),
                    bytes(place.key().number()), cursor, count));
            cursor = (byte[]) reply.get(1);
            check(place, reply, layout, (member) -> {
                if (before + members.size() < MAX_FINDINGS) {
                    members.add(member);
                }
            });
        }
        while (!text(cursor).equals("0") && before + members.size() < MAX_FINDINGS);
        if (!members.isEmpty()) {
            suspects.put(place, members);
        }
        return members.size();
    }

    private List<Finding> recheck(PartitionKey place, Set<String> members, PartitionLayout layout) {
        List<Finding> findings = new ArrayList<>();
        List<String> distinct = List.copyOf(members);
        int atOnce = place.key().holdsContent() ? 1 : MEMBERS_AT_ONCE;
        for (int i = 0; i < distinct.size(); i += atOnce) {
            List<byte[]> arguments = new ArrayList<>(List.of(bytes(place.key().number()), bytes("")));
            distinct.subList(i, Math.min(i + atOnce, distinct.size()))
                .forEach((member) -> arguments.add(bytesOfRaw(member)));
            findings.addAll(check(place, await(
                    this.redis.run(RedisScripts.INSPECT_MESSAGES, place.partition(), arguments.toArray(byte[][]::new))),
                    layout, (member) -> {
                    }));
        }
        return findings;
    }

    /** Checks the members of a reply. */
    private List<Finding> check(PartitionKey place, List<Object> reply, PartitionLayout layout,
            Consumer<String> suspect) {
        long now = number(reply.get(0));
        List<Finding> findings = new ArrayList<>();
        for (Object each : reply.subList(2, reply.size())) {
            List<?> state = (List<?>) each;
            InvariantChecks checks = checks(place.partition(), layout);
            if (place.key() == KeyKind.DEAD_ORDER || place.key() == KeyKind.DEAD_LETTERS) {
                checks.checkDeadLetter(place.key(), raw(state.get(0)), (byte[]) state.get(1),
                        number(state.get(2)) == 1);
            }
            else {
                checks.check(place.key(), StoredMessageState.of(now, state));
            }
            if (!checks.findings().isEmpty()) {
                suspect.accept(raw(state.get(0)));
                findings.addAll(checks.findings());
            }
        }
        return findings;
    }

    private InvariantChecks checks(Partition partition, PartitionLayout layout) {
        return new InvariantChecks(partition, layout, new RepairCommands(this.redis.keysOf(partition)), this.codec);
    }

    /** Checks the types of the keys, and the wake mark. */
    private List<Finding> checkTypes(Partition partition, List<Object> survey) {
        RepairCommands keys = new RepairCommands(this.redis.keysOf(partition));
        InvariantChecks checks = checks(partition, PartitionLayout.ONE);
        for (KeyKind key : KeyKind.values()) {
            String type = typeOf(key, survey);
            if (!type.equals("none") && !type.equals(key.type())) {
                checks.add(Kind.WRONG_TYPE, keys.name(key),
                        "the key holds a %s and should hold a %s: all calls of this partition fail".formatted(type,
                                key.type()),
                        "rename it, and find its owner; if the new name is taken, choose another",
                        List.of(keys.command("RENAMENX", key, keys.name(key) + ":found")));
            }
        }
        String mark = text(survey.get(3));
        List<String> removal = List.of(keys.command("DEL", KeyKind.WAKE));
        if (!mark.isEmpty() && typeOf(KeyKind.MESSAGES, survey).equals("none")) {
            checks.add(Kind.WAKE_MARK, null, "there is a wake mark without a message",
                    "remove it; it expires if it has a time to live", removal);
        }
        else if (!mark.isEmpty() && (number(survey.get(4)) < 0 || !mark.matches("\\d+"))) {
            checks.add(Kind.WAKE_MARK, null, "the wake mark has no expiry or is no time: sends may wake no worker",
                    "remove it", removal);
        }
        return checks.findings();
    }

    /**
     * Reads the layout of the queue from its first partition. Compares the others with it
     * unless a change is under way, which the record of the first one shows before and
     * after.
     */
    private Records records(QueueName queue) {
        Partition first = Partition.first(queue);
        String record = raw(survey(first).get(2));
        InvariantChecks checks = checks(first, PartitionLayout.ONE);
        PartitionLayout layout = PartitionLayout.ONE;
        try {
            layout = record.isEmpty() ? layout : PartitionLayout.parse(record);
        }
        catch (IllegalArgumentException ex) {
            checks.add(Kind.UNREADABLE_ENTRY, null, "the record of its partitions cannot be read: no send works",
                    "write it as another partition has it", List.of());
        }
        List<Partition> others = new ArrayList<>(layout.all(queue));
        int count = others.size();
        if (count == 1) {
            others.add(new Partition(queue, 1)); // the first may have lost its record
        }
        Map<Partition, String> differing = new LinkedHashMap<>();
        for (Partition other : others) {
            String recorded = raw(survey(other).get(2));
            if (!recorded.equals(record) && !(recorded.isEmpty() && other.index() >= count)) {
                differing.put(other, recorded);
            }
        }
        if (layout.complete() && raw(survey(first).get(2)).equals(record)) {
            differing.forEach((other, recorded) -> checks.findings().add(disagree(other, recorded, record)));
        }
        return new Records(layout, checks.findings());
    }

    private Finding disagree(Partition partition, String recorded, String record) {
        InvariantChecks checks = checks(partition, PartitionLayout.ONE);
        RepairCommands keys = new RepairCommands(
                this.redis.keysOf(record.isEmpty() ? Partition.first(partition.queue()) : partition));
        checks.add(Kind.PARTITION_LAYOUT_MISMATCH, null,
                "its record is '%s', and that of the first partition is '%s': senders may go by either"
                    .formatted(InvariantChecks.shown(recorded), InvariantChecks.shown(record)),
                "call repartition with the number of partitions that is right; or write the record",
                List.of(keys.command("SET", KeyKind.PARTITIONS, record.isEmpty() ? recorded : record)));
        return checks.findings().get(0);
    }

    @Override
    public IntegrityReport checkKeys() {
        Map<QueueName, Integer> partitions = new LinkedHashMap<>();
        KeyNameCheck names = new KeyNameCheck(this.redis.namespace(), (queue) -> {
            if (partitions.size() > MAX_FINDINGS) {
                partitions.clear(); // bounds the cache; records are then read again
            }
            return partitions.computeIfAbsent(queue, (name) -> records(name).layout().all(name).size());
        });
        List<Finding> found = new ArrayList<>();
        long[] keys = new long[1];
        try {
            names.forEach(this.connections.get(), (key) -> {
                keys[0]++;
                Finding finding = names.check(key);
                if (finding != null && found.size() <= MAX_FINDINGS) {
                    found.add(finding);
                }
            });
        }
        catch (DelayQueueException ex) {
            throw ex;
        }
        catch (RuntimeException ex) {
            throw RedisExceptionTranslator.translateRead("SCAN", ex);
        }
        return new IntegrityReport(keys[0], found.subList(0, Math.min(MAX_FINDINGS, found.size())),
                found.size() <= MAX_FINDINGS);
    }

    /** Waits for a reply; every call has its own time limit. */
    private static List<Object> await(CompletableFuture<List<Object>> reply) {
        try {
            return reply.get();
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new StoreUnavailableException("Interrupted during an examination, which changes nothing", Effect.NONE,
                    ex);
        }
        catch (ExecutionException ex) {
            if (ex.getCause() instanceof DelayQueueException known) {
                throw known;
            }
            throw new StoreUnavailableException("The examination failed, which changes nothing: " + ex.getCause(),
                    Effect.NONE, ex);
        }
    }

    /**
     * Identifies a key of a partition.
     *
     * @param partition the partition
     * @param key which of its keys
     */
    private record PartitionKey(Partition partition, KeyKind key) {
    }

    /**
     * Holds the recorded layout of the partitions of a queue.
     *
     * @param layout by its first partition
     * @param findings where others disagree
     */
    private record Records(PartitionLayout layout, List<Finding> findings) {
    }

}
