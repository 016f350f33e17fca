package io.delayqueue.test.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.forward.BrokerUnavailableException;
import io.delayqueue.forward.MessageForwarder;
import io.delayqueue.test.DelayQueueTester;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/** Verifies that the outage of a broker passes in virtual time. */
@SpringBootTest(classes = ForwardTests.Carriers.class, properties = "delayqueue.forward.parcels.to=bean:carrier")
@AutoConfigureDelayQueueTester
class ForwardTests {

    @Autowired
    private DelayQueueTester tester;

    @Autowired
    private DelayQueueOperations queue;

    @Autowired
    private Carriers carriers;

    @Test
    void aForwardIsTriedAgainAfterAnOutageInVirtualTime() {
        Instant start = this.tester.now();
        this.queue.send("parcels", "1", "parcel", Duration.ofMinutes(30));

        this.tester.advance(Duration.ofMinutes(31));

        assertThat(this.carriers.times).hasSize(2);
        assertThat(this.carriers.times.get(0)).isEqualTo(start.plus(Duration.ofMinutes(30)));
        assertThat(this.carriers.times.get(1)).isBetween(start.plus(Duration.ofMinutes(30)).plusMillis(1),
                start.plus(Duration.ofMinutes(31)));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Carriers {

        private final List<Instant> times = new ArrayList<>();

        @Autowired
        private DelayQueueTester tester;

        @Bean
        MessageForwarder carrier() {
            return (message) -> {
                this.times.add(this.tester.now());
                return (this.times.size() > 1) ? CompletableFuture.completedFuture(null)
                        : CompletableFuture.failedFuture(new BrokerUnavailableException("The carrier is away", null));
            };
        }

    }

}
