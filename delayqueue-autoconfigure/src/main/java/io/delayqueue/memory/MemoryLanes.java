package io.delayqueue.memory;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.delayqueue.MessageLimits;
import io.delayqueue.store.FailedAttempts;
import io.delayqueue.store.OfferConditions;
import org.jspecify.annotations.Nullable;

/**
 * Holds the waiting messages of one queue: in the lanes those that may be claimed, and
 * behind them those that wait in their group. A group has one head, in its lane or
 * leased, and the others of the group wait until it is gone. Guarded as
 * {@link MemoryQueue} is.
 */
final class MemoryLanes {

    /** The lanes, the highest priority first. */
    private final List<NavigableSet<MemoryMessage>> lanes = IntStream
        .rangeClosed(MessageLimits.MIN_PRIORITY, MessageLimits.MAX_PRIORITY)
        .<NavigableSet<MemoryMessage>>mapToObj((lane) -> new TreeSet<>(MemoryMessage.BY_DUE_TIME))
        .toList();

    private final Map<String, Group> groups = new HashMap<>();

    private long waitingInGroup;

    /**
     * Adds a message.
     * @return whether it may be claimed when it is due; otherwise it waits in its group
     */
    boolean add(MemoryMessage message) {
        Group group = (message.group != null) ? this.groups.computeIfAbsent(message.group, (name) -> new Group(message))
                : null;
        if (group != null && group.head != message && !overtakes(message, group)) {
            this.waitingInGroup++;
            group.waitingInGroup.add(message);
            return false;
        }
        lane(message).add(message);
        return true;
    }

    /**
     * Makes a message the head of its group if the present head waits and is due later. A
     * head that was released stays the head.
     */
    private boolean overtakes(MemoryMessage message, Group group) {
        MemoryMessage head = group.head;
        if (head.leased || head.isPutOff() || MemoryMessage.BY_GROUP_ORDER.compare(head, message) < 0) {
            return false;
        }
        lane(head).remove(head);
        this.waitingInGroup++;
        group.waitingInGroup.add(head);
        group.head = message;
        return true;
    }

    boolean holds(@Nullable String group) {
        return group != null && this.groups.containsKey(group);
    }

    /**
     * Sets the failed attempts of a message that is restored, which waits for its retry
     * unless it waits in its group.
     */
    void setFailed(MemoryMessage message, @Nullable OfferConditions offer) {
        FailedAttempts failed = (offer != null) ? offer.failedOf(message.id) : FailedAttempts.NONE;
        message.failures = failed.count();
        if (failed.dueMillis() != null && lane(message).remove(message)) {
            message.due = failed.dueMillis();
            lane(message).add(message);
        }
    }

    /** Removes a message from its lane to be leased. It stays the head of its group. */
    void take(MemoryMessage message) {
        lane(message).remove(message);
    }

    /** Puts a leased message back into its lane; it stays the head of its group. */
    void putBack(MemoryMessage message) {
        lane(message).add(message);
    }

    /**
     * Removes a message that waits, or a leased one that is settled.
     * @return whether another of its group may be claimed now
     */
    boolean remove(MemoryMessage message) {
        lane(message).remove(message);
        Group group = (message.group != null) ? this.groups.get(message.group) : null;
        if (group == null) {
            return false;
        }
        if (group.head != message) {
            this.waitingInGroup--;
            group.waitingInGroup.remove(message);
            return false;
        }
        MemoryMessage next = group.waitingInGroup.pollFirst();
        if (next == null) {
            this.groups.remove(message.group);
            return false;
        }
        this.waitingInGroup--;
        group.head = next;
        lane(next).add(next);
        return true;
    }

    /** Returns due messages, the highest lane and the longest due first. */
    Stream<MemoryMessage> due(long nowMillis) {
        return this.lanes.stream().flatMap((lane) -> due(lane, nowMillis));
    }

    /** Returns the due messages of one lane, the longest due first. */
    Stream<MemoryMessage> due(int lane, long nowMillis) {
        return due(this.lanes.get(MessageLimits.MAX_PRIORITY - lane), nowMillis);
    }

    private static Stream<MemoryMessage> due(NavigableSet<MemoryMessage> lane, long nowMillis) {
        return lane.stream().takeWhile((message) -> message.due <= nowMillis);
    }

    /** Returns the earliest due time of each lane. */
    LongStream heads() {
        return this.lanes.stream().filter((lane) -> !lane.isEmpty()).mapToLong((lane) -> lane.first().due);
    }

    /** Returns how many wait, those that wait in their group included. */
    long size() {
        return this.waitingInGroup + this.lanes.stream().mapToLong(NavigableSet::size).sum();
    }

    /** Returns all that may be claimed once they are due, in no order. */
    Stream<MemoryMessage> waiting() {
        return this.lanes.stream().flatMap(NavigableSet::stream);
    }

    /** Returns all that wait in their group, in no order. */
    Stream<MemoryMessage> waitingBehind() {
        return this.groups.values().stream().flatMap((group) -> group.waitingInGroup.stream());
    }

    long waitingInGroup() {
        return this.waitingInGroup;
    }

    private NavigableSet<MemoryMessage> lane(MemoryMessage message) {
        return this.lanes.get(MessageLimits.MAX_PRIORITY - message.lane);
    }

    /** Holds the messages of one group. */
    private static final class Group {

        private final NavigableSet<MemoryMessage> waitingInGroup = new TreeSet<>(MemoryMessage.BY_GROUP_ORDER);

        private MemoryMessage head;

        Group(MemoryMessage head) {
            this.head = head;
        }

    }

}
