package io.delayqueue.redis.check;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.QueueName;
import io.delayqueue.admin.Finding;
import io.delayqueue.admin.Finding.Kind;
import io.delayqueue.redis.script.RedisKeys;
import io.delayqueue.redis.script.ScriptCodec;
import io.delayqueue.store.Partition;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.Cursor;
import org.springframework.data.redis.core.ScanOptions;

/**
 * Checks the names of keys in a namespace. Ignores keys of longer namespaces that begin
 * with this one and a colon.
 */
final class KeyNameCheck {

    private static final Pattern TAG = Pattern.compile("([A-Za-z0-9][A-Za-z0-9._-]{0,63})(?::([1-9]\\d{0,2}))?");

    private static final int PAGE = 1_000;

    /** Keys that hold no messages, and may exist without any. */
    private static final Set<String> WITHOUT_MESSAGES = Set.of("partitions", "primary", "replicated");

    private final String namespace;

    private final Pattern form;

    private final Pattern other;

    private final Set<String> kinds;

    /** Keys of the whole namespace. */
    private final Set<String> directory;

    /** Returns how many partitions of a queue may hold something. */
    private final ToIntFunction<QueueName> partitions;

    KeyNameCheck(String namespace, ToIntFunction<QueueName> partitions) {
        this.namespace = namespace;
        this.partitions = partitions;
        this.form = Pattern.compile(Pattern.quote(namespace) + ":\\{([^{}]*)}:(.*)", Pattern.DOTALL);
        this.other = Pattern.compile(Pattern.quote(namespace) + ":[A-Za-z0-9._:-]+:\\{[^{}]*}:.*", Pattern.DOTALL);
        this.directory = Stream.of(RedisKeys.ofDirectory(namespace), RedisKeys.ofActivity(namespace))
            .flatMap(Arrays::stream)
            .map((key) -> new String(key, StandardCharsets.US_ASCII))
            .collect(Collectors.toSet());
        RedisKeys any = new RedisKeys(namespace, Partition.first(new QueueName("any")));
        this.kinds = Stream.concat(Arrays.stream(any.ofSchedules()), Stream.of(RedisKeys.markBeside(any.all()[0])))
            .map((key) -> new String(key, StandardCharsets.US_ASCII).replaceFirst(".*}:", ""))
            .collect(Collectors.toSet());
    }

    /** Scans all keys of the namespace, on all masters, page by page. */
    void forEach(RedisConnectionFactory factory, Consumer<String> action) {
        ScanOptions options = ScanOptions.scanOptions().match(this.namespace + ":*").count(PAGE).build();
        try (RedisConnection connection = factory.getConnection()) {
            if (connection instanceof RedisClusterConnection cluster) {
                ClusterNodes.find(cluster).forEach((master) -> drain(cluster.scan(master, options), action));
            }
            else {
                drain(connection.keyCommands().scan(options), action);
            }
        }
    }

    private static void drain(Cursor<byte[]> keys, Consumer<String> action) {
        try (keys) {
            keys.forEachRemaining((key) -> action.accept(ScriptCodec.raw(key)));
        }
    }

    /**
     * Checks the name of a key; returns {@code null} if it is valid.
     * @param key raw bytes
     */
    @Nullable Finding check(String key) {
        Matcher name = this.form.matcher(key);
        if (this.directory.contains(key)) {
            return null;
        }
        if (!name.matches()) {
            return this.other.matcher(key).matches() ? null
                    : foreign(key, "has no hash tag where keys of queues have one, or in another form: "
                            + "it may be in another slot than its queue");
        }
        Matcher tag = TAG.matcher(name.group(1));
        if (!tag.matches()) {
            return foreign(key, "has a hash tag that is no queue, nor a partition of one");
        }
        if (!this.kinds.contains(name.group(2))) {
            return foreign(key, "is none of those that a queue has");
        }
        QueueName queue = new QueueName(tag.group(1));
        int index = (tag.group(2) != null) ? Integer.parseInt(tag.group(2)) : 0;
        int count = this.partitions.applyAsInt(queue);
        if (index < count || WITHOUT_MESSAGES.contains(name.group(2))) {
            return null;
        }
        return new Finding(Kind.UNKNOWN_PARTITION, queue.value(), index, key,
                "the queue has %d partitions by its record: no node reads this one".formatted(count),
                "spread the queue over more than %d partitions, and back when this one is empty".formatted(index),
                List.of());
    }

    private static Finding foreign(String key, String why) {
        return new Finding(Kind.FOREIGN_KEY, null, 0, ScriptCodec.name(ScriptCodec.bytesOfRaw(key)), "the key " + why,
                "find its owner; if it has none, remove it, which destroys its content",
                List.of("UNLINK " + RepairCommands.quote(key)));
    }

}
