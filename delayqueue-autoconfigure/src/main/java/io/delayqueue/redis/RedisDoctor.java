package io.delayqueue.redis;

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

import io.delayqueue.DelayQueueDoctor;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.Examination;
import io.delayqueue.Finding;
import io.delayqueue.Finding.Kind;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.engine.EnvelopeCodec;
import io.delayqueue.engine.Partition;
import io.delayqueue.engine.Partitions;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import static io.delayqueue.redis.Replies.bytes;
import static io.delayqueue.redis.Replies.bytesOfRaw;
import static io.delayqueue.redis.Replies.number;
import static io.delayqueue.redis.Replies.raw;
import static io.delayqueue.redis.Replies.text;

/**
 * Examines what is in Redis. Goes through each key of a queue page by page; a script
 * tells all that is known of the messages of a page at one moment, so what moves between
 * two pages is right in both. What seems wrong is looked at once more in the end, as
 * another producer needs two steps to write a message, and partitions may have been
 * added.
 * <p>
 * <strong>Threads.</strong> Any; nothing is shared.
 */
public final class RedisDoctor implements DelayQueueDoctor {

    /**
     * Messages come with their content, which may be long. Redis tells all of a key that
     * it keeps in compact form, which is a small one.
     */
    private static final int MESSAGES_AT_ONCE = 20;

    private static final int MEMBERS_AT_ONCE = 100;

    /** The keys whose values are messages, which may be large. */
    private static final Set<Integer> CONTENTS = Set.of(KeyCommands.MESSAGES, KeyCommands.NEXT, KeyCommands.LETTERS);

    private static final int TYPES = 5;

    private final RedisAccess redis;

    private final Supplier<RedisConnectionFactory> connections;

    private final EnvelopeCodec codec;

    /**
     * Makes a doctor.
     * @param redis where messages are
     * @param connections to look at the names of keys
     * @param codec reads messages
     */
    public RedisDoctor(RedisAccess redis, Supplier<RedisConnectionFactory> connections, EnvelopeCodec codec) {
        this.redis = redis;
        this.connections = connections;
        this.codec = codec;
    }

    @Override
    public Examination examine(String queue) {
        QueueName name = new QueueName(queue);
        Records records = records(name);
        List<Finding> found = new ArrayList<>(records.findings());
        Map<Place, Set<String>> suspects = new LinkedHashMap<>();
        long examined = 0;
        int places = 0;
        for (Partition partition : records.spread().all(name)) {
            List<Object> survey = survey(partition);
            List<Finding> keys = lookAtKeys(partition, survey);
            found.addAll(keys);
            examined += number(survey.get(0)) + number(survey.get(1));
            for (int number = 1; number <= KeyCommands.HEADS && !hasWrongType(keys); number++) {
                if (!text(survey.get(TYPES + number - 1)).equals("none") && isCollection(number)) {
                    places += page(new Place(partition, number), records.spread(), suspects, places);
                }
            }
        }
        Partitions spread = suspects.isEmpty() ? records.spread() : records(name).spread();
        suspects.forEach((place, members) -> found.addAll(lookAgain(place, members, spread)));
        boolean complete = places < MOST_FINDINGS && found.size() <= MOST_FINDINGS;
        return new Examination(examined, found.subList(0, Math.min(MOST_FINDINGS, found.size())), complete);
    }

    private static boolean isCollection(int number) {
        return number != KeyCommands.WAKE && number != KeyCommands.PARTITIONS;
    }

    private static boolean hasWrongType(List<Finding> findings) {
        return findings.stream().anyMatch((finding) -> finding.kind() == Kind.WRONG_TYPE);
    }

    private List<Object> survey(Partition partition) {
        return await(this.redis.run(RedisScripts.SURVEY, partition));
    }

    /** Goes through a key, and notes the members that seem wrong; returns how many. */
    private int page(Place place, Partitions spread, Map<Place, Set<String>> suspects, int before) {
        byte[] count = bytes((place.number() == KeyCommands.MESSAGES) ? MESSAGES_AT_ONCE : MEMBERS_AT_ONCE);
        byte[] cursor = bytes(0);
        Set<String> members = new LinkedHashSet<>();
        do {
            List<Object> reply = await(
                    this.redis.run(RedisScripts.EXAMINE, place.partition(), bytes(place.number()), cursor, count));
            cursor = (byte[]) reply.get(1);
            look(place, reply, spread, (member) -> {
                if (before + members.size() < MOST_FINDINGS) {
                    members.add(member);
                }
            });
        }
        while (!text(cursor).equals("0") && before + members.size() < MOST_FINDINGS);
        if (!members.isEmpty()) {
            suspects.put(place, members);
        }
        return members.size();
    }

    private List<Finding> lookAgain(Place place, Set<String> members, Partitions spread) {
        List<Finding> findings = new ArrayList<>();
        List<String> distinct = List.copyOf(members);
        int atOnce = CONTENTS.contains(place.number()) ? 1 : MEMBERS_AT_ONCE;
        for (int i = 0; i < distinct.size(); i += atOnce) {
            List<byte[]> arguments = new ArrayList<>(List.of(bytes(place.number()), bytes("")));
            distinct.subList(i, Math.min(i + atOnce, distinct.size()))
                .forEach((member) -> arguments.add(bytesOfRaw(member)));
            findings.addAll(look(place,
                    await(this.redis.run(RedisScripts.EXAMINE, place.partition(), arguments.toArray(byte[][]::new))),
                    spread, (member) -> {
                    }));
        }
        return findings;
    }

    /** Judges the members of a reply. */
    private List<Finding> look(Place place, List<Object> reply, Partitions spread, Consumer<String> suspect) {
        long now = number(reply.get(0));
        List<Finding> findings = new ArrayList<>();
        for (Object each : reply.subList(2, reply.size())) {
            List<?> facts = (List<?>) each;
            Diagnosis diagnosis = diagnosis(place.partition(), spread);
            if (place.number() == KeyCommands.DEAD || place.number() == KeyCommands.LETTERS) {
                diagnosis.lookAtLetter(place.number(), raw(facts.get(0)), (byte[]) facts.get(1),
                        number(facts.get(2)) == 1);
            }
            else {
                diagnosis.look(place.number(), Facts.of(now, facts));
            }
            if (!diagnosis.findings().isEmpty()) {
                suspect.accept(raw(facts.get(0)));
                findings.addAll(diagnosis.findings());
            }
        }
        return findings;
    }

    private Diagnosis diagnosis(Partition partition, Partitions spread) {
        return new Diagnosis(partition, spread, new KeyCommands(this.redis.keysOf(partition)), this.codec);
    }

    private List<Finding> lookAtKeys(Partition partition, List<Object> survey) {
        KeyCommands keys = new KeyCommands(this.redis.keysOf(partition));
        Diagnosis diagnosis = diagnosis(partition, Partitions.ONE);
        for (int number = 1; number <= KeyCommands.KEEPER; number++) {
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
                    "remove it; it goes by itself if it has a time to live", keys.command("DEL", KeyCommands.WAKE));
        }
        else if (!mark.isEmpty() && (number(survey.get(4)) < 0 || !mark.matches("\\d+"))) {
            diagnosis.add(Kind.WAKE_MARK, null, "the wake mark stays for ever or is no time: senders may wake nobody",
                    "remove it", keys.command("DEL", KeyCommands.WAKE));
        }
        return diagnosis.findings();
    }

    private static String typeOf(int number) {
        return switch (number) {
            case KeyCommands.MESSAGES, KeyCommands.DETAILS, KeyCommands.ATTEMPTS, KeyCommands.RENEWED, KeyCommands.NEXT,
                    KeyCommands.LETTERS, KeyCommands.HEADS ->
                "hash";
            case KeyCommands.WAKE, KeyCommands.PARTITIONS, KeyCommands.KEEPER -> "string";
            default -> "zset";
        };
    }

    /**
     * How the queue is spread, by its first partition. The others are compared with it
     * unless a change is under way, which the first one knows of before and after.
     */
    private Records records(QueueName queue) {
        Partition first = Partition.first(queue);
        String record = raw(survey(first).get(2));
        Diagnosis diagnosis = diagnosis(first, Partitions.ONE);
        Partitions spread = Partitions.ONE;
        try {
            spread = record.isEmpty() ? spread : Partitions.parse(record);
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
        Diagnosis diagnosis = diagnosis(partition, Partitions.ONE);
        KeyCommands keys = new KeyCommands(
                this.redis.keysOf(record.isEmpty() ? Partition.first(partition.queue()) : partition));
        diagnosis.add(Kind.RECORDS_DISAGREE, null,
                "its record is '%s', and that of the first partition is '%s': senders may go by either"
                    .formatted(Diagnosis.shown(recorded), Diagnosis.shown(record)),
                "call repartition with the number of partitions that is right; or write the record",
                keys.command("SET", KeyCommands.PARTITIONS, record.isEmpty() ? recorded : record));
        return diagnosis.findings().get(0);
    }

    @Override
    public Examination examineKeys() {
        Map<QueueName, Integer> partitions = new LinkedHashMap<>();
        KeyNames names = new KeyNames(this.redis.namespace(), (queue) -> {
            if (partitions.size() > MOST_FINDINGS) {
                partitions.clear(); // names may be many; then records are read again
            }
            return partitions.computeIfAbsent(queue, (name) -> records(name).spread().all(name).size());
        });
        List<Finding> found = new ArrayList<>();
        long[] keys = new long[1];
        try {
            names.forEach(this.connections.get(), (key) -> {
                keys[0]++;
                Finding finding = names.look(key);
                if (finding != null && found.size() <= MOST_FINDINGS) {
                    found.add(finding);
                }
            });
        }
        catch (DelayQueueException ex) {
            throw ex;
        }
        catch (RuntimeException ex) {
            throw RedisFailures.ofALook("SCAN", ex);
        }
        return new Examination(keys[0], found.subList(0, Math.min(MOST_FINDINGS, found.size())),
                found.size() <= MOST_FINDINGS);
    }

    /** Every call has a time limit of its own. */
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
     * A key of a partition.
     *
     * @param partition the partition
     * @param number of the key, as in prelude.lua
     */
    private record Place(Partition partition, int number) {
    }

    /**
     * What is recorded of the partitions of a queue.
     *
     * @param spread by its first partition
     * @param findings where others disagree
     */
    private record Records(Partitions spread, List<Finding> findings) {
    }

}
