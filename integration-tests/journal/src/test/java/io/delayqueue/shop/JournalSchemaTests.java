package io.delayqueue.shop;

import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;

import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.DataAccessException;

import static io.delayqueue.shop.Shop.ORDERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Tests a ledger whose tables are those of another version, or whose user may not write
 * them: the application does not start, or a send is rejected and nothing is sent.
 */
@Tag("server")
class JournalSchemaTests {

    private static final Duration LATER = Duration.ofHours(1);

    private static RedisServer redis;

    @BeforeAll
    static void startRedis() {
        redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    @AfterEach
    void flush() {
        redis.commands().flushall();
    }

    private static String withTables(String... statements) {
        String url = ShopDatabase.POSTGRESQL.url();
        ShopApplication.start(redis, url).close();
        execute(url, statements);
        return url;
    }

    private static void execute(String url, String... statements) {
        try (var connection = DriverManager.getConnection(url); var statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
        catch (SQLException ex) {
            throw new IllegalStateException(ex);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = { "ALTER TABLE delayqueue_journal DROP COLUMN failures", "DROP TABLE delayqueue_dead_letter",
            "DROP TABLE delayqueue_handled", "DROP TABLE delayqueue_journal_identity",
            "ALTER TABLE delayqueue_dead_letter DROP COLUMN content" })
    void tablesOfAnEarlierVersionStopTheStart(String change) {
        String url = withTables(change);

        assertThatThrownBy(() -> ShopApplication.start(redis, url, "delayqueue.journal.jdbc.initialize-schema=never"))
            .hasStackTraceContaining("cannot be read")
            .hasStackTraceContaining("create it by the script of this version in io/delayqueue/journal");
    }

    /**
     * A rolling update changes the tables before the last process of this version ends.
     */
    @Test
    void tablesOfALaterVersionAreUsed() {
        String url = withTables("ALTER TABLE delayqueue_journal ADD COLUMN later INTEGER DEFAULT 1 NOT NULL",
                "ALTER TABLE delayqueue_dead_letter ADD COLUMN later INTEGER");

        try (ShopApplication shop = ShopApplication.start(redis, url)) {
            assertThat(shop.queue().send(ORDERS, "1").outcome()).isEqualTo(SendOutcome.SCHEDULED);
            await().untilAsserted(() -> assertThat(shop.shop().handled).containsExactly("1"));
            await().untilAsserted(() -> assertThat(shop.rows()).isZero());
        }
    }

    @Test
    void aUserWhoMayNotReadTheTablesStopsTheStart() {
        String url = withTables("CREATE ROLE reader_of_nothing LOGIN");

        assertThatThrownBy(() -> ShopApplication.start(redis, as("reader_of_nothing", url),
                "delayqueue.journal.jdbc.initialize-schema=never"))
            .hasStackTraceContaining("cannot be read")
            .hasStackTraceContaining("permission denied");
    }

    /** P1: what cannot be recorded is not sent. */
    @Test
    void aSendThatCannotBeRecordedIsRejectedAndNothingIsSent() {
        String url = withTables("CREATE ROLE reader LOGIN",
                "GRANT SELECT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO reader",
                "GRANT INSERT ON delayqueue_journal_identity, delayqueue_history TO reader");

        try (ShopApplication shop = ShopApplication.start(redis, as("reader", url),
                "delayqueue.journal.jdbc.initialize-schema=never")) {
            assertThatThrownBy(() -> shop.queue().send(ORDERS, "1", "content", LATER))
                .hasRootCauseMessage("ERROR: permission denied for table delayqueue_journal")
                .isInstanceOf(DataAccessException.class);
            assertThat(shop.queue().find(ORDERS, "1")).isEmpty();
        }
    }

    private static String as(String user, String url) {
        return url.replaceFirst("user=[^&]*", "user=" + user);
    }

}
