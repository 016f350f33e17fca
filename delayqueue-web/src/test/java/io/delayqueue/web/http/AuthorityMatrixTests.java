package io.delayqueue.web.http;

import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.QueueName;
import io.delayqueue.store.Lease;
import io.delayqueue.store.Partition;
import io.delayqueue.web.ApiDescription;
import io.delayqueue.web.consume.ApiServer;
import io.delayqueue.web.consume.ApiServer.Reply;
import io.delayqueue.web.consume.HttpConsumerServices;
import io.delayqueue.web.consume.LeaseToken;
import io.delayqueue.web.consume.TokenForger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/** Requests each route with each authority, with none, and unauthenticated. */
@Tag("server")
public class AuthorityMatrixTests {

    private static final String TOKEN = "\"id\": \"1\", \"token\": \"TOKEN\"";

    private static final String BEFORE = "{\"filter\": {\"deadLetteredBefore\": \"2026-01-01T00:00:00Z\"}}";

    /** Method, path below the API, body, and the one authority that permits it. */
    public static final List<Row> TABLE = List.of( //
            new Row("GET", "/nodes", null, "view"), //
            new Row("GET", "/nodes/n", null, "view"), //
            new Row("PUT", "/nodes/n/overrides", "{\"listener\": \"l\", \"queue\": \"q\", \"paused\": true}",
                    "operate"), //
            new Row("DELETE", "/nodes/n/overrides?listener=l&queue=q", null, "operate"), //
            new Row("POST", "/nodes/n/stacks", null, "diagnose"), //
            new Row("GET", "/nodes/n/stacks", null, "diagnose"), //
            new Row("DELETE", "/queues/q-forgotten", null, "operate"), //
            new Row("POST", "/queues/q/messages/cancel", "{\"ids\": [\"1\"]}", "operate"), //
            new Row("POST", "/queues/q/messages/reschedule", "{\"ids\": [\"1\"], \"delayMillis\": 0}", "operate"), //
            new Row("GET", "/queues", null, "view"), //
            new Row("GET", "/queues/q", null, "view"), //
            new Row("GET", "/queues/q/due-counts", null, "view"), //
            new Row("GET", "/queues/q/messages", null, "view"), //
            new Row("POST", "/queues/q/dead-letters/count", BEFORE, "view"), //
            new Row("POST", "/queues/q/dead-letters/redrive", BEFORE, "operate"), //
            new Row("POST", "/queues/q/dead-letters/purge", BEFORE, "operate"), //
            new Row("PUT", "/queues/q-paused/pause", "{}", "operate"), //
            new Row("DELETE", "/queues/q-paused/pause", null, "operate"), //
            new Row("GET", "/queues/q/schedules", null, "view"), //
            new Row("GET", "/queues/q/schedules/by-name?name=n", null, "view"), //
            new Row("PUT", "/queues/q/schedules/by-name?name=n", "{\"cron\": \"-\"}", "send"), //
            new Row("DELETE", "/queues/q/schedules/by-name?name=n", null, "operate"), //
            new Row("PUT", "/queues/q/schedules/by-name/pause?name=n", null, "operate"), //
            new Row("DELETE", "/queues/q/schedules/by-name/pause?name=n", null, "operate"), //
            new Row("POST", "/queues/q/schedules/by-name/trigger?name=n", null, "operate"), //
            new Row("POST", "/queues/q/restore", "{}", "operate"), //
            new Row("POST", "/queues/q/messages", "{\"payload\": 1}", "send"), //
            new Row("POST", "/queues/q/messages/batch", "{\"messages\": [{\"payload\": 1}]}", "send"), //
            new Row("PUT", "/queues/q/messages/by-id?id=1", "{\"payload\": 1}", "send"), //
            new Row("GET", "/queues/q/messages/by-id?id=1", null, "view"), //
            new Row("DELETE", "/queues/q/messages/by-id?id=1", null, "operate"), //
            new Row("GET", "/queues/q/messages/by-id/history?id=1", null, "view"), //
            new Row("DELETE", "/queues/q/messages/by-id/history?id=1", null, "operate"), //
            new Row("PATCH", "/queues/q/messages/by-id?id=1", "{\"delayMillis\": 0}", "operate"), //
            new Row("POST", "/queues/other/claims", "{}", "consume"), //
            new Row("POST", "/queues/q/leases/acknowledge", "{" + TOKEN + "}", "consume"), //
            new Row("POST", "/queues/q/leases/acknowledge/batch", "{\"leases\": [{" + TOKEN + "}]}", "consume"), //
            new Row("POST", "/queues/q/leases/extend", "{" + TOKEN + "}", "consume"), //
            new Row("POST", "/queues/q/leases/retry", "{" + TOKEN + ", \"failure\": \"f\"}", "consume"), //
            new Row("POST", "/queues/q/leases/release", "{" + TOKEN + "}", "consume"), //
            new Row("POST", "/queues/q/leases/dead-letter", "{" + TOKEN + ", \"reason\": \"r\"}", "consume"), //
            new Row("GET", "/queues/q/dead-letters", null, "view"), //
            new Row("GET", "/queues/q/dead-letters/causes", null, "view"), //
            new Row("GET", "/queues/q/due-histogram", null, "view"), //
            new Row("GET", "/queues/q/activity", null, "view"), //
            new Row("GET", "/activity", null, "view"), //
            new Row("GET", "/queues/q/retrying", null, "view"), //
            new Row("GET", "/queues/q/scan?selection=RETRYING&idPrefix=1", null, "view"), //
            new Row("GET", "/search?id=1", null, "view"), //
            new Row("GET", "/queues/q/dead-letters/by-id?deadLetterId=1~1", null, "view"), //
            new Row("POST", "/queues/q/dead-letters/by-id/redrive?deadLetterId=1~1", "{}", "operate"), //
            new Row("DELETE", "/queues/q/dead-letters/by-id?deadLetterId=1~1", null, "operate"));

    static Stream<Arguments> cells() {
        List<@Nullable String> users = Stream
            .concat(Arrays.stream(Authority.values()).map((authority) -> authority.name().toLowerCase(Locale.ROOT)),
                    Stream.of(ApiServer.NONE, "unauthenticated"))
            .toList();
        return TABLE.stream().flatMap((row) -> users.stream().map((user) -> arguments(row, user)));
    }

    @ParameterizedTest
    @MethodSource("cells")
    void permitsOnlyTheAuthorityOfTheRoute(Row row, String user) {
        int before = ApiServer.shared().audited().size();

        String body = row.body();
        Reply reply = ApiServer.shared()
            .call(user.equals("unauthenticated") ? null : user, row.method(), ApiServer.PATH + row.path(),
                    (body != null) ? body.replace("TOKEN", token()) : null);

        if (user.equals("unauthenticated")) {
            assertThat(reply.status()).isEqualTo(401);
            assertThat(reply.problem()).isEqualTo("unauthenticated");
        }
        else if (!user.equals(row.authority())) {
            assertThat(reply.status()).isEqualTo(403);
            assertThat(reply.problem()).isEqualTo("forbidden");
            assertThat(reply.detail())
                .isEqualTo("The caller needs the authority DELAYQUEUE_" + row.authority().toUpperCase(Locale.ROOT));
            assertThat(ApiServer.shared().audited()).hasSize(before);
        }
        else {
            assertThat(reply.status()).isNotIn(400, 401, 403, 405, 415, 500, 503);
        }
    }

    /** Returns the token of a lease that never existed. */
    private static String token() {
        LeaseToken token = new LeaseToken(new Lease(Partition.first(new QueueName("q")), "1", "1"), 0, Instant.EPOCH);
        return TokenForger.sealed(ApiServer.shared().bean(HttpConsumerServices.class).tokens(), token);
    }

    @Test
    void hasARowForEachRoute() {
        Set<String> rows = TABLE.stream()
            .map((row) -> row.method() + " "
                    + row.path()
                        .replaceAll("/queues/[^/?]+", "/queues/{queue}")
                        .replaceAll("/nodes/[^/?]+", "/nodes/{node}")
                        .replaceAll("\\?.*", ""))
            .collect(Collectors.toSet());
        rows.add("GET /openapi.json");

        assertThat(new ApiDescription().operations()).containsExactlyInAnyOrderElementsOf(rows);
    }

    @Test
    void servesTheDescriptionToCallersWithAnyAuthority() {
        assertThat(ApiServer.shared().call("send", "GET", ApiServer.PATH + "/openapi.json", null).status())
            .isEqualTo(200);
        assertThat(ApiServer.shared().call(ApiServer.NONE, "GET", ApiServer.PATH + "/openapi.json", null).status())
            .isEqualTo(403);
        assertThat(ApiServer.shared().call(null, "GET", ApiServer.PATH + "/openapi.json", null).status())
            .isEqualTo(401);
    }

    /** Payloads need their own authority; a viewer sees the rest. */
    @Test
    void masksPayloadsForCallersWithoutTheAuthority() {
        ApiServer server = ApiServer.shared();
        server.call("send", "PUT", ApiServer.PATH + "/queues/masked/messages/by-id?id=1",
                "{\"payload\": \"secret payload\", \"headers\": {\"h\": \"secret header\"}, \"delayMillis\": 60000}");

        Reply masked = server.call("view", "GET", ApiServer.PATH + "/queues/masked/messages/by-id?id=1", null);
        Reply open = server.get(ApiServer.PATH + "/queues/masked/messages/by-id?id=1");

        assertThat(masked.body()).doesNotContain("secret").contains("\"masked\":true");
        assertThat(open.body()).contains("secret payload", "secret header", "\"masked\":false");
        assertThat(server.call("payload", "GET", ApiServer.PATH + "/queues/masked/messages/by-id?id=1", null).status())
            .isEqualTo(403);
    }

    /**
     * Holds a row of the table.
     *
     * @param method the method
     * @param path below that of the API
     * @param body the body; {@code null} for none
     * @param authority the required authority, which is also the name of the user
     */
    public record Row(String method, String path, @Nullable String body, String authority) {

        @Override
        public String toString() {
            return this.method + " " + this.path;
        }

    }

}
