package io.delayqueue.template;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.CauseGroup;
import io.delayqueue.MessageSummary;
import io.delayqueue.QueueName;
import io.delayqueue.admin.DeadLetterCauses;
import io.delayqueue.admin.DeadLetterSummary;
import io.delayqueue.admin.MessageScanPage;
import io.delayqueue.admin.RetryingCount;
import io.delayqueue.admin.ScanSelection;
import io.delayqueue.store.DeadLetterSummaryPage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.QueueInspector;
import io.delayqueue.store.RetryingStep;
import org.jspecify.annotations.Nullable;

/**
 * Walks through the partitions of a queue in steps of the store, one after the other, so
 * that other calls are answered in between. Blocks the caller's thread. Thread-safe.
 */
final class QueueScanner {

    /** How long a part of a walk takes. */
    static final Duration PART = Duration.ofMillis(150);

    /** Findings that end a part. */
    private static final int MAX_FOUND = 100;

    private static final int MAX_RETRYING = 10_000;

    private static final int PAGE = 100;

    private static final Pattern CURSOR = Pattern.compile("(\\d{1,4})-(.*)");

    private final QueueInspector inspector;

    private final BlockingStoreCalls calls;

    QueueScanner(QueueInspector inspector, BlockingStoreCalls calls) {
        this.inspector = inspector;
        this.calls = calls;
    }

    MessageScanPage scan(List<Partition> partitions, ScanSelection selection, String idPrefix,
            @Nullable String cursor) {
        Position from = Position.parse(cursor, partitions.size());
        long begin = System.nanoTime();
        List<MessageSummary> messages = new ArrayList<>();
        List<DeadLetterSummary> deadLetters = new ArrayList<>();
        long examined = 0;
        while (true) {
            MessageScanPage step = this.calls.await(
                    this.inspector.scan(partitions.get(from.partition()), selection, idPrefix, from.cursor()), "scan");
            messages.addAll(step.messages());
            deadLetters.addAll(step.deadLetters());
            examined += step.examined();
            Position next = from.next(step.nextCursor(), partitions.size());
            if (next == null || messages.size() + deadLetters.size() >= MAX_FOUND
                    || System.nanoTime() - begin > PART.toNanos()) {
                return new MessageScanPage(messages, deadLetters, examined, (next != null) ? next.text() : null);
            }
            from = next;
        }
    }

    RetryingCount retrying(QueueName queue, List<Partition> partitions) {
        Position from = new Position(0, null);
        long count = 0;
        long examined = 0;
        while (true) {
            RetryingStep step = this.calls
                .await(this.inspector.countRetrying(partitions.get(from.partition()), from.cursor()), "retrying");
            count += step.count();
            examined += step.examined();
            Position next = from.next(step.nextCursor(), partitions.size());
            if (next == null || examined >= MAX_RETRYING) {
                return new RetryingCount(queue.value(), count, next == null);
            }
            from = next;
        }
    }

    /** Takes about the same number of the latest dead letters from each partition. */
    DeadLetterCauses causes(QueueName queue, List<Partition> partitions, boolean byType) {
        Map<String, DeadLetterCauses.Count> groups = new HashMap<>();
        int most = Math.max(PAGE, DeadLetterCauses.MAX_EXAMINED / partitions.size());
        long examined = 0;
        boolean complete = true;
        for (Partition partition : partitions) {
            String cursor = null;
            int here = 0;
            do {
                DeadLetterSummaryPage page = this.calls
                    .await(this.inspector.deadLetterSummaries(partition, cursor, PAGE), "deadLetterCauses");
                page.deadLetters().forEach((summary) -> add(groups, summary, byType));
                here += page.deadLetters().size();
                cursor = page.nextCursor();
            }
            while (cursor != null && here < most);
            examined += here;
            complete &= cursor == null;
        }
        List<DeadLetterCauses.Count> largest = groups.values()
            .stream()
            .sorted((one, other) -> Long.compare(other.count(), one.count()))
            .limit(DeadLetterCauses.MAX_GROUPS)
            .toList();
        return new DeadLetterCauses(queue.value(), largest, examined, complete && largest.size() == groups.size());
    }

    private static void add(Map<String, DeadLetterCauses.Count> groups, DeadLetterSummaryPage.SummaryWithCause summary,
            boolean byType) {
        CauseGroup group = byType ? CauseGroup.ofType(summary.cause()) : CauseGroup.of(summary.cause());
        DeadLetterSummary found = summary.deadLetter();
        groups.merge(group.key(),
                new DeadLetterCauses.Count(group, 1, found.deadLetteredAt(), found.deadLetteredAt(), found.id()),
                QueueScanner::sum);
    }

    private static DeadLetterCauses.Count sum(DeadLetterCauses.Count one, DeadLetterCauses.Count other) {
        boolean later = other.lastAt().isAfter(one.lastAt());
        return new DeadLetterCauses.Count(one.group(), one.count() + other.count(),
                other.firstAt().isBefore(one.firstAt()) ? other.firstAt() : one.firstAt(),
                later ? other.lastAt() : one.lastAt(), later ? other.sampleId() : one.sampleId());
    }

    /**
     * Holds a position in a walk through partitions.
     *
     * @param partition the index of the partition
     * @param cursor the position in the partition; {@code null} for its beginning
     */
    private record Position(int partition, @Nullable String cursor) {

        static Position parse(@Nullable String text, int partitions) {
            if (text == null) {
                return new Position(0, null);
            }
            Matcher matcher = CURSOR.matcher(text);
            if (!matcher.matches() || Integer.parseInt(matcher.group(1)) >= partitions) {
                throw new IllegalArgumentException("This cursor is not valid: use the nextCursor of a page, or null");
            }
            String cursor = matcher.group(2);
            return new Position(Integer.parseInt(matcher.group(1)), cursor.isEmpty() ? null : cursor);
        }

        @Nullable Position next(@Nullable String cursor, int partitions) {
            if (cursor != null) {
                return new Position(this.partition, cursor);
            }
            return (this.partition + 1 < partitions) ? new Position(this.partition + 1, null) : null;
        }

        String text() {
            return this.partition + "-" + ((this.cursor != null) ? this.cursor : "");
        }

    }

}
