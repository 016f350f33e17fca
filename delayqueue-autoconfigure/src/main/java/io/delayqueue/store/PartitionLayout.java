package io.delayqueue.store;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.CRC32;

import io.delayqueue.MessageLimits;
import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;

/**
 * Holds the current and all previous numbers of partitions of a queue. Messages stay in
 * the partition that they were sent to, so a message sent under a previous number is
 * searched for there.
 * <p>
 * The partition of a message is a hash of its id or group. The hash must be the same in
 * every process and version; otherwise messages would not be found. It is a consistent
 * hash, so that only few ids move to other partitions when their number grows.
 *
 * @param version increases with every change; 0 for a queue without a record
 * @param counts the numbers of partitions without duplicates, the current one last
 * @param complete whether every partition has recorded this or a later version, and so
 * rejects calls with an earlier one
 * @param pause the pause of the queue; {@code null} if it is not paused
 * @param ledger whether sends without a row in a journal are rejected
 */
public record PartitionLayout(int version, List<Integer> counts, boolean complete, @Nullable Pause pause,
        boolean ledger) {

    /** Layout of a queue that was never partitioned. */
    public static final PartitionLayout ONE = new PartitionLayout(0, List.of(1), true);

    /**
     * Maximum number of different counts, as each may assign another partition to an id.
     */
    static final int MAX_COUNTS = 8;

    /**
     * The repetitions are bounded, because each repetition of a group uses stack space.
     */
    private static final Pattern FORM = Pattern
        .compile("(\\d{1,9})\\|(\\d{1,3}(?:,\\d{1,3}){0,%d})(p\\d{0,15})?(j?)(\\+?)".formatted(MAX_COUNTS - 1));

    public PartitionLayout {
        counts = List.copyOf(counts);
        if (version < 0 || counts.isEmpty() || counts.size() > MAX_COUNTS
                || Set.copyOf(counts).size() < counts.size()) {
            throw new IllegalArgumentException(
                    "Partitions are not valid: use 1 to %d different numbers, not version %d of %s"
                        .formatted(MAX_COUNTS, version, counts));
        }
        counts.forEach(PartitionLayout::requireCount);
    }

    /** Creates the layout of a queue that is not paused. */
    public PartitionLayout(int version, List<Integer> counts, boolean complete) {
        this(version, counts, complete, null);
    }

    /** Creates the layout of a queue that is not a ledger. */
    public PartitionLayout(int version, List<Integer> counts, boolean complete, @Nullable Pause pause) {
        this(version, counts, complete, pause, false);
    }

    /** Returns the first version for a new queue. */
    public static PartitionLayout founding(int count) {
        return new PartitionLayout(1, List.of(count), false);
    }

    /** Checks a number of partitions. */
    public static int requireCount(int count) {
        if (count < 1 || count > Partition.LIMIT) {
            throw new IllegalArgumentException(
                    "%d partitions are not valid: use 1 to %d".formatted(count, Partition.LIMIT));
        }
        return count;
    }

    /**
     * Parses the result of {@link #text()}.
     * @throws IllegalArgumentException if the text is not valid
     */
    public static PartitionLayout parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "The stored layout (%d characters) is invalid, expected for example '3|1,4'"
                        .formatted(text.length()));
        }
        return new PartitionLayout(Integer.parseInt(matcher.group(1)),
                Stream.of(matcher.group(2).split(",")).map(Integer::valueOf).toList(), matcher.group(5).isEmpty(),
                Pause.parse(matcher.group(3)), !matcher.group(4).isEmpty());
    }

    /**
     * Returns the recorded form: {@code 3|1,4}, then the pause if there is one, {@code j}
     * for a ledger, and a plus sign while it is not complete.
     */
    public String text() {
        return this.version + "|" + this.counts.stream().map(String::valueOf).collect(Collectors.joining(","))
                + ((this.pause != null) ? this.pause.text() : "") + (this.ledger ? "j" : "")
                + (this.complete ? "" : "+");
    }

    /** Returns the number of partitions that new messages are distributed over. */
    public int count() {
        return this.counts.get(this.counts.size() - 1);
    }

    /** Returns all partitions that may hold messages. */
    public List<Partition> all(QueueName queue) {
        int most = this.counts.stream().mapToInt(Integer::intValue).max().orElseThrow();
        return IntStream.range(0, most).mapToObj((index) -> new Partition(queue, index)).toList();
    }

    /** Returns the partition of a new message. */
    public PartitionTarget target(QueueName queue, String key) {
        return target(queue, key, count());
    }

    /**
     * Returns the partitions that may hold a message, without duplicates, the current one
     * first.
     */
    public List<PartitionTarget> targets(QueueName queue, String key) {
        if (this.counts.size() == 1) {
            return List.of(target(queue, key));
        }
        Set<PartitionTarget> targets = new LinkedHashSet<>();
        for (int i = this.counts.size() - 1; i >= 0; i--) {
            targets.add(target(queue, key, this.counts.get(i)));
        }
        return List.copyOf(targets);
    }

    private PartitionTarget target(QueueName queue, String key, int count) {
        return new PartitionTarget(new Partition(queue, indexOf(key, count)), this.version);
    }

    /**
     * Returns the next version, which is not complete.
     * @throws IllegalArgumentException if the queue has had too many different numbers
     */
    public PartitionLayout next(int count) {
        requireCount(count);
        List<Integer> next = new ArrayList<>(this.counts);
        next.remove(Integer.valueOf(count));
        next.add(count);
        if (next.size() > MAX_COUNTS) {
            throw new IllegalArgumentException(
                    ("The queue has had %s partitions, and %d would be one number too many: use one of these, "
                            + "or a queue of another name")
                        .formatted(this.counts, count));
        }
        return new PartitionLayout(this.version + 1, next, false, this.pause, this.ledger);
    }

    /** Returns the next version, with another pause or none, which is not complete. */
    public PartitionLayout paused(@Nullable Pause pause) {
        return new PartitionLayout(this.version + 1, this.counts, false, pause, this.ledger);
    }

    /** Returns the next version, for a ledger or not, which is not complete. */
    public PartitionLayout ofLedger(boolean ledger) {
        return new PartitionLayout(this.version + 1, this.counts, false, this.pause, ledger);
    }

    /**
     * Returns whether the queue has never had more than one partition; it may have been
     * paused.
     */
    public boolean isUnspread() {
        return this.counts.equals(ONE.counts);
    }

    public PartitionLayout completed() {
        return new PartitionLayout(this.version, this.counts, true, this.pause, this.ledger);
    }

    public PartitionLayout uncompleted() {
        return new PartitionLayout(this.version, this.counts, false, this.pause, this.ledger);
    }

    /**
     * Returns this layout with the counts of {@code believed} added, by which a caller
     * may have sent messages with generated ids to partitions that others do not search
     * first.
     */
    public PartitionLayout after(PartitionLayout believed) {
        Set<Integer> joined = new LinkedHashSet<>(believed.counts);
        joined.addAll(this.counts);
        joined.remove(count());
        joined.add(count());
        return (joined.size() > MAX_COUNTS) ? this
                : new PartitionLayout(this.version, List.copyOf(joined), this.complete, this.pause, this.ledger);
    }

    /**
     * Returns the jump consistent hash (Lamping and Veach, 2014) of a checksum. Must
     * never change, because it locates the messages that are already stored. Occurrences
     * of schedules are in the first partition, with the schedules.
     */
    static int indexOf(String key, int count) {
        if (count == 1 || key.startsWith(MessageLimits.RESERVED_PREFIX)) {
            return 0;
        }
        CRC32 checksum = new CRC32();
        checksum.update(key.getBytes(StandardCharsets.UTF_8));
        long state = checksum.getValue();
        long index = -1;
        long jump = 0;
        while (jump < count) {
            index = jump;
            state = state * 2862933555777941757L + 1;
            jump = (long) ((index + 1) * ((double) (1L << 31) / ((state >>> 33) + 1)));
        }
        return (int) index;
    }

}
