package io.delayqueue.memory;

import java.time.Instant;
import java.util.List;
import java.util.NavigableSet;
import java.util.function.Function;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.delayqueue.QueueName;
import io.delayqueue.QueueStatistics;
import io.delayqueue.admin.DueForecast;
import io.delayqueue.admin.MessageSelection;
import io.delayqueue.admin.ScanSelection;
import io.delayqueue.store.DueCounts;
import io.delayqueue.store.ListedMessage;
import io.delayqueue.store.MessageCursor;
import io.delayqueue.store.PartitionCounts;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.Pause;
import org.jspecify.annotations.Nullable;

/**
 * Reads the content of one {@link MemoryQueue}. Guarded as that is, and only used for the
 * read.
 *
 * @param queue its name
 * @param lanes the waiting messages
 * @param leased the leased messages
 * @param dead number of dead letters
 * @param now the store's time, microseconds
 */
record MemoryQueueView(QueueName queue, MemoryLanes lanes, NavigableSet<MemoryMessage> leased, int dead, long now) {

    private static final long[] SPANS = { 0, 60_000, 3_600_000, 86_400_000, 604_800_000 };

    QueueStatistics statistics() {
        List<MemoryMessage> lapsed = lapsed();
        return new QueueStatistics(this.queue.value(), this.lanes.size() + lapsed.size(), due(lapsed),
                this.leased.size() - lapsed.size(), this.dead, nextDueAt(lapsed));
    }

    PartitionCounts counts(PartitionLayout recorded) {
        List<MemoryMessage> lapsed = lapsed();
        Pause pause = recorded.pause();
        boolean paused = pause != null && !pause.isOver(Instant.ofEpochMilli(Micros.floorToMillis(this.now)));
        return new PartitionCounts(this.lanes.size() + lapsed.size(), due(lapsed), this.lanes.waitingInGroup(),
                this.leased.size() - lapsed.size(), lapsed.size(), this.dead, nextDueAt(lapsed), paused ? pause : null,
                recorded.version(), Micros.toInstant(this.now));
    }

    DueForecast dueForecast() {
        long nowMillis = Micros.floorToMillis(this.now);
        long[] counts = LongStream.of(SPANS)
            .map((span) -> this.lanes.due(nowMillis + span).count() + lapsed().size())
            .toArray();
        long all = this.lanes.size() - this.lanes.waitingInGroup() + lapsed().size();
        return new DueForecast(this.queue.value(), counts[0], counts[1] - counts[0], counts[2] - counts[1],
                counts[3] - counts[2], counts[4] - counts[3], all - counts[4], this.lanes.waitingInGroup());
    }

    List<ListedMessage> messages(MessageSelection listing, @Nullable MessageCursor after, int limit) {
        Stream<MemoryMessage> messages = switch (listing) {
            case SCHEDULED -> this.lanes.waiting();
            case DUE -> this.lanes.due(Micros.floorToMillis(this.now));
            case LEASED -> this.leased.stream();
            case WAITING_IN_GROUP -> this.lanes.waitingBehind();
        };
        return messages
            .map((message) -> new ListedMessage(position(listing, message), message.summary(this.queue, this.now)))
            .filter((listed) -> after == null || listed.position().compareTo(after) > 0)
            .sorted((one, other) -> one.position().compareTo(other.position()))
            .limit(limit)
            .toList();
    }

    /** Returns the messages of a selection, in no order. */
    Stream<MemoryMessage> of(ScanSelection selection) {
        return switch (selection) {
            case ALL -> Stream.of(this.lanes.waiting(), this.leased.stream(), this.lanes.waitingBehind())
                .flatMap(Function.identity());
            case SCHEDULED -> this.lanes.waiting();
            case DUE -> this.lanes.due(Micros.floorToMillis(this.now));
            case LEASED -> this.leased.stream();
            case WAITING_IN_GROUP -> this.lanes.waitingBehind();
            case RETRYING -> of(ScanSelection.ALL).filter((message) -> message.failures > 0);
            case DEAD -> Stream.empty();
        };
    }

    DueCounts dueCounts(List<Instant> ends) {
        long lapsed = lapsed().size();
        long nowMillis = Micros.floorToMillis(this.now);
        List<Long> until = ends.stream()
            .map((end) -> this.lanes.due(Math.max(nowMillis, end.toEpochMilli())).count() + lapsed)
            .toList();
        return new DueCounts(Micros.toInstant(this.now), this.lanes.due(nowMillis).count() + lapsed, until,
                this.lanes.size() - this.lanes.waitingInGroup() + lapsed, this.lanes.waitingInGroup());
    }

    private static MessageCursor position(MessageSelection listing, MemoryMessage message) {
        if (listing == MessageSelection.WAITING_IN_GROUP) {
            return new MessageCursor("0", "%s %015d:%s".formatted(message.group, message.wanted, message.id));
        }
        long score = (listing == MessageSelection.LEASED) ? message.deadline : message.due;
        return new MessageCursor(Long.toString(score), message.id);
    }

    private List<MemoryMessage> lapsed() {
        return this.leased.stream().takeWhile((message) -> message.deadline <= this.now).toList();
    }

    private long due(List<MemoryMessage> lapsed) {
        return this.lanes.due(Micros.floorToMillis(this.now)).count() + lapsed.size();
    }

    private @Nullable Instant nextDueAt(List<MemoryMessage> lapsed) {
        LongStream ends = Stream.ofNullable(lapsed.isEmpty() ? null : lapsed.get(0))
            .mapToLong((first) -> Micros.floorToMillis(first.deadline));
        return Micros.earliest(this.lanes.heads(), ends);
    }

}
