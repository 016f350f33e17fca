package io.delayqueue.web.dashboard;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import io.delayqueue.web.consume.ApiServer;
import io.delayqueue.web.consume.ApiServer.Reply;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.AuthorityMatrixTests;
import io.delayqueue.web.http.AuthorityMatrixTests.Row;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/** Requests each route of the dashboard with each authority, and unauthenticated. */
@Tag("server")
class DashboardMatrixTests {

    /** Routes that the API does not have. */
    private static final List<Row> OWN = List.of(new Row("GET", "", null, "view"), new Row("GET", "/", null, "view"),
            new Row("GET", "/main.js", null, "view"), new Row("GET", "/data/overview", null, "view"),
            new Row("POST", "/data/queues/q/dead-letters/search", "{\"filter\": {}}", "view"),
            new Row("GET", "/data/store", null, "view"), new Row("GET", "/data/next-hour", null, "view"),
            new Row("GET", "/data/schedules", null, "view"));

    private static ApiServer server;

    @BeforeAll
    static void start() {
        server = ApiServer.start("delayqueue.web.dashboard.enabled=true");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    static Stream<Arguments> cells() {
        List<@Nullable String> users = Stream
            .concat(Arrays.stream(Authority.values()).map((authority) -> authority.name().toLowerCase(Locale.ROOT)),
                    Stream.of(ApiServer.NONE, null))
            .toList();
        Stream<Row> shared = AuthorityMatrixTests.TABLE.stream()
            .filter((row) -> List.of("view", "operate", "diagnose").contains(row.authority()))
            .map((row) -> new Row(row.method(), "/data" + row.path(), row.body(), row.authority()));
        return Stream.concat(shared, OWN.stream()).flatMap((row) -> users.stream().map((user) -> arguments(row, user)));
    }

    @ParameterizedTest
    @MethodSource("cells")
    void permitsOnlyTheAuthorityOfTheRoute(Row row, @Nullable String user) {
        int before = server.audited().size();

        Reply reply = server.call(user, row.method(), "/delayqueue" + row.path(), row.body());

        if (user == null) {
            assertThat(reply.status()).isEqualTo(401);
        }
        else if (!user.equals(row.authority())) {
            assertThat(reply.status()).isEqualTo(403);
            assertThat(server.audited()).hasSize(before);
        }
        else {
            assertThat(reply.status()).isNotIn(400, 401, 403, 405, 415, 500, 503);
        }
    }

}
