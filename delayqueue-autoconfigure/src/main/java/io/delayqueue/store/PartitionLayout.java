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

import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;

/**
 * How a queue is spread: the numbers of partitions that it has and has had. Messages stay
 * where they were put, so one that was sent under an older number is looked for there.
 * <p>
 * A message's partition comes from its id by a hash that is the same in every process and
 * version: a message would be lost sight of otherwise. It is a consistent one, so that
 * growing gives new homes to few ids.
 *
 * @param version grows with every change; 0 for a queue of which nothing is recorded
 * @param counts the numbers of partitions, each once, the current one last
 * @param complete whether every partition has this or a later version recorded, and so
 * refuses who goes by an earlier one
 * @param pause that the queue is paused; {@code null} if it is not
 */
public record PartitionLayout(int version, List<Integer> counts, boolean complete, @Nullable Pause pause) {

    /** A queue that was never spread. */
    public static final PartitionLayout ONE = new PartitionLayout(0, List.of(1), true);

    /** Most different numbers: by each of them an id may have another home. */
    static final int MOST_COUNTS = 8;

    /** Bounded, as each repetition of a group takes a piece of the stack. */
    private static final Pattern FORM = Pattern
        .compile("(\\d{1,9})\\|(\\d{1,3}(?:,\\d{1,3}){0,%d})(p\\d{0,15})?(\\+?)".formatted(MOST_COUNTS - 1));

    public PartitionLayout {
        counts = List.copyOf(counts);
        if (version < 0 || counts.isEmpty() || counts.size() > MOST_COUNTS
                || Set.copyOf(counts).size() < counts.size()) {
            throw new IllegalArgumentException(
                    "Partitions are not valid: use 1 to %d different numbers, not version %d of %s"
                        .formatted(MOST_COUNTS, version, counts));
        }
        counts.forEach(PartitionLayout::requireCount);
    }

    /** Those of a queue that is not paused. */
    public PartitionLayout(int version, List<Integer> counts, boolean complete) {
        this(version, counts, complete, null);
    }

    /** The first version of a queue that nobody has used before. */
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
     * Reads what {@link #text()} wrote.
     * @throws IllegalArgumentException if it is something else
     */
    public static PartitionLayout parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "What is recorded, %d characters, is no record of partitions such as '3|1,4'"
                        .formatted(text.length()));
        }
        return new PartitionLayout(Integer.parseInt(matcher.group(1)),
                Stream.of(matcher.group(2).split(",")).map(Integer::valueOf).toList(), matcher.group(4).isEmpty(),
                Pause.parse(matcher.group(3)));
    }

    /**
     * As it is recorded: {@code 3|1,4}, then the pause if there is one, and a plus sign
     * while it is not complete.
     */
    public String text() {
        return this.version + "|" + this.counts.stream().map(String::valueOf).collect(Collectors.joining(","))
                + ((this.pause != null) ? this.pause.text() : "") + (this.complete ? "" : "+");
    }

    /** The number of partitions that new messages are spread over. */
    public int count() {
        return this.counts.get(this.counts.size() - 1);
    }

    /** All partitions that may hold messages. */
    public List<Partition> all(QueueName queue) {
        int most = this.counts.stream().mapToInt(Integer::intValue).max().orElseThrow();
        return IntStream.range(0, most).mapToObj((index) -> new Partition(queue, index)).toList();
    }

    /** Where a new message goes. */
    public PartitionTarget home(QueueName queue, String key) {
        return home(queue, key, count());
    }

    /** Where a message may be, each once, the current home first. */
    public List<PartitionTarget> homes(QueueName queue, String key) {
        if (this.counts.size() == 1) {
            return List.of(home(queue, key));
        }
        Set<PartitionTarget> homes = new LinkedHashSet<>();
        for (int i = this.counts.size() - 1; i >= 0; i--) {
            homes.add(home(queue, key, this.counts.get(i)));
        }
        return List.copyOf(homes);
    }

    private PartitionTarget home(QueueName queue, String key, int count) {
        return new PartitionTarget(new Partition(queue, indexOf(key, count)), this.version);
    }

    /**
     * The next version, which is not complete yet.
     * @throws IllegalArgumentException if that would be one number too many
     */
    public PartitionLayout next(int count) {
        requireCount(count);
        List<Integer> next = new ArrayList<>(this.counts);
        next.remove(Integer.valueOf(count));
        next.add(count);
        if (next.size() > MOST_COUNTS) {
            throw new IllegalArgumentException(
                    ("The queue has had %s partitions, and %d would be one number too many: use one of these, "
                            + "or a queue of another name")
                        .formatted(this.counts, count));
        }
        return new PartitionLayout(this.version + 1, next, false, this.pause);
    }

    /** The next version, with another pause or none, which is not complete yet. */
    public PartitionLayout paused(@Nullable Pause pause) {
        return new PartitionLayout(this.version + 1, this.counts, false, pause);
    }

    /** Whether the queue never had another number than one; it may have been paused. */
    public boolean isUnspread() {
        return this.counts.equals(ONE.counts);
    }

    public PartitionLayout completed() {
        return new PartitionLayout(this.version, this.counts, true, this.pause);
    }

    public PartitionLayout uncompleted() {
        return new PartitionLayout(this.version, this.counts, false, this.pause);
    }

    /**
     * The same for who went by {@code believed} until now, and may have sent messages
     * with generated ids to partitions that nobody else would look at first.
     */
    public PartitionLayout after(PartitionLayout believed) {
        Set<Integer> joined = new LinkedHashSet<>(believed.counts);
        joined.addAll(this.counts);
        joined.remove(count());
        joined.add(count());
        return (joined.size() > MOST_COUNTS) ? this
                : new PartitionLayout(this.version, List.copyOf(joined), this.complete, this.pause);
    }

    /**
     * Jump consistent hash (Lamping and Veach, 2014) of a checksum. Fixed for ever: it
     * says where messages are that wait already.
     */
    static int indexOf(String key, int count) {
        if (count == 1) {
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
