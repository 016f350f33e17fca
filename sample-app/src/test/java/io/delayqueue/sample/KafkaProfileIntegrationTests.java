package io.delayqueue.sample;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;

import io.delayqueue.sample.ShopEvent.Kind;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.ActiveProfiles;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the profile that forwards due messages to a broker of Kafka. */
@ExtendWith(EmbeddedRedisRequired.class)
@ActiveProfiles("kafka")
@SpringBootTest(properties = "sample.receipt-delay=1s")
@Tag("server")
class KafkaProfileIntegrationTests {

    @Autowired
    private OrderService service;

    @Autowired
    private EventLog events;

    /** P2: the record arrives, and not before its receipt was due. */
    @Test
    void receiptGoesThroughTheTopicWhenItIsDue() {
        String id = this.service.place(new PlaceOrder("Kettle", new BigDecimal("42.5"), null)).id();
        this.service.pay(id);

        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> events(id).size() == 3);
        assertThat(events(id)).extracting(ShopEvent::kind).containsExactly(Kind.PLACED, Kind.PAID, Kind.RECEIPT_SENT);
        ShopEvent sent = events(id).get(2);
        assertThat(sent.text()).isEqualTo("record 0 of topic 'receipts'");
        assertThat(sent.latenessMillis()).isNotNegative();
        assertThat(Duration.between(events(id).get(1).at(), sent.at())).isGreaterThanOrEqualTo(Duration.ofMillis(990));
    }

    private List<ShopEvent> events(String orderId) {
        return this.events.after(0).stream().filter((event) -> orderId.equals(event.orderId())).toList();
    }

}
