package io.delayqueue.web.http;

import io.delayqueue.CauseMasking;
import io.delayqueue.web.consume.ApiServer;
import io.delayqueue.web.consume.ApiServer.Reply;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** Checks that a cause does not expose the payload to callers that may not read it. */
@Tag("server")
class CausesTests {

    private static final String QUEUE = ApiServer.PATH + "/queues/masked-causes";

    @ParameterizedTest
    @CsvSource(delimiter = '|',
            textBlock = """
                    java.lang.IllegalStateException: card 4111 is refused | java.lang.IllegalStateException
                    java.lang.IllegalStateException | java.lang.IllegalStateException
                    com.example.Shop$Closed: card 4111 | com.example.Shop$Closed
                    card 4111 is refused | (masked)
                    java.lang.IllegalStateException4111 card | (masked)
                    The payload cannot be read: 4111 | (masked)
                    It has failed 5 times (max-attempts is 5) | It has failed 5 times (max-attempts is 5)
                    It has failed 1 time (max-attempts is 1) | It has failed 1 time (max-attempts is 1)
                    Its lease ran out 1 time after it had started (max-lapses is 1) | Its lease ran out 1 time after it had started (max-lapses is 1)
                    It has failed 5 times (max-attempts is 5): 4111 | (masked)
                    expired | expired
                    """)
    void maskedCausesKeepTheTypeAndTheReasonsOfTheLibrary(String cause, String shown) {
        assertThat(CauseMasking.masked(cause)).isEqualTo(shown);
        assertThat(CauseMasking.masked(cause + "\n\tat com.example.Shop(4111)")).doesNotContain("4111");
    }

    @Test
    void causesAreShownAndSearchedOnlyWithThePayloadAuthority() {
        ApiServer server = ApiServer.shared();
        server.post(QUEUE + "/messages", "{\"id\": \"1\", \"payload\": 1}");
        JsonNode message = server.post(QUEUE + "/claims", "{\"waitMillis\": 20000}").json().at("/messages/0");
        server.post(QUEUE + "/leases/dead-letter", "{\"id\": \"1\", \"token\": \"%s\", \"reason\": \"%s\"}"
            .formatted(message.path("token").asString(), "com.example.Refused: card 4111\\n\\tat com.example.Shop"));

        Reply masked = server.call("view", "GET", QUEUE + "/dead-letters", null);
        Reply open = server.get(QUEUE + "/dead-letters");

        assertThat(masked.json().at("/deadLetters/0/cause").asString()).isEqualTo("com.example.Refused");
        assertThat(masked.body()).doesNotContain("4111");
        assertThat(open.json().at("/deadLetters/0/cause").asString()).contains("card 4111");
        String deadLetter = open.json().at("/deadLetters/0/deadLetterId").asString();
        assertThat(server.call("view", "GET", QUEUE + "/dead-letters/by-id?deadLetterId=" + deadLetter, null).body())
            .doesNotContain("4111");
        String search = "{\"filter\": {\"causeContains\": \"4111\"}}";
        Reply refused = server.call("view", "POST", QUEUE + "/dead-letters/count", search);
        assertThat(refused.problem()).isEqualTo("forbidden");
        assertThat(refused.detail()).contains("DELAYQUEUE_PAYLOAD");
        assertThat(server.post(QUEUE + "/dead-letters/count", search).status()).isEqualTo(200);
    }

    /** Logs and events contain one clean line. */
    @Test
    void causesAreOneLineInTheLog() {
        assertThat(Json.line("a\r\nb\u001b[2J\u202ec\u2028d", 100)).isEqualTo("a b?[2J?c?d");
        assertThat(Json.line("abc", 2)).isEqualTo("ab");
    }

}
