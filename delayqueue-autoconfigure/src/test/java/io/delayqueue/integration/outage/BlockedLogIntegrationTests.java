package io.delayqueue.integration.outage;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A log that blocks, as one that is full or on a disk that hangs, stalls neither the
 * application's Redis client nor the listeners.
 */
@Tag("server")
class BlockedLogIntegrationTests {

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    @RegisterExtension
    final Applications applications = new Applications();

    private final CountDownLatch blocked = new CountDownLatch(1);

    private final CountDownLatch released = new CountDownLatch(1);

    private final Logger logger = (Logger) LoggerFactory.getLogger("io.delayqueue");

    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {

        @Override
        public void doAppend(ILoggingEvent event) { // without the lock of the base class
            if (event.getLevel() == Level.ERROR) {
                BlockedLogIntegrationTests.this.blocked.countDown();
                try {
                    BlockedLogIntegrationTests.this.released.await(2, TimeUnit.MINUTES);
                }
                catch (InterruptedException ex) {
                    Thread.currentThread().interrupt();
                }
            }
        }

        @Override
        protected void append(ILoggingEvent event) {
        }

    };

    /** After the start of the application, because Boot configures the log then. */
    private void block() {
        this.appender.start();
        this.logger.addAppender(this.appender);
    }

    @AfterEach
    void release() {
        this.released.countDown();
        this.logger.detachAppender(this.appender);
    }

    @Test
    void aDeadLetterThatCannotBeLoggedStallsNoThread() throws Exception {
        Application application = this.applications.withHandler(this.redis);
        block();
        application.queue().pause("orders");
        String id = application.queue().send("orders", new Order(1), Duration.ZERO).id();
        this.redis.commands().hdel(this.applications.namespace() + ":{orders}:messages", id);
        application.queue().resume("orders");
        assertThat(this.blocked.await(1, TimeUnit.MINUTES)).isTrue();

        application.queue().send("orders", new Order(2), Duration.ZERO);
        assertThat(application.handler().next().number()).isEqualTo(2);
        assertThat(this.released.getCount()).as("the log still blocks").isOne();
    }

}
