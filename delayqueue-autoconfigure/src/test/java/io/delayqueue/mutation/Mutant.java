package io.delayqueue.mutation;

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

    /** Names it whatever stands above it. */
    String key() {
        return this.file + " | " + this.code + " | " + this.change;
    }

    /** Whether a condition never holds. */
    boolean removesGuard() {
        return this.change.endsWith(" -> false");
    }

    /** Where it is, for people. */
    @Override
    public String toString() {
        return "%s:%d: %s    [%s]".formatted(this.file, this.line, this.change, this.code);
    }

}
