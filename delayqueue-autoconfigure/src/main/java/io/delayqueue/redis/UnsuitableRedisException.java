package io.delayqueue.redis;

/** Reports that the Redis server, or what its user may do, cannot store messages. */
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
