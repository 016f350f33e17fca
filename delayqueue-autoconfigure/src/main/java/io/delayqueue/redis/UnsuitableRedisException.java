package io.delayqueue.redis;

/**
 * Reports that the Redis server, its topology, the client or the permissions of the user
 * are not suitable for the configuration.
 */
public final class UnsuitableRedisException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    private final String remedy;

    public UnsuitableRedisException(String problem, String remedy) {
        super(problem);
        this.remedy = remedy;
    }

    /** Returns the action that fixes the problem. */
    public String remedy() {
        return this.remedy;
    }

}
