package io.delayqueue.migrate.engine;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;

import io.delayqueue.DelayedMessage;
import io.delayqueue.migrate.SourceEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Verifies the messages of entries. */
class EntryMessagesTests {

    private final EntryMessages messages = new EntryMessages(PayloadDecoders.named("json"));

    @Test
    void idOfTheSourceIsKept() throws Exception {
        DelayedMessage message = this.messages.of("orders", entry("order-1"));

        assertThat(message.id()).contains("order-1");
        assertThat(message.headers()).isEqualTo(Map.of("migrate-entry", "entry-1"));
    }

    @ParameterizedTest
    @ValueSource(strings = { "an id, not valid here", "@nightly" })
    void idThatIsNotValidIsKeptAsAHeader(String id) throws Exception {
        DelayedMessage message = this.messages.of("orders", entry(id));

        assertThat(message.id()).contains("entry-1");
        assertThat(message.headers()).isEqualTo(Map.of("migrate-source-id", id));
    }

    private static SourceEntry entry(String id) {
        return SourceEntry.of("entry-1", Instant.EPOCH, "{}".getBytes(StandardCharsets.UTF_8)).with(id, Map.of());
    }

}
