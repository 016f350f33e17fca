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

    /** Keys whose values are messages, which may be large. */
    private static final Set<Integer> CONTENTS = Set.of(RepairCommands.MESSAGES, RepairCommands.SUCCESSORS,
            RepairCommands.DEAD_LETTERS);

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
        for (Partition partition : records.spread().all(name)) {
            List<Object> survey = survey(partition);
            List<Finding> keys = checkKeys(partition, survey);
            found.addAll(keys);
            examined += number(survey.get(0)) + number(survey.get(1));
            for (int number = 1; number <= RepairCommands.GROUP_HEADS && !hasWrongType(keys); number++) {
                if (!text(survey.get(TYPES + number - 1)).equals("none") && isCollection(number)) {
                    places += page(new PartitionKey(partition, number), records.spread(), suspects, places);
                }
            }
        }
        PartitionLayout spread = suspects.isEmpty() ? records.spread() : records(name).spread();
        suspects.forEach((place, members) -> found.addAll(recheck(place, members, spread)));
        boolean complete = places < MAX_FINDINGS && found.size() <= MAX_FINDINGS;
        return new IntegrityReport(examined, found.subList(0, Math.min(MAX_FINDINGS, found.size())), complete);
    }

    private static boolean isCollection(int number) {
        return number != RepairCommands.WAKE && number != RepairCommands.PARTITIONS;
    }

    private static boolean hasWrongType(List<Finding> findings) {
        return findings.stream().anyMatch((finding) -> finding.kind() == Kind.WRONG_TYPE);
    }

    private List<Object> survey(Partition partition) {
        return await(this.redis.run(RedisScripts.INSPECT_PARTITION, partition));
    }

    /** Reads a key, and collects the members that seem wrong; returns how many. */
    private int page(PartitionKey place, PartitionLayout spread, Map<PartitionKey, Set<String>> suspects, int before) {
        byte[] count = bytes((place.number() == RepairCommands.MESSAGES) ? MESSAGES_AT_ONCE : MEMBERS_AT_ONCE);
        byte[] cursor = bytes(0);
        Set<String> members = new LinkedHashSet<>();
        do {
            List<Object> reply = await(this.redis.run(RedisScripts.INSPECT_MESSAGES, place.partition(),
                    bytes(place.number()), cursor, count));
            cursor = (byte[]) reply.get(1);
            check(place, reply, spread, (member) -> {
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

    private List<Finding> recheck(PartitionKey place, Set<String> members, PartitionLayout spread) {
        List<Finding> findings = new ArrayList<>();
        List<String> distinct = List.copyOf(members);
        int atOnce = CONTENTS.contains(place.number()) ? 1 : MEMBERS_AT_ONCE;
        for (int i = 0; i < distinct.size(); i += atOnce) {
            List<byte[]> arguments = new ArrayList<>(List.of(bytes(place.number()), bytes("")));
            distinct.subList(i, Math.min(i + atOnce, distinct.size()))
                .forEach((member) -> arguments.add(bytesOfRaw(member)));
            findings.addAll(check(place, await(
                    this.redis.run(RedisScripts.INSPECT_MESSAGES, place.partition(), arguments.toArray(byte[][]::new))),
                    spread, (member) -> {
                    }));
        }
        return findings;
    }

    /** Checks the members of a reply. */
    private List<Finding> check(PartitionKey place, List<Object> reply, PartitionLayout spread,
            Consumer<String> suspect) {
        long now = number(reply.get(0));
        List<Finding> findings = new ArrayList<>();
        for (Object each : reply.subList(2, reply.size())) {
            List<?> state = (List<?>) each;
            InvariantChecks diagnosis = diagnosis(place.partition(), spread);
            if (place.number() == RepairCommands.DEAD_ORDER || place.number() == RepairCommands.DEAD_LETTERS) {
                diagnosis.checkDeadLetter(place.number(), raw(state.get(0)), (byte[]) state.get(1),
                        number(state.get(2)) == 1);
            }
            else {
                diagnosis.check(place.number(), StoredMessageState.of(now, state));
            }
            if (!diagnosis.findings().isEmpty()) {
                suspect.accept(raw(state.get(0)));
                findings.addAll(diagnosis.findings());
            }
        }
        return findings;
    }

    private InvariantChecks diagnosis(Partition partition, PartitionLayout spread) {
        return new InvariantChecks(partition, spread, new RepairCommands(this.redis.keysOf(partition)), this.codec);
    }

    private List<Finding> checkKeys(Partition partition, List<Object> survey) {
        RepairCommands keys = new RepairCommands(this.redis.keysOf(partition));
        InvariantChecks diagnosis = diagnosis(partition, PartitionLayout.ONE);
        for (int number = 1; number <= RepairCommands.PRIMARY; number++) {
            String type = text(survey.get(TYPES + number - 1));
            if (!type.equals("none") && !type.equals(typeOf(number))) {
                diagnosis.add(Kind.WRONG_TYPE, keys.name(number),
                        "the key holds a %s and should hold a %s: all calls of this partition fail".formatted(type,
                                typeOf(number)),
                        "take it out of the way, and see whose it is; if the new name is taken, under another",
                        keys.command("RENAMENX", number, keys.name(number) + ":found"));
            }
        }
        String mark = text(survey.get(3));
        if (!mark.isEmpty() && text(survey.get(TYPES)).equals("none")) {
            diagnosis.add(Kind.WAKE_MARK, null, "there is a wake mark, and no message that it is of",
                    "remove it; it goes by itself if it has a time to live", keys.command("DEL", RepairCommands.WAKE));
        }
        else if (!mark.isEmpty() && (number(survey.get(4)) < 0 || !mark.matches("\\d+"))) {
            diagnosis.add(Kind.WAKE_MARK, null, "the wake mark stays for ever or is no time: senders may wake nobody",
                    "remove it", keys.command("DEL", RepairCommands.WAKE));
        }
        return diagnosis.findings();
    }

    private static String typeOf(int number) {
        return switch (number) {
            case RepairCommands.MESSAGES, RepairCommands.DETAILS, RepairCommands.ATTEMPTS, RepairCommands.TOKENS,
                    RepairCommands.SUCCESSORS, RepairCommands.DEAD_LETTERS, RepairCommands.GROUP_HEADS ->
                "hash";
            case RepairCommands.WAKE, RepairCommands.PARTITIONS, RepairCommands.PRIMARY -> "string";
            default -> "zset";
        };
    }

    /**
     * Reads the layout of the queue from its first partition. Compares the others with it
     * unless a change is under way, which the record of the first one shows before and
     * after.
     */
    private Records records(QueueName queue) {
        Partition first = Partition.first(queue);
        String record = raw(survey(first).get(2));
        InvariantChecks diagnosis = diagnosis(first, PartitionLayout.ONE);
        PartitionLayout spread = PartitionLayout.ONE;
        try {
            spread = record.isEmpty() ? spread : PartitionLayout.parse(record);
        }
        catch (IllegalArgumentException ex) {
            diagnosis.add(Kind.UNREADABLE_ENTRY, null, "the record of its partitions cannot be read: no send works",
                    "write it as another partition has it");
        }
        List<Partition> others = new ArrayList<>(spread.all(queue));
        int most = others.size();
        if (most == 1) {
            others.add(new Partition(queue, 1)); // the first may have lost its record
        }
        Map<Partition, String> differing = new LinkedHashMap<>();
        for (Partition other : others) {
            String recorded = raw(survey(other).get(2));
            if (!recorded.equals(record) && !(recorded.isEmpty() && other.index() >= most)) {
                differing.put(other, recorded);
            }
        }
        if (spread.complete() && raw(survey(first).get(2)).equals(record)) {
            differing.forEach((other, recorded) -> diagnosis.findings().add(disagree(other, recorded, record)));
        }
        return new Records(spread, diagnosis.findings());
    }

    private Finding disagree(Partition partition, String recorded, String record) {
        InvariantChecks diagnosis = diagnosis(partition, PartitionLayout.ONE);
        RepairCommands keys = new RepairCommands(
                this.redis.keysOf(record.isEmpty() ? Partition.first(partition.queue()) : partition));
        diagnosis.add(Kind.PARTITION_LAYOUT_MISMATCH, null,
                "its record is '%s', and that of the first partition is '%s': senders may go by either"
                    .formatted(InvariantChecks.shown(recorded), InvariantChecks.shown(record)),
                "call repartition with the number of partitions that is right; or write the record",
                keys.command("SET", RepairCommands.PARTITIONS, record.isEmpty() ? recorded : record));
        return diagnosis.findings().get(0);
    }

    @Override
    public IntegrityReport checkKeys() {
        Map<QueueName, Integer> partitions = new LinkedHashMap<>();
        KeyNameCheck names = new KeyNameCheck(this.redis.namespace(), (queue) -> {
            if (partitions.size() > MAX_FINDINGS) {
                partitions.clear(); // bounds the cache; records are then read again
            }
            return partitions.computeIfAbsent(queue, (name) -> records(name).spread().all(name).size());
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
     * @param number of the key, as in prelude.lua
     */
    private record PartitionKey(Partition partition, int number) {
    }

    /**
     * Holds the recorded layout of the partitions of a queue.
     *
     * @param spread by its first partition
     * @param findings where others disagree
     */
    private record Records(PartitionLayout spread, List<Finding> findings) {
    }

}
