package io.delayqueue.benchmarks.runner.result;

/**
 * Identifies the code that a turn has measured. CRC-32 in eight hexadecimal digits; empty
 * in results that are older than these fields.
 *
 * @param commit of the working tree
 * @param dirty whether files under version control differed from the commit
 * @param contender CRC of all classes and libraries of the contender, which is also the
 * load generator
 * @param redis CRC of the executable of Redis
 * @param measure CRC of the class of the measure
 */
public record Source(String commit, boolean dirty, String contender, String redis, String measure) {

    /** Returns whether the same code was measured in the same way. */
    public boolean isSameCode(Source other) {
        return !this.contender.isEmpty() && this.contender.equals(other.contender) && this.redis.equals(other.redis)
                && this.measure.equals(other.measure);
    }

}
