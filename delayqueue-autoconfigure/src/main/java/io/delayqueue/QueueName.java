package io.delayqueue;

/**
 * Holds the validated name of a queue.
 *
 * @param value 1 to 64 characters: letters, digits, {@code .}, {@code _} and {@code -};
 * the first is a letter or a digit
 * @see DelayQueueOperations
 */
public record QueueName(String value) {

    private static final int MAX_LENGTH = 64;

    public QueueName {
        if (!isValid(value)) {
            throw new IllegalArgumentException(
                    ("Queue name '%s' is not valid: use 1 to 64 characters of A-Z, a-z, 0-9, "
                            + "'.', '_' and '-', beginning with a letter or a digit")
                        .formatted(MessageLimits.quotable(value)));
        }
    }

    // Without a pattern, as each send creates a name.
    private static boolean isValid(String value) {
        if (value.isEmpty() || value.length() > MAX_LENGTH || !isLetterOrDigit(value.charAt(0))) {
            return false;
        }
        for (int i = 1; i < value.length(); i++) {
            char letter = value.charAt(i);
            if (!isLetterOrDigit(letter) && letter != '.' && letter != '_' && letter != '-') {
                return false;
            }
        }
        return true;
    }

    private static boolean isLetterOrDigit(char letter) {
        return letter >= 'A' && letter <= 'Z' || letter >= 'a' && letter <= 'z' || letter >= '0' && letter <= '9';
    }

    @Override
    public String toString() {
        return this.value;
    }

}
