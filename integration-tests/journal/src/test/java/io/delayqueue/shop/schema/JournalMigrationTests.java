package io.delayqueue.shop.schema;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.ShopApplication;
import io.delayqueue.shop.ShopDatabase;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.jdbc.BadSqlGrammarException;

import static io.delayqueue.shop.schema.JournalInitializationTests.assertHandles;
import static io.delayqueue.shop.schema.JournalInitializationTests.rows;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Tests applications in which Flyway or Liquibase creates the tables of the journal, from
 * copies of the scripts, as docs/configuration.md describes.
 */
@Tag("server")
class JournalMigrationTests {

    private static final Path DOCS = Path.of("../../docs/configuration.md");

    private static final Pattern CHANGE_SET = Pattern.compile("```yaml\n(databaseChangeLog:.*?)```", Pattern.DOTALL);

    private static final String NEVER = "delayqueue.journal.jdbc.initialize-schema=never";

    private static final String FLYWAY = "spring.flyway.enabled=true";

    private static final String LIQUIBASE = "spring.liquibase.enabled=true";

    /** The resources of the application. */
    @TempDir
    private Path resources;

    private RedisServer redis;

    @BeforeEach
    void startRedis() {
        this.redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterEach
    void stopRedis() {
        this.redis.close();
    }

    private void copyScript(ShopDatabase database, String copy, String prefix) throws IOException {
        String name = "/io/delayqueue/journal/schema-%s.sql".formatted(database.name().toLowerCase(Locale.ROOT));
        try (InputStream script = Objects.requireNonNull(ShopApplication.class.getResourceAsStream(name))) {
            write(copy, new String(script.readAllBytes()).replace("delayqueue_", prefix));
        }
    }

    private void write(String file, String text) throws IOException {
        Path path = this.resources.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    /** Starts an application with these resources. */
    private ShopApplication start(Supplier<ShopApplication> application) throws IOException {
        Thread thread = Thread.currentThread();
        ClassLoader parent = thread.getContextClassLoader();
        try (URLClassLoader loader = new URLClassLoader(new URL[] { this.resources.toUri().toURL() }, parent)) {
            thread.setContextClassLoader(loader);
            return application.get();
        }
        finally {
            thread.setContextClassLoader(parent);
        }
    }

    @EachDatabase
    void flywayCreatesTheTablesFromACopyOfTheScript(ShopDatabase database) throws IOException {
        String url = database.url();
        copyScript(database, "db/migration/V2__delayqueue_journal.sql", "delayqueue_");

        try (ShopApplication shop = start(() -> ShopApplication.start(this.redis, url, NEVER, FLYWAY))) {
            assertHandles(shop);
            await().untilAsserted(() -> assertThat(shop.rows()).isZero());
            await().untilAsserted(() -> assertThat(rows(shop, "delayqueue_history")).isEqualTo(3));
        }
        try (ShopApplication shop = start(() -> ShopApplication.start(this.redis, url, NEVER, FLYWAY))) {
            assertThat(shop.context().getBean(Flyway.class).info().applied()).hasSize(1);
            assertHandles(shop);
        }
    }

    @EachDatabase
    void liquibaseCreatesTheTablesFromACopyOfTheScript(ShopDatabase database) throws IOException {
        String url = database.url();
        copyScript(database, "db/changelog/delayqueue-journal.sql", "delayqueue_");
        Matcher documented = CHANGE_SET.matcher(Files.readString(DOCS));
        assertThat(documented.find()).as("%s has the change set", DOCS).isTrue();
        write("db/changelog/db.changelog-master.yaml", documented.group(1));

        try (ShopApplication shop = start(() -> ShopApplication.start(this.redis, url, NEVER, LIQUIBASE))) {
            assertHandles(shop);
            await().untilAsserted(() -> assertThat(shop.rows()).isZero());
            await().untilAsserted(() -> assertThat(rows(shop, "delayqueue_history")).isEqualTo(3));
        }
        try (ShopApplication shop = start(() -> ShopApplication.start(this.redis, url, NEVER, LIQUIBASE))) {
            assertThat(rows(shop, "DATABASECHANGELOG WHERE EXECTYPE = 'EXECUTED'")).isOne();
            assertHandles(shop);
        }
    }

    /** An application in production runs its tests with H2, and the same migrations. */
    @Test
    void theScriptOfAnEmbeddedDatabaseFollowsTheMigration() throws IOException {
        copyScript(ShopDatabase.H2, "db/migration/V1__delayqueue_journal.sql", "delayqueue_");

        try (ShopApplication shop = start(
                () -> ShopApplication.startWithDefaultSchema(this.redis, ShopDatabase.H2.url(), FLYWAY))) {
            assertHandles(shop);
        }
    }

    @Test
    void aCopyHasThePrefixOfTheApplication() throws IOException {
        copyScript(ShopDatabase.H2, "db/migration/V1__delayqueue_journal.sql", "shop_timer_");

        try (ShopApplication shop = start(() -> ShopApplication.start(this.redis, ShopDatabase.H2.url(), NEVER, FLYWAY,
                "delayqueue.journal.jdbc.table-prefix=shop_timer_"))) {
            assertHandles(shop);
            await().untilAsserted(() -> assertThat(rows(shop, "shop_timer_history")).isEqualTo(3));
            assertThatThrownBy(shop::rows).isInstanceOf(BadSqlGrammarException.class);
        }
    }

    /** The owner of the tables migrates them; the application's user may change rows. */
    @Test
    void theUserOfTheApplicationNeedsNoRightToCreateTables() throws IOException, SQLException {
        String owner = ShopDatabase.POSTGRESQL.url();
        try (var connection = DriverManager.getConnection(owner); var statement = connection.createStatement()) {
            statement.execute("CREATE ROLE clerk LOGIN");
            statement.execute("ALTER DEFAULT PRIVILEGES GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO clerk");
        }
        String clerk = owner.replaceFirst("user=[^&]*", "user=clerk");
        copyScript(ShopDatabase.POSTGRESQL, "db/migration/V1__delayqueue_journal.sql", "delayqueue_");

        try (ShopApplication shop = start(() -> ShopApplication.start(this.redis, clerk, NEVER, FLYWAY,
                "spring.flyway.url=" + owner, "spring.flyway.user=postgres"))) {
            assertThatThrownBy(() -> shop.jdbc().sql("CREATE TABLE clerks (id INTEGER)").update())
                .hasStackTraceContaining("permission denied for schema public");
            assertHandles(shop);
            await().untilAsserted(() -> assertThat(shop.rows()).isZero());
        }
    }

}
