package io.delayqueue.web;

import java.util.List;
import java.util.function.UnaryOperator;

import io.delayqueue.web.consume.ApiServer;
import io.delayqueue.web.consume.ApiServer.Reply;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Checks attacks through a user's browser, and hostile names. */
@Tag("server")
class WebSecurityTests {

    private static final String MESSAGES = ApiServer.PATH + "/queues/security/messages";

    private final ApiServer server = ApiServer.shared();

    private Reply post(UnaryOperator<java.net.http.HttpRequest.Builder> more) {
        return this.server.send("POST", MESSAGES, "{\"payload\": 1}", (request) -> more
            .apply(request.header("Authorization", ApiServer.basic("all")).header("Content-Type", "application/json")));
    }

    @ParameterizedTest
    @CsvSource({ "cross-site, 403", "same-site, 403", "same-origin, 201", "none, 201", "whatever, 403" })
    void pagesOfOtherSitesChangeNothing(String site, int status) {
        assertThat(post((request) -> request.header("Sec-Fetch-Site", site)).status()).isEqualTo(status);
    }

    @Test
    void anOlderBrowserIsRecognisedByItsOrigin() {
        assertThat(post((request) -> request.header("Origin", "https://evil.example")).problem())
            .isEqualTo("cross-site");
        assertThat(post((request) -> request.header("Origin", "null")).problem()).isEqualTo("cross-site");
        assertThat(post((request) -> request.header("Origin", "http://127.0.0.1:" + this.server.port())).status())
            .isEqualTo(201);
    }

    /** Behind a load balancer the host differs from the one in the browser. */
    @Test
    void fetchMetadataTakesPrecedenceOverHostNames() {
        assertThat(post(
                (request) -> request.header("Sec-Fetch-Site", "same-origin").header("Origin", "https://shop.example"))
            .status()).isEqualTo(201);
    }

    @ParameterizedTest
    @CsvSource({ "text/plain", "application/x-www-form-urlencoded", "multipart/form-data;boundary=x",
            "application/jsonx", "rubbish", "*/*", "application/*", "multipart/form-data", "multipart/mixed",
            "application/json;charset=no-such", "application/json;=", ";" })
    void aBodyThatAFormCanSendIsRejected(String type) {
        Reply reply = this.server.send("POST", MESSAGES, "{\"payload\": 1}",
                (request) -> request.header("Authorization", ApiServer.basic("all")).header("Content-Type", type));

        assertThat(reply.status()).isEqualTo(415);
        assertThat(reply.problem()).isEqualTo("media-type");
    }

    /**
     * The type alone is no reason for a rejection, and unauthenticated callers get no
     * details.
     */
    @ParameterizedTest
    @CsvSource({ "*/*", "multipart/form-data", "rubbish" })
    void theContentTypeIsIgnoredWithoutABody(String type) {
        Reply known = this.server.send("GET", ApiServer.PATH + "/queues", null,
                (request) -> request.header("Authorization", ApiServer.basic("all")).header("Content-Type", type));
        Reply unknown = this.server.send("POST", MESSAGES, "x", (request) -> request.header("Content-Type", type));

        assertThat(known.status()).isEqualTo(200);
        assertThat(unknown.status()).isEqualTo(401);
    }

    @Test
    void noResponseIsReadableByOtherSites() {
        Reply reply = this.server.send("GET", ApiServer.PATH + "/queues", null,
                (request) -> request.header("Authorization", ApiServer.basic("all"))
                    .header("Origin", "https://evil.example"));

        assertThat(reply.header("Access-Control-Allow-Origin")).isEmpty();
        assertThat(reply.header("Cross-Origin-Resource-Policy")).isEqualTo("same-origin");
        assertThat(reply.header("Set-Cookie")).isEmpty();
    }

    @Test
    void anotherSpellingOfThePathIsNotTheApi() {
        assertThat(this.server.get(ApiServer.PATH.replace("/api", "/%61pi") + "/queues").status()).isNotEqualTo(200);
    }

    /** P1: one message of the maximum depth does not lose others. */
    @Test
    void theDeepestAcceptedPayloadIsDelivered() {
        assertThat(sendDeep(400).problem()).isEqualTo("invalid");
        assertThat(sendDeep(399).status()).isEqualTo(201);

        Reply claimed = this.server.call("all", "POST", ApiServer.PATH + "/queues/deep/claims",
                "{\"waitMillis\": 20000}");

        assertThat(claimed.status()).isEqualTo(200);
        assertThat(claimed.json().path("messages").size()).isOne();
    }

    private Reply sendDeep(int depth) {
        return this.server.call("all", "POST", ApiServer.PATH + "/queues/deep/messages",
                "{\"payload\": " + "[".repeat(depth) + "]".repeat(depth) + "}");
    }

    @Test
    void getChangesNothing() {
        for (String path : List.of("/queues/security/messages/cancel", "/queues/security/messages/batch",
                "/queues/security/claims", "/queues/security/dead-letters/purge")) {
            Reply reply = this.server.get(ApiServer.PATH + path);
            assertThat(reply.status()).isEqualTo(405);
            assertThat(reply.header("Allow")).isEqualTo("POST");
        }
        assertThat(this.server.get(ApiServer.PATH + "/queues/security/pause").header("Allow")).isEqualTo("DELETE, PUT");
        assertThat(this.server.get(ApiServer.PATH + "/nothing").problem()).isEqualTo("no-route");
    }

    @Test
    void hostileContentIsTextInJson() {
        String hostile = "<script>alert(1)</script>\\u0000\\u202e";
        this.server.call("all", "PUT", ApiServer.PATH + "/queues/hostile/messages/by-id?id=1",
                "{\"payload\": \"%s\", \"headers\": {\"h\": \"%s\"}, \"delayMillis\": 60000}".formatted(hostile,
                        hostile));

        Reply found = this.server.get(ApiServer.PATH + "/queues/hostile/messages/by-id?id=1");
        assertThat(found.header("Content-Type")).isEqualTo("application/json");
        assertThat(found.header("X-Content-Type-Options")).isEqualTo("nosniff");
        assertThat(found.json().path("payload").asString()).isEqualTo("<script>alert(1)</script>\u0000\u202e");

        Reply refused = this.server.get(ApiServer.PATH + "/queues/hostile/messages/by-id?id=%3Cscript%3E%0A%E2%80%AE");
        assertThat(refused.problem()).isEqualTo("invalid");
        assertThat(refused.detail()).contains("'<script>??'").doesNotContain("\u202e");
        assertThat(this.server.get(ApiServer.PATH + "/queues/%3Cscript%3E").problem()).isEqualTo("invalid");
    }

    /** Other paths of the application are as protected as without the API. */
    @Test
    void bootsOwnChainStaysInPlace() {
        assertThat(this.server.send("GET", "/elsewhere", null, (request) -> request).status()).isEqualTo(401);
    }

}
