package io.delayqueue.autoconfigure;

import io.delayqueue.redis.UnsuitableRedisException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains why a Redis server is unsuitable. */
final class UnsuitableRedisFailureAnalyzer extends AbstractFailureAnalyzer<UnsuitableRedisException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, UnsuitableRedisException cause) {
        return new FailureAnalysis("Messages cannot be kept on this Redis server. " + cause.getMessage(),
                cause.remedy(), cause);
    }

}
