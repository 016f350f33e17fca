package io.delayqueue.redis;

/** The Redis server, or what its user may do, is not enough to keep messages. */
public final class UnsuitableRedisException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    private final String remedy;

    public UnsuitableRedisException(String problem, String remedy) {
        super(problem);
        this.remedy = remedy;
    }

    /** What a person can do about it. */
    public String remedy() {
        return this.remedy;
    }

}
