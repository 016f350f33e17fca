package io.delayqueue.integration.outage;

import java.util.function.Supplier;

import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.ReplyLossProxy;
import io.delayqueue.redis.script.LoadedScripts;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds an application whose connection to Redis loses answers, so that its client runs
 * scripts again.
 */
record ReplayedApplication(RedisServer redis, Applications applications, ReplyLossProxy loss, Application application) {

    static ReplayedApplication start(RedisServer redis, Applications applications) {
        // A server refuses a script that it does not know, and the proxy would lose that
        // answer.
        LoadedScripts.texts().values().forEach((text) -> redis.commands().scriptLoad(text));
        ReplyLossProxy loss = new ReplyLossProxy(redis.port());
        return new ReplayedApplication(redis, applications, loss,
                applications.start(Applications.SenderConfiguration.class, Applications.at(loss.port())));
    }

    <T> T bean(Class<T> type) {
        return this.application.context().getBean(type);
    }

    /** Makes a call that runs a script twice, and returns the second answer. */
    <T> T repeated(String script, Supplier<T> call) {
        this.loss.next(LoadedScripts.sha(script));
        T answer = call.get();
        assertThat(this.loss.isPending()).as("no answer of '%s' was lost", script).isFalse();
        return answer;
    }

    void close() {
        this.applications.close();
        this.loss.close();
    }

}
