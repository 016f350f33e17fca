package io.delayqueue.journal;

import java.util.List;

import io.delayqueue.shop.ShopDatabase;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests the check of each table at the start: it names the table and the right or the
 * column that is missing.
 */
@Tag("server")
class JournalTableCheckTests {

    private static final String USER = "user_of_checks";

    private static JdbcClient owner;

    private static JournalDatabase database;

    private @Nullable JournalTableCheck replaced;

    @BeforeAll
    static void createTables() {
        String url = ShopDatabase.POSTGRESQL.url();
        SingleConnectionDataSource dataSource = new SingleConnectionDataSource(url, true);
        new ResourceDatabasePopulator(new ClassPathResource("io/delayqueue/journal/schema-postgresql.sql"))
            .execute(dataSource);
        owner = JdbcClient.create(dataSource);
        owner.sql("CREATE ROLE " + USER + " LOGIN").update();
        database = new JournalDatabase(
                new SingleConnectionDataSource(url.replaceFirst("user=[^&]*", "user=" + USER), true), "dq");
    }

    @AfterEach
    void restoreAndRevoke() {
        restore();
        owner.sql("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM " + USER).update();
    }

    private static void grant(JournalTableCheck check, String rights) {
        owner.sql("GRANT %s ON %s TO %s".formatted(rights, check.table(), USER)).update();
    }

    private static void require(JournalTableCheck check) {
        database.requireTable(check, "'ledger'");
    }

    @ParameterizedTest
    @EnumSource
    void eachRightThatIsMissingIsNamedAndThoseNamedAreEnough(JournalTableCheck check) {
        List<String> rights = List.of(check.rights().split(", "));
        grant(check, check.rights());

        for (String right : rights) {
            owner.sql("REVOKE %s ON %s FROM %s".formatted(right, check.table(), USER)).update();
            assertThatThrownBy(() -> require(check)).as(right)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("The table %s cannot be used", check.table())
                .hasMessageContaining("needs the rights to " + check.rights())
                .hasRootCauseMessage("ERROR: permission denied for table " + check.table());
            grant(check, right);
        }
        assertThatCode(() -> require(check)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @EnumSource
    void eachColumnThatAnEarlierVersionDoesNotHaveIsNamed(JournalTableCheck check) {
        List<String> columns = owner
            .sql("SELECT column_name FROM information_schema.columns WHERE table_name = ? AND is_identity = 'NO'")
            .param(check.table())
            .query(String.class)
            .list();
        assertThat(columns).hasSizeGreaterThan(3);

        for (String column : columns) {
            replace(check, "DROP COLUMN " + column);
            assertThatThrownBy(() -> require(check)).as(column)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("The table %s cannot be used", check.table())
                .hasMessageContaining("create it by the script of this version in io/delayqueue/journal")
                .hasStackTraceContaining("column \"%s\"".formatted(column));
            restore();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aColumnOfALaterVersionIsAcceptedUnlessItMustBeWritten(JournalTableCheck check) {
        replace(check, "ADD COLUMN optional INTEGER, ADD COLUMN preset INTEGER DEFAULT 1 NOT NULL");
        assertThatCode(() -> require(check)).doesNotThrowAnyException();
        owner.sql("ALTER TABLE %s ADD COLUMN required INTEGER NOT NULL".formatted(check.table())).update();

        assertThatThrownBy(() -> require(check)).isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("The table %s cannot be used", check.table())
            .hasMessageContaining("this version does not write its columns [required]");
    }

    /** Replaces a table by a copy with a change, until it is restored. */
    private void replace(JournalTableCheck check, String change) {
        String table = check.table();
        owner.sql("ALTER TABLE %s RENAME TO original".formatted(table)).update();
        this.replaced = check;
        owner.sql("CREATE TABLE %s (LIKE original INCLUDING ALL)".formatted(table)).update();
        owner.sql("ALTER TABLE %s %s".formatted(table, change)).update();
        grant(check, "SELECT, INSERT, UPDATE, DELETE");
    }

    private void restore() {
        JournalTableCheck check = this.replaced;
        if (check != null) {
            owner.sql("DROP TABLE " + check.table()).update();
            owner.sql("ALTER TABLE original RENAME TO " + check.table()).update();
            this.replaced = null;
        }
    }

}
