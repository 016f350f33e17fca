package io.delayqueue.sample;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import redis.embedded.RedisExecProvider;

/** Skips tests on platforms without an embedded Redis, and prints why. */
final class EmbeddedRedisRequired implements ExecutionCondition {

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        try {
            RedisExecProvider.defaultProvider().get();
            return ConditionEvaluationResult.enabled("There is an embedded Redis for this platform");
        }
        catch (Exception ex) {
            String reason = "Skipped %s: no embedded Redis for this platform: %s".formatted(context.getDisplayName(),
                    ex.getMessage());
            System.out.println(reason);
            return ConditionEvaluationResult.disabled(reason);
        }
    }

}
