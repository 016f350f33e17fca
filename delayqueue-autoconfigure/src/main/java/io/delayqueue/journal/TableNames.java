package io.delayqueue.journal;

import java.util.regex.Pattern;

/**
 * Replaces the prefix of the names of tables in statements and scripts.
 *
 * @param prefix what the names begin with: a lower-case letter, and up to 30 further
 * lower-case letters, digits and underscores
 */
public record TableNames(String prefix) {

    /** The prefix in all statements and scripts. */
    public static final String DEFAULT_PREFIX = "delayqueue_";

    private static final Pattern VALID = Pattern.compile("[a-z][a-z0-9_]{0,30}");

    public TableNames {
        if (!VALID.matcher(prefix).matches()) {
            throw new IllegalArgumentException(("delayqueue.journal.jdbc.table-prefix must be a lower-case letter and "
                    + "up to 30 lower-case letters, digits and underscores, but was '%s'")
                .formatted(prefix));
        }
    }

    /** Returns the text with the names of the tables. */
    public String in(String text) {
        return this.prefix.equals(DEFAULT_PREFIX) ? text : text.replace(DEFAULT_PREFIX, this.prefix);
    }

}
