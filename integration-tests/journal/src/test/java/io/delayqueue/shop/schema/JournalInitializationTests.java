package io.delayqueue.shop.schema;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Objects;

import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.ShopApplication;
import io.delayqueue.shop.ShopDatabase;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static io.delayqueue.shop.Shop.ORDERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Tests when an application creates the tables of the journal, and with which script: by
 * {@code delayqueue.journal.jdbc.initialize-schema}, {@code schema} and {@code platform}.
 */
@Tag("server")
class JournalInitializationTests {

    private RedisServer redis;

    @TempDir
    private Path scripts;

    @BeforeEach
    void startRedis() {
        this.redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterEach
    void stopRedis() {
        this.redis.close();
    }

    /**
     * Writes a script of the application, which creates one table more.
     * @return the setting of its location
     */
    private String writeScript(ShopDatabase database, String platform) throws IOException {
        String name = "/io/delayqueue/journal/schema-%s.sql".formatted(database.name().toLowerCase(Locale.ROOT));
        try (InputStream script = Objects.requireNonNull(ShopApplication.class.getResourceAsStream(name))) {
            Files.writeString(this.scripts.resolve("shop-%s.sql".formatted(platform)),
                    new String(script.readAllBytes()) + "\nCREATE TABLE delayqueue_of_shop (id INTEGER);");
        }
        return "delayqueue.journal.jdbc.schema=" + this.scripts.toUri() + "shop-@@platform@@.sql";
    }

    static void assertHandles(ShopApplication shop) {
        shop.queue().send(ORDERS, "1");
        await().untilAsserted(() -> assertThat(shop.shop().handled).containsExactly("1"));
    }

    static long rows(ShopApplication shop, String table) {
        return shop.jdbc().sql("SELECT COUNT(*) FROM " + table).query(Long.class).single();
    }

    @Test
    void anEmbeddedDatabaseHasTheTablesByDefault() {
        try (ShopApplication shop = ShopApplication.startWithDefaultSchema(this.redis, ShopDatabase.H2.url())) {
            assertHandles(shop);
        }
    }

    /** The user of a database in production decides on its tables. */
    @Test
    void nothingIsCreatedOnAServerByDefaultAndTheStartNamesTheSetting() throws SQLException {
        String url = ShopDatabase.POSTGRESQL.url();

        assertThatThrownBy(() -> ShopApplication.startWithDefaultSchema(this.redis, url))
            .hasStackTraceContaining("cannot be used, which a queue with delayqueue.journal.mode")
            .hasStackTraceContaining("create it by the script of this version in io/delayqueue/journal, or set "
                    + "delayqueue.journal.jdbc.initialize-schema to 'always'");

        try (var connection = DriverManager.getConnection(url);
                var tables = connection.getMetaData().getTables(null, "public", null, null)) {
            assertThat(tables.next()).isFalse();
        }
    }

    @EachDatabase
    void aScriptOfTheApplicationCreatesTheTablesOfItsDatabase(ShopDatabase database) throws IOException {
        String schema = writeScript(database, database.name().toLowerCase(Locale.ROOT));

        try (ShopApplication shop = ShopApplication.start(this.redis, database.url(), schema)) {
            assertThat(rows(shop, "delayqueue_of_shop")).isZero();
            assertHandles(shop);
        }
    }

    /** A script of the application may have other names than the database. */
    @Test
    void thePlatformNamesTheScript() throws IOException {
        String schema = writeScript(ShopDatabase.H2, "tests");

        try (ShopApplication shop = ShopApplication.startWithDefaultSchema(this.redis, ShopDatabase.H2.url(), schema,
                "delayqueue.journal.jdbc.platform=tests", "delayqueue.journal.jdbc.table-prefix=timer_")) {
            assertThat(rows(shop, "timer_of_shop")).isZero();
            assertHandles(shop);
        }
    }

    /** The script of MySQL is the nearest to a server with its protocol. */
    @Test
    @Tag("matrix")
    void thePlatformSelectsAmongTheScriptsOfTheLibrary() {
        try (ShopApplication shop = ShopApplication.start(this.redis, ShopDatabase.MARIADB.url(),
                "delayqueue.journal.jdbc.platform=mysql")) {
            assertHandles(shop);
        }
        assertThatThrownBy(() -> ShopApplication.start(this.redis, ShopDatabase.MARIADB.url(),
                "delayqueue.journal.jdbc.platform=postgresql"))
            .hasStackTraceContaining("schema-postgresql.sql");
    }

    /** The log of a start that goes on would name missing tables, and not the cause. */
    @Test
    void aScriptThatFailsStopsTheStartWithItsCause() throws SQLException {
        String url = ShopDatabase.POSTGRESQL.url();
        try (var connection = DriverManager.getConnection(url); var statement = connection.createStatement()) {
            statement.execute("CREATE ROLE creator_of_nothing LOGIN");
        }

        assertThatThrownBy(
                () -> ShopApplication.start(this.redis, url.replaceFirst("user=[^&]*", "user=creator_of_nothing")))
            .hasStackTraceContaining("schema-postgresql.sql")
            .hasStackTraceContaining("permission denied for schema public");
    }

    @Test
    void aScriptThatIsMissingStopsTheStart() {
        assertThatThrownBy(() -> ShopApplication.start(this.redis, ShopDatabase.H2.url(),
                "delayqueue.journal.jdbc.schema=classpath:shop-@@platform@@.sql"))
            .hasStackTraceContaining("No schema scripts found at location 'classpath:shop-h2.sql'");
    }

}
