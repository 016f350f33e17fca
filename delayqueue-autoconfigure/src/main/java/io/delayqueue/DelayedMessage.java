package io.delayqueue;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * Describes a message to send, with all options. Immutable. Validated when it is built,
 * except for the payload, which is written as JSON when the message is sent.
 * <pre class="code">
 * delayQueue.send(DelayedMessage.builder("order-timeout", new OrderTimeout(42))
 *     .id("order-42")
 *     .delay(Duration.ofMinutes(30))
 *     .onDuplicate(OnDuplicate.REPLACE)
 *     .build());
 * </pre>
 */
public final class DelayedMessage {

    private final QueueName queue;

    private final Object payload;

    private final @Nullable Duration delay;

    private final @Nullable Instant dueAt;

    private final @Nullable String id;

    private final OnDuplicate onDuplicate;

    private final int priority;

    private final @Nullable Duration timeToLive;

    private final @Nullable String group;

    private final @Nullable Duration duplicateWindow;

    private final Map<String, String> headers;

    private final @Nullable Boolean afterCommit;

    private DelayedMessage(Builder builder) {
        this.queue = builder.queue;
        this.payload = builder.payload;
        this.delay = builder.delay;
        this.dueAt = builder.dueAt;
        this.id = builder.id;
        this.onDuplicate = builder.onDuplicate;
        this.priority = builder.priority;
        this.timeToLive = builder.timeToLive;
        this.group = builder.group;
        this.duplicateWindow = builder.duplicateWindow;
        this.headers = builder.headers.isEmpty() ? Map.of() : Map.copyOf(builder.headers);
        this.afterCommit = builder.afterCommit;
    }

    /**
     * Returns a builder for a message that is due immediately by default.
     * @param queue the queue to send to
     * @param payload what the handler receives; written as JSON
     * @throws IllegalArgumentException if {@code queue} is not a valid name
     */
    public static Builder builder(String queue, Object payload) {
        return new Builder(new QueueName(queue), payload);
    }

    /**
     * Returns a builder that is initialized from this message. A delay or due time set on
     * it replaces that of this message.
     */
    public Builder toBuilder() {
        Builder builder = new Builder(this.queue, this.payload);
        builder.delay = this.delay;
        builder.dueAt = this.dueAt;
        builder.id = this.id;
        builder.onDuplicate = this.onDuplicate;
        builder.priority = this.priority;
        builder.timeToLive = this.timeToLive;
        builder.group = this.group;
        builder.duplicateWindow = this.duplicateWindow;
        builder.headers.putAll(this.headers);
        builder.afterCommit = this.afterCommit;
        return builder;
    }

    /** Returns the queue to send to. */
    public QueueName queue() {
        return this.queue;
    }

    /** Returns the payload that the handler receives. */
    public Object payload() {
        return this.payload;
    }

    /**
     * Returns the time until it is due, counted from when it is stored; absent if a due
     * time is set.
     */
    public Optional<Duration> delay() {
        return Optional.ofNullable(this.delay);
    }

    /** Returns the due time; absent if a delay is set. */
    public Optional<Instant> dueAt() {
        return Optional.ofNullable(this.dueAt);
    }

    /** Returns its id; absent if one is to be generated. */
    public Optional<String> id() {
        return Optional.ofNullable(this.id);
    }

    /** Returns how the send treats an id that the queue already holds. */
    public OnDuplicate onDuplicate() {
        return this.onDuplicate;
    }

    /**
     * Returns {@value MessageLimits#MIN_PRIORITY} to {@value MessageLimits#MAX_PRIORITY}.
     */
    public int priority() {
        return this.priority;
    }

    /**
     * Returns how long after its due time it may still be handled; absent for no limit.
     */
    public Optional<Duration> timeToLive() {
        return Optional.ofNullable(this.timeToLive);
    }

    /** Returns its group; absent for none. */
    public Optional<String> group() {
        return Optional.ofNullable(this.group);
    }

    /**
     * Returns how long sends of its id are answered {@link SendOutcome#DEDUPLICATED}
     * after it was handled or dead-lettered; absent for no time.
     */
    public Optional<Duration> duplicateWindow() {
        return Optional.ofNullable(this.duplicateWindow);
    }

    /** Returns its headers. */
    public Map<String, String> headers() {
        return this.headers;
    }

    /** Returns whether to wait for the commit; absent for the application's default. */
    public Optional<Boolean> afterCommit() {
        return Optional.ofNullable(this.afterCommit);
    }

    /** Describes the message without its payload, which may be private. */
    @Override
    public String toString() {
        return "DelayedMessage[queue=%s, id=%s, delay=%s, dueAt=%s]".formatted(this.queue, this.id, this.delay,
                this.dueAt);
    }

    /** Builds a message. Not thread-safe. */
    public static final class Builder {

        private static final int MAX_HEADERS = 64;

        private static final int MAX_HEADER_NAME = 128;

        private final QueueName queue;

        private final Object payload;

        private @Nullable Duration delay;

        private @Nullable Instant dueAt;

        private @Nullable String id;

        private OnDuplicate onDuplicate = OnDuplicate.KEEP;

        private int priority = MessageLimits.NORMAL_PRIORITY;

        private @Nullable Duration timeToLive;

        private @Nullable String group;

        private @Nullable Duration duplicateWindow;

        private final Map<String, String> headers = new LinkedHashMap<>();

        private @Nullable Boolean afterCommit;

        /** Not set by the message that this builder was initialized from. */
        private boolean timeGiven;

        private Builder(QueueName queue, Object payload) {
            this.queue = queue;
            this.payload = Objects.requireNonNull(payload, "A message needs a payload");
        }

        /**
         * Sets the time until the message is due, counted on the store's clock from when
         * it is stored, and rounded up to the millisecond.
         * @param delay zero (now) to {@link MessageLimits#MAX_DURATION}
         * @throws IllegalArgumentException if it is longer or negative, or if a due time
         * was set on this builder
         */
        public Builder delay(Duration delay) {
            MessageLimits.requireDelay(delay);
            requireOneTime(this.dueAt, delay);
            this.delay = delay;
            this.dueAt = null;
            return this;
        }

        /**
         * Sets the time on the store's clock at which the message is due, rounded up to
         * the millisecond.
         * @param dueAt the due time; one in the past means now
         * @throws IllegalArgumentException if it is too far ahead, or if a delay was set
         * on this builder
         */
        public Builder dueAt(Instant dueAt) {
            MessageLimits.requireDueAt(dueAt);
            requireOneTime(this.delay, dueAt);
            this.dueAt = dueAt;
            this.delay = null;
            return this;
        }

        private static Object text(Object time) {
            return (time instanceof Duration delay) ? MessageLimits.describe(delay) : time;
        }

        private void requireOneTime(@Nullable Object other, Object given) {
            if (this.timeGiven && other != null) {
                throw new IllegalArgumentException(
                        "A message has a delay or a due time, not both: was given %s, and now %s".formatted(text(other),
                                text(given)));
            }
            this.timeGiven = true;
        }

        /**
         * Sets an id chosen by the caller, such as a business key. The queue holds at
         * most one message with an id, waiting or being handled, so repeating a send is
         * safe until the message is done.
         * @param id see {@link MessageLimits#requireId}; not beginning with
         * {@value MessageLimits#RESERVED_PREFIX}
         */
        public Builder id(String id) {
            this.id = MessageLimits.requireUnreserved("Message id", MessageLimits.requireId(id));
            return this;
        }

        /**
         * Sets how the send treats an id that the queue already holds;
         * {@link OnDuplicate#KEEP} by default. A handler that sends its own id again
         * needs {@link OnDuplicate#AFTER_CURRENT}.
         */
        public Builder onDuplicate(OnDuplicate onDuplicate) {
            this.onDuplicate = Objects.requireNonNull(onDuplicate);
            return this;
        }

        /**
         * Sets the priority among the due messages of the queue.
         * @param priority {@value MessageLimits#MIN_PRIORITY} (last) to
         * {@value MessageLimits#MAX_PRIORITY} (first);
         * {@value MessageLimits#NORMAL_PRIORITY} by default
         */
        public Builder priority(int priority) {
            this.priority = MessageLimits.requirePriority(priority);
            return this;
        }

        /**
         * Sets how long after its due time the message may still be handled. A retry does
         * not extend this time.
         * @param timeToLive more than zero
         */
        public Builder timeToLive(Duration timeToLive) {
            this.timeToLive = MessageLimits.requirePositive("Time to live", timeToLive);
            return this;
        }

        /**
         * Assigns the message to a group. Messages of a group are handled one at a time
         * across all nodes, in the order of their due times. A message that is retried
         * keeps its position, and the others wait for it. With groups, an id is unique
         * per queue and group: always send an id with the same group.
         * @param group see {@link MessageLimits#requireGroup}; not beginning with
         * {@value MessageLimits#RESERVED_PREFIX}
         */
        public Builder group(String group) {
            this.group = MessageLimits.requireUnreserved("Group", MessageLimits.requireGroup(group));
            return this;
        }

        /**
         * Keeps the id out for a while after the message was handled or dead-lettered:
         * sends of the id with a duplicate window are then answered
         * {@link SendOutcome#DEDUPLICATED}, and store nothing. Set it on every send of
         * the id; a send without a window is not checked. A cancel and a purge of the id
         * end its window; a redrive ignores it.
         * <p>
         * Requires an {@link #id(String)} and {@link OnDuplicate#KEEP}. A message that
         * expires and is dropped begins no window, and neither does one that follows a
         * cancelled one ({@link SendOutcome#AFTER_CURRENT}).
         * @param window rounded up to the millisecond; more than zero, at most
         * {@link MessageLimits#MAX_DUPLICATE_WINDOW}
         */
        public Builder duplicateWindow(Duration window) {
            this.duplicateWindow = MessageLimits.requireDuplicateWindow(window);
            return this;
        }

        /**
         * Sets a header.
         * @param name 1 to 128 characters, not beginning with
         * {@value DelayQueueHeaders#PREFIX}, and not {@code id} or {@code timestamp}
         * @param value its value
         */
        public Builder header(String name, String value) {
            boolean reserved = name.startsWith(DelayQueueHeaders.PREFIX) || name.equals("id")
                    || name.equals("timestamp");
            if (name.isEmpty() || name.length() > MAX_HEADER_NAME || reserved) {
                throw new IllegalArgumentException(("Header name '%s' is not valid: use 1 to %d characters, not "
                        + "'id', 'timestamp' or a name beginning with '%s'")
                    .formatted(MessageLimits.quotable(name), MAX_HEADER_NAME, DelayQueueHeaders.PREFIX));
            }
            Objects.requireNonNull(value, "A header needs a value");
            if (this.headers.size() == MAX_HEADERS && !this.headers.containsKey(name)) {
                throw new IllegalArgumentException(
                        "%d headers are too many: use at most %d".formatted(MAX_HEADERS + 1, MAX_HEADERS));
            }
            this.headers.put(name, value);
            return this;
        }

        /**
         * Sets whether a send inside a transaction waits for the commit. Has no effect
         * outside a transaction, nor inside a reactive one, as that is bound to no
         * thread.
         * @param afterCommit {@code false} to send immediately, regardless of
         * {@code delayqueue.send.after-commit}
         */
        public Builder afterCommit(boolean afterCommit) {
            this.afterCommit = afterCommit;
            return this;
        }

        /**
         * Returns the message.
         * @throws IllegalArgumentException if it has a duplicate window, and no id or
         * another mode than {@link OnDuplicate#KEEP}
         */
        public DelayedMessage build() {
            if (this.duplicateWindow != null && (this.id == null || this.onDuplicate != OnDuplicate.KEEP)) {
                throw new IllegalArgumentException(
                        "A duplicate window needs an id and onDuplicate KEEP, but the id was %s and onDuplicate %s"
                            .formatted((this.id != null) ? "'" + this.id + "'" : "not set", this.onDuplicate));
            }
            return new DelayedMessage(this);
        }

    }

}
