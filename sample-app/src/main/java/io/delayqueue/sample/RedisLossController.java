package io.delayqueue.sample;

import io.delayqueue.sample.embedded.EmbeddedRedis;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Deletes all of the embedded Redis, which the journal then restores. */
@RestController
@Profile("ledger")
class RedisLossController {

    private final ObjectProvider<EmbeddedRedis> redis;

    private final EventLog events;

    RedisLossController(ObjectProvider<EmbeddedRedis> redis, EventLog events) {
        this.redis = redis;
        this.events = events;
    }

    @DeleteMapping("/redis")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void deleteAll() {
        EmbeddedRedis embedded = this.redis.getIfAvailable();
        if (embedded == null) {
            throw new ConflictException("This Redis is not the embedded one, and is left alone");
        }
        embedded.deleteAll();
        this.events.add(ShopEvent.Kind.REDIS_LOST, null, "Redis holds nothing any more");
    }

}
