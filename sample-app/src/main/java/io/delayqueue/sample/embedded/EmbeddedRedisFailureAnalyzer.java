package io.delayqueue.sample.embedded;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what to do on a platform without an embedded Redis. */
class EmbeddedRedisFailureAnalyzer extends AbstractFailureAnalyzer<EmbeddedRedisException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, EmbeddedRedisException cause) {
        return new FailureAnalysis(cause.getMessage(), """
                Use a Redis of your own, version 6.2 or later, and say where it is, such as by
                    --spring.data.redis.host=localhost
                or the environment variable SPRING_DATA_REDIS_HOST=localhost""", cause);
    }

}
