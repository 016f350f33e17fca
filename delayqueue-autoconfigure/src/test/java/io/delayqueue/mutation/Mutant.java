package io.delayqueue.mutation;

import java.util.regex.Pattern;

/**
 * A script with one thing wrong.
 *
 * @param file the script that was changed
 * @param line where, from 1
 * @param code what stands on that line
 * @param change what was done to it
 * @param text the whole of the changed script
 */
record Mutant(String file, int line, String code, String change, String text) {

    private static final Pattern TRIAL = Pattern.compile(
            "(rehearse\\w*\\(\\)|permitted\\(\\)|redis\\.call\\('\\w+', \\w+, ('0'|1, 0|.*PROBE).*\\)) -> nothing");

    /** Names it whatever stands above it. */
    String key() {
        return this.file + " | " + this.code + " | " + this.change;
    }

    /** Whether a condition never holds, or a trial is left out. */
    boolean removesGuard() {
        return this.change.endsWith(" -> false") || isTrial();
    }

    /** Whether what is left out changes nothing, and only shows that it is permitted. */
    boolean isTrial() {
        return TRIAL.matcher(this.change).matches();
    }

    /** Where it is, for people. */
    @Override
    public String toString() {
        return "%s:%d: %s    [%s]".formatted(this.file, this.line, this.change, this.code);
    }

}
