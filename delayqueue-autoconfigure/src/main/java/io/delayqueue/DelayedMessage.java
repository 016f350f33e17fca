package io.delayqueue;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * A message to send, with all that can be said about it. Immutable; valid by
 * construction, except that its payload is written only when it is sent.
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
        this.headers = Map.copyOf(builder.headers);
        this.afterCommit = builder.afterCommit;
    }

    /**
     * Begins a message that is due at once, unless told otherwise.
     * @param queue the queue to send to
     * @param payload what the handler receives; written as JSON
     * @throws IllegalArgumentException if {@code queue} is not a valid name
     */
    public static Builder builder(String queue, Object payload) {
        return new Builder(new QueueName(queue), payload);
    }

    /**
     * A builder that begins with all that this message says. A delay or a due time that
     * is given to it replaces that of this message.
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
        builder.headers.putAll(this.headers);
        builder.afterCommit = this.afterCommit;
        return builder;
    }

    /** The queue to send to. */
    public QueueName queue() {
        return this.queue;
    }

    /** What the handler receives. */
    public Object payload() {
        return this.payload;
    }

    /** Time until it is due, counted from when the store takes it; or else a due time. */
    public Optional<Duration> delay() {
        return Optional.ofNullable(this.delay);
    }

    /** When it is due. */
    public Optional<Instant> dueAt() {
        return Optional.ofNullable(this.dueAt);
    }

    /** Its id; absent if one shall be generated. */
    public Optional<String> id() {
        return Optional.ofNullable(this.id);
    }

    /** What to do if the queue already holds the id. */
    public OnDuplicate onDuplicate() {
        return this.onDuplicate;
    }

    /** {@value MessageLimits#MIN_PRIORITY} to {@value MessageLimits#MAX_PRIORITY}. */
    public int priority() {
        return this.priority;
    }

    /** How long after its due time it may still be handled; absent for ever. */
    public Optional<Duration> timeToLive() {
        return Optional.ofNullable(this.timeToLive);
    }

    /** Its group; absent for none. */
    public Optional<String> group() {
        return Optional.ofNullable(this.group);
    }

    /** Its headers. */
    public Map<String, String> headers() {
        return this.headers;
    }

    /** Whether to wait for the commit; absent for what the application has set. */
    public Optional<Boolean> afterCommit() {
        return Optional.ofNullable(this.afterCommit);
    }

    /** Names the message without its payload, which may be private. */
    @Override
    public String toString() {
        return "DelayedMessage[queue=%s, id=%s, delay=%s, dueAt=%s]".formatted(this.queue, this.id, this.delay,
                this.dueAt);
    }

    /** Collects what is to be said about a message. Not thread-safe. */
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

        private final Map<String, String> headers = new LinkedHashMap<>();

        private @Nullable Boolean afterCommit;

        /** Not set by a message that this builder began with. */
        private boolean timeGiven;

        private Builder(QueueName queue, Object payload) {
            this.queue = queue;
            this.payload = Objects.requireNonNull(payload, "A message needs a payload");
        }

        /**
         * Due after this time, counted by the store's clock from when it takes the
         * message and rounded up to the millisecond.
         * @param delay zero (now) to {@link MessageLimits#MAX_DURATION}
         * @throws IllegalArgumentException if it is longer or negative, or if this
         * builder was given a due time
         */
        public Builder delay(Duration delay) {
            MessageLimits.requireDelay(delay);
            requireOneTime(this.dueAt, delay);
            this.delay = delay;
            this.dueAt = null;
            return this;
        }

        /**
         * Due at this time of the store's clock, rounded up to the millisecond.
         * @param dueAt the due time; one in the past means now
         * @throws IllegalArgumentException if it is too far ahead, or if this builder was
         * given a delay
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
         * An id of the caller's, such as a business key. The queue admits it once while
         * it holds it, waiting or being handled, so that repeating a send does no harm
         * until the message is done.
         * @param id see {@link MessageLimits#requireId}
         */
        public Builder id(String id) {
            this.id = MessageLimits.requireId(id);
            return this;
        }

        /**
         * What to do if the queue already holds the id; {@link OnDuplicate#KEEP} if not
         * said. A handler that sends its own id again needs
         * {@link OnDuplicate#AFTER_CURRENT}.
         */
        public Builder onDuplicate(OnDuplicate onDuplicate) {
            this.onDuplicate = Objects.requireNonNull(onDuplicate);
            return this;
        }

        /**
         * Its rank among the messages of the queue that are due.
         * @param priority {@value MessageLimits#MIN_PRIORITY} (last) to
         * {@value MessageLimits#MAX_PRIORITY} (first);
         * {@value MessageLimits#NORMAL_PRIORITY} if not said
         */
        public Builder priority(int priority) {
            this.priority = MessageLimits.requirePriority(priority);
            return this;
        }

        /**
         * How long after its due time it may still be handled. A retry does not prolong
         * it.
         * @param timeToLive more than zero
         */
        public Builder timeToLive(Duration timeToLive) {
            this.timeToLive = MessageLimits.requirePositive("Time to live", timeToLive);
            return this;
        }

        /**
         * Makes it one of a group. Messages of a group are handled one at a time over all
         * nodes, in the order of their due times; one that is tried again keeps its
         * place, and the others wait for it. Where a group is used an id is unique per
         * queue and group: send an id always with the same group.
         * @param group see {@link MessageLimits#requireGroup}
         */
        public Builder group(String group) {
            this.group = MessageLimits.requireGroup(group);
            return this;
        }

        /**
         * Adds a header, or replaces it.
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
         * Whether a send inside a transaction waits for its commit. Outside one it makes
         * no difference.
         * @param afterCommit {@code false} to send at once, whatever
         * {@code delayqueue.send.after-commit} says
         */
        public Builder afterCommit(boolean afterCommit) {
            this.afterCommit = afterCommit;
            return this;
        }

        /** The message. */
        public DelayedMessage build() {
            return new DelayedMessage(this);
        }

    }

}
