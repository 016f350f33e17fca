package io.delayqueue;

import java.util.regex.Pattern;

/**
 * Holds the validated name of a queue.
 *
 * @param value 1 to 64 characters: letters, digits, {@code .}, {@code _} and {@code -};
 * the first is a letter or a digit
 * @see DelayQueueOperations
 */
public record QueueName(String value) {

    private static final Pattern ALLOWED = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");

    public QueueName {
        if (!ALLOWED.matcher(value).matches()) {
            throw new IllegalArgumentException(
                    ("Queue name '%s' is not valid: use 1 to 64 characters of A-Z, a-z, 0-9, "
                            + "'.', '_' and '-', beginning with a letter or a digit")
                        .formatted(MessageLimits.quotable(value)));
        }
    }

    @Override
    public String toString() {
        return this.value;
    }

}
