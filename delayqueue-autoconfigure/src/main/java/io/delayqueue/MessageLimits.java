package io.delayqueue;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * Defines the limits of a message, and checks them with exceptions that name the invalid
 * value and the rule. Every argument is checked before anything is stored.
 *
 * @see DelayedMessage
 */
public final class MessageLimits {

    /** Maximum length of a message id. */
    public static final int MAX_ID_LENGTH = 128;

    /**
     * Begins the ids and groups of the occurrences of schedules. Such messages are in the
     * first partition of their queue.
     */
    public static final String RESERVED_PREFIX = "@";

    /** The lowest priority: claimed after all others. */
    public static final int MIN_PRIORITY = 0;

    /** The default priority. */
    public static final int NORMAL_PRIORITY = 4;

    /** The highest priority: claimed before all others. */
    public static final int MAX_PRIORITY = 9;

    /** Longest delay, time to live or lease: 100 years of 365 days. */
    public static final Duration MAX_DURATION = Duration.ofDays(36_500);

    /** The longest duplicate window: 7 days. */
    public static final Duration MAX_DUPLICATE_WINDOW = Duration.ofDays(7);

    /** Due times must be before this instant. */
    public static final Instant MAX_DUE_AT = Instant.parse("3000-01-01T00:00:00Z");

    /**
     * Matches ids and groups. Separators in keys must be other characters.
     */
    private static final Pattern ID = Pattern.compile("[A-Za-z0-9._:@/+=~-]{1," + MAX_ID_LENGTH + "}");

    private static final int QUOTED_LENGTH = 80;

    private MessageLimits() {
    }

    /**
     * Checks a message id chosen by a caller.
     * @param id 1 to {@value #MAX_ID_LENGTH} characters: letters, digits and
     * {@code . _ : @ / + = ~ -}
     * @return {@code id}
     * @throws IllegalArgumentException if it does not match
     */
    public static String requireId(String id) {
        return requireName("Message id", id);
    }

    /**
     * Checks the name of a group.
     * @param group like an id: 1 to {@value #MAX_ID_LENGTH} characters, letters, digits
     * and {@code . _ : @ / + = ~ -}
     * @return {@code group}
     * @throws IllegalArgumentException if it does not match
     */
    public static String requireGroup(String group) {
        return requireName("Group", group);
    }

    private static String requireName(String what, String name) {
        if (!ID.matcher(name).matches()) {
            throw new IllegalArgumentException(("%s '%s' is not valid: use 1 to %d characters of A-Z, a-z, 0-9, "
                    + "'.', '_', ':', '@', '/', '+', '=', '~' and '-'")
                .formatted(what, quotable(name), MAX_ID_LENGTH));
        }
        return name;
    }

    /**
     * Checks an id or a group of a message that a caller sends: those that begin with
     * {@value #RESERVED_PREFIX} belong to occurrences of schedules.
     * @param what names it in the exception
     * @param name the id or the group
     * @return {@code name}
     * @throws IllegalArgumentException if it is reserved
     */
    static String requireUnreserved(String what, String name) {
        if (name.startsWith(RESERVED_PREFIX)) {
            throw new IllegalArgumentException(
                    "%s '%s' is not valid: a message that is sent cannot begin with '%s', which schedules use"
                        .formatted(what, quotable(name), RESERVED_PREFIX));
        }
        return name;
    }

    /**
     * Checks a delay; zero is allowed and means now.
     * @param delay zero to {@link #MAX_DURATION}
     * @return {@code delay}
     * @throws IllegalArgumentException if it is negative or too long
     */
    public static Duration requireDelay(Duration delay) {
        Objects.requireNonNull(delay, "A delay is needed; Duration.ZERO for now");
        return requireNotNegative("Delay", delay);
    }

    /**
     * Checks a time span that may be empty.
     * @param name name of the time span, for the exception message
     * @param span zero to {@link #MAX_DURATION}
     * @return {@code span}
     * @throws IllegalArgumentException if it is negative or too long
     */
    public static Duration requireNotNegative(String name, Duration span) {
        Objects.requireNonNull(span, () -> name + " is missing; use Duration.ZERO for none");
        if (span.isNegative() || span.compareTo(MAX_DURATION) > 0) {
            throw new IllegalArgumentException(
                    "%s %s is not valid: use zero to %d days".formatted(name, describe(span), MAX_DURATION.toDays()));
        }
        return span;
    }

    /**
     * Checks a time span that must not be empty.
     * @param name name of the time span, for the exception message
     * @param span more than zero, at most {@link #MAX_DURATION}
     * @return {@code span}
     * @throws IllegalArgumentException if it is zero, negative or too long
     */
    public static Duration requirePositive(String name, Duration span) {
        if (span.isNegative() || span.isZero() || span.compareTo(MAX_DURATION) > 0) {
            throw new IllegalArgumentException("%s %s is not valid: use more than zero and at most %d days"
                .formatted(name, describe(span), MAX_DURATION.toDays()));
        }
        return span;
    }

    /**
     * Checks a duplicate window.
     * @param window more than zero, at most {@link #MAX_DUPLICATE_WINDOW}
     * @return {@code window}
     * @throws IllegalArgumentException if it is zero, negative or too long
     */
    public static Duration requireDuplicateWindow(Duration window) {
        if (window.isNegative() || window.isZero() || window.compareTo(MAX_DUPLICATE_WINDOW) > 0) {
            throw new IllegalArgumentException(
                    "Duplicate window %s is not valid: use more than zero and at most %d days"
                        .formatted(describe(window), MAX_DUPLICATE_WINDOW.toDays()));
        }
        return window;
    }

    /**
     * Checks a due time; one in the past is allowed and means now.
     * @param dueAt before {@link #MAX_DUE_AT}
     * @return {@code dueAt}
     * @throws IllegalArgumentException if it is too far ahead
     */
    public static Instant requireDueAt(Instant dueAt) {
        Objects.requireNonNull(dueAt, "A due time is needed");
        if (!dueAt.isBefore(MAX_DUE_AT)) {
            throw new IllegalArgumentException(
                    "Due time %s is not valid: it must lie before %s".formatted(dueAt, MAX_DUE_AT));
        }
        return dueAt;
    }

    /**
     * Checks a priority.
     * @param priority {@value #MIN_PRIORITY} to {@value #MAX_PRIORITY}
     * @return {@code priority}
     * @throws IllegalArgumentException if it is outside the range
     */
    public static int requirePriority(int priority) {
        if (priority < MIN_PRIORITY || priority > MAX_PRIORITY) {
            throw new IllegalArgumentException("Priority %d is not valid: use %d (last) to %d (first)"
                .formatted(priority, MIN_PRIORITY, MAX_PRIORITY));
        }
        return priority;
    }

    /**
     * Formats a time span for an exception or log message: its two largest units, and
     * seconds with at most three decimals.
     * @param span any
     * @return such as {@code 250 ms}, {@code 1.5 s}, {@code 2 min 30 s}, {@code 30 d}
     */
    public static String describe(Duration span) {
        if (span.isNegative()) {
            return (span.getSeconds() == Long.MIN_VALUE) ? span.toString() : "-" + describe(span.negated());
        }
        if (span.compareTo(Duration.ofSeconds(1)) < 0) {
            return (span.toMillis() > 0) ? decimal(span.toNanos(), 6, 3) + " ms"
                    : decimal(span.toNanos(), 6, 6) + (span.isZero() ? " s" : " ms");
        }
        if (span.compareTo(Duration.ofMinutes(1)) < 0) {
            return decimal(span.toMillis(), 3, 3) + " s";
        }
        if (span.compareTo(Duration.ofHours(1)) < 0) {
            return units(span.toMinutes(), "min", span.toSecondsPart(), "s");
        }
        return (span.compareTo(Duration.ofDays(1)) < 0) ? units(span.toHours(), "h", span.toMinutesPart(), "min")
                : units(span.toDays(), "d", span.toHoursPart(), "h");
    }

    private static String decimal(long value, int scale, int decimals) {
        return BigDecimal.valueOf(value, scale)
            .setScale(decimals, RoundingMode.DOWN)
            .stripTrailingZeros()
            .toPlainString();
    }

    private static String units(long many, String unit, long rest, String lesserUnit) {
        return many + " " + unit + ((rest > 0) ? " " + rest + " " + lesserUnit : "");
    }

    /**
     * Returns an external value truncated and made safe for a message: without control
     * characters, line separators, and characters that change the writing direction.
     */
    static String quotable(String value) {
        String cut = (value.length() > QUOTED_LENGTH) ? value.substring(0, QUOTED_LENGTH) + "..." : value;
        return cut.replaceAll("[\\p{C}\\p{Zl}\\p{Zp}]", "?");
    }

}
