package io.delayqueue.shop.schema;

import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;
import java.util.stream.Stream;

import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.journal.RestorePlan;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.ShopApplication;
import io.delayqueue.shop.ShopDatabase;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

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
        new ResourceDatabasePopulator(new ClassPathResource("io/delayqueue/journal/schema-postgresql.sql"))
            .execute(new DriverManagerDataSource(url));
        execute(url, statements);
        return url;
    }

    private static void execute(String url, String... statements) {
        try (var connection = DriverManager.getConnection(url + (url.startsWith("jdbc:h2") ? ";USER=sa" : ""));
                var statement = connection.createStatement()) {
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
            "DROP TABLE delayqueue_handled", "DROP TABLE delayqueue_ended", "DROP TABLE delayqueue_journal_identity",
            "ALTER TABLE delayqueue_dead_letter DROP COLUMN content", "DROP TABLE delayqueue_history",
            "ALTER TABLE delayqueue_history DROP COLUMN detail" })
    void tablesOfAnEarlierVersionStopTheStart(String change) {
        String url = withTables(change);

        assertThatThrownBy(() -> ShopApplication.start(redis, url, "delayqueue.journal.jdbc.initialize-schema=never"))
            .hasStackTraceContaining("cannot be used")
            .hasStackTraceContaining("create it by the script of this version in io/delayqueue/journal");
    }

    /**
     * A rolling update changes the tables before the last process of this version ends.
     */
    @EachDatabase
    void tablesOfALaterVersionAreUsed(ShopDatabase database) {
        String url = database.url();
        ShopApplication.start(redis, url).close();
        execute(url,
                Stream.of("journal", "journal_identity", "dead_letter", "handled", "ended", "history")
                    .map("ALTER TABLE delayqueue_%s ADD COLUMN later INTEGER DEFAULT 1 NOT NULL"::formatted)
                    .toArray(String[]::new));

        try (ShopApplication shop = ShopApplication.start(redis, url,
                "delayqueue.journal.jdbc.initialize-schema=never")) {
            assertThat(shop.queue().send(ORDERS, "1").outcome()).isEqualTo(SendOutcome.SCHEDULED);
            await().untilAsserted(() -> assertThat(shop.shop().handled).containsExactly("1"));
            await().untilAsserted(() -> assertThat(shop.rows()).isZero());
            await().untilAsserted(() -> assertThat(rows(shop, "delayqueue_history")).isEqualTo(3));
            assertThat(rows(shop, "delayqueue_ended")).isPositive();
        }
    }

    /** Each row that this version inserts would be rejected. */
    @EachDatabase
    void aColumnOfALaterVersionThatMustBeWrittenStopsTheStart(ShopDatabase database) {
        String url = database.url();
        ShopApplication.start(redis, url).close();
        execute(url, "ALTER TABLE delayqueue_history ADD COLUMN later INTEGER NOT NULL");

        assertThatThrownBy(() -> ShopApplication.start(redis, url, "delayqueue.journal.jdbc.initialize-schema=never"))
            .hasStackTraceContaining("The table delayqueue_history cannot be used")
            .hasStackTraceContaining("this version does not write its columns [later]");
    }

    @Test
    void aUserWhoMayNotReadTheTablesStopsTheStart() {
        String url = withTables("CREATE ROLE reader_of_nothing LOGIN");

        assertThatThrownBy(() -> ShopApplication.start(redis, as("reader_of_nothing", url),
                "delayqueue.journal.jdbc.initialize-schema=never"))
            .hasStackTraceContaining("cannot be used")
            .hasStackTraceContaining("permission denied");
    }

    /**
     * Without the right to delete rows, messages would be handled again and again.
     */
    @ParameterizedTest
    @ValueSource(strings = { "INSERT", "UPDATE", "DELETE" })
    void aUserWithoutAllRightsStopsTheStart(String missing) {
        String user = "without_" + missing.toLowerCase(Locale.ROOT);
        String url = withTables("CREATE ROLE " + user + " LOGIN",
                "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO " + user,
                "REVOKE " + missing + " ON delayqueue_journal FROM " + user);

        assertThatThrownBy(
                () -> ShopApplication.start(redis, as(user, url), "delayqueue.journal.jdbc.initialize-schema=never"))
            .hasStackTraceContaining("The table delayqueue_journal cannot be used")
            .hasStackTraceContaining("needs the rights to SELECT, INSERT, UPDATE, DELETE")
            .hasStackTraceContaining("permission denied for table delayqueue_journal");
    }

    /** P1: what cannot be recorded is not sent. */
    @Test
    void aSendThatCannotBeRecordedIsRejectedAndNothingIsSent() {
        String url = withTables();

        try (ShopApplication shop = ShopApplication.start(redis, url)) {
            execute(url, "ALTER TABLE delayqueue_journal ADD CONSTRAINT closed CHECK (message_id <> '1')");
            assertThatThrownBy(() -> shop.queue().send(ORDERS, "1", "content", LATER))
                .isInstanceOf(DataAccessException.class);
            assertThat(shop.queue().find(ORDERS, "1")).isEmpty();
        }
    }

    /** The script, the checks and all statements name the tables of the application. */
    @EachDatabase
    void theTablesHaveThePrefixOfTheApplication(ShopDatabase database) {
        try (ShopApplication shop = ShopApplication.start(redis, database.url(),
                "delayqueue.journal.jdbc.table-prefix=shop_timer_")) {
            shop.queue().send(ORDERS, "1");
            shop.queue().send(ORDERS, "2", "content", LATER);
            await().untilAsserted(() -> assertThat(shop.shop().handled).containsExactly("1"));
            await().untilAsserted(() -> assertThat(rows(shop, "shop_timer_journal")).isOne());
            await().untilAsserted(() -> assertThat(rows(shop, "shop_timer_history")).isGreaterThan(2));
            assertThat(rows(shop, "shop_timer_ended")).isPositive();
            redis.commands().flushall();
            shop.journal().restore(RestorePlan.all());
            assertThat(shop.queue().find(ORDERS, "2")).isPresent();

            assertThatThrownBy(shop::rows).isInstanceOf(BadSqlGrammarException.class);
        }
    }

    private static long rows(ShopApplication shop, String table) {
        return shop.jdbc().sql("SELECT COUNT(*) FROM " + table).query(Long.class).single();
    }

    @Test
    void aPrefixThatIsNoNameStopsTheStart() {
        assertThatThrownBy(() -> ShopApplication.start(redis, ShopDatabase.H2.url(),
                "delayqueue.journal.jdbc.table-prefix=shop; DROP TABLE orders"))
            .hasStackTraceContaining("delayqueue.journal.jdbc.table-prefix must be a lower-case letter")
            .hasStackTraceContaining("but was 'shop; DROP TABLE orders'");
    }

    private static String as(String user, String url) {
        return url.replaceFirst("user=[^&]*", "user=" + user);
    }

}
