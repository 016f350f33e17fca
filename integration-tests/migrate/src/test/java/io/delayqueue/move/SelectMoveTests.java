package io.delayqueue.move;

import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.delayqueue.fixtures.Variants;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Moves rows of a table that an application polls. */
@Tag("server")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class SelectMoveTests {

    private static final long DUE = 1_900_000_000_123L;

    private static final String UPDATE = "--source-option=update=UPDATE jobs SET state = 9 WHERE id = ? AND state = 0";

    @TempDir
    private Path directory;

    private RedisServer redis;

    private String url;

    static Stream<SourceDatabase> databases() {
        return Variants.of(List.of(SourceDatabase.POSTGRESQL, SourceDatabase.H2, SourceDatabase.MARIADB));
    }

    /** MariaDB has no timestamps with a zone. */
    static Stream<SourceDatabase> databasesWithZones() {
        return Variants.of(List.of(SourceDatabase.POSTGRESQL, SourceDatabase.H2));
    }

    @BeforeEach
    void startRedis() {
        this.redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterEach
    void stopRedis() {
        this.redis.close();
    }

    @ParameterizedTest
    @MethodSource("databases")
    void rowsAreTakenByTheUsersUpdate(SourceDatabase database) {
        Scene scene = create(database);

        scene.run("follow", UPDATE, "--until-idle=1s", "--batch=7");
        database.update(this.url, "INSERT INTO jobs VALUES (1000, %d, '{\"number\":1000}', 0)".formatted(DUE));
        scene.run("copy", UPDATE);

        assertThat(this.redis.commands().zcard("shop:{orders}:scheduled")).isEqualTo(51);
        assertThat(this.redis.commands().zscore("shop:{orders}:scheduled", "49")).isEqualTo(DUE + 49);
        assertThat(this.redis.commands().hget("shop:{orders}:messages", "1000")).contains("{\"number\":1000}");
        assertThat(database.query(this.url, "SELECT state, COUNT(*) FROM jobs GROUP BY state"))
            .isEqualTo(Map.of("9", "51", "5", "1"));
        assertThat(scene.run("verify", UPDATE)).contains("51 = 51 sent");
        assertThat(scene.run("finish", UPDATE)).doesNotContain("Note");
    }

    @Test
    void rowsThatTheUpdateDoesNotChangeAreReported() {
        Scene scene = create(SourceDatabase.H2);

        assertThat(scene.run("copy", UPDATE + " AND id >= 20", "--batch=7")).contains("30 sent",
                "20 entries of queue 'orders' still wait");
        assertThat(scene.run("copy", UPDATE)).doesNotContain("still wait");
    }

    @Test
    void rowsOfASecondQueueAreNotSentToTheFirstOne() {
        create(SourceDatabase.H2).run("copy", UPDATE);
        SourceDatabase.H2.update(this.url,
                "CREATE TABLE payments (id BIGINT PRIMARY KEY, due BIGINT, payload VARCHAR(100), state INT)");
        SourceDatabase.H2.update(this.url, "INSERT INTO payments VALUES (1, %d, '{}', 0)".formatted(DUE));
        Scene payments = scene(SourceDatabase.H2, "payments", "SELECT id, due, payload FROM payments WHERE state = 0");

        payments.run("copy", UPDATE.replace("jobs", "payments"));

        assertThat(this.redis.commands().zcard("shop:{payments}:scheduled")).isOne();
        assertThat(this.redis.commands().zcard("shop:{orders}:scheduled")).isEqualTo(50);
    }

    @Test
    void aQueueThatTheSourceDoesNotHaveIsRejectedByEachStep() {
        Scene scene = create(SourceDatabase.H2);

        for (String step : List.of("plan", "copy", "follow", "verify", "finish")) {
            assertThat(scene.execute(2, step, UPDATE, "--queue=payments")).contains("--queue='payments' is not valid",
                    "--queue='orders=TARGET'");
        }

        assertThat(SourceDatabase.H2.hasTable(this.url, "delayqueue_migrate")).isFalse();
    }

    @ParameterizedTest
    @MethodSource("databases")
    void withoutAnUpdateACopyCanBeRepeatedAndNothingIsFollowed(SourceDatabase database) {
        Scene scene = create(database);

        scene.run("copy", "--batch=7");
        this.redis.commands().flushall();
        assertThat(scene.run("copy")).contains("0 waiting");

        assertThat(this.redis.commands().exists("shop:{orders}:scheduled")).isZero();
        assertThat(scene.execute(2, "follow")).contains("--source-option=update=");

        assertThat(scene.run("finish")).contains("finish deletes the only record that they were sent");
        scene.run("copy");
        assertThat(this.redis.commands().zcard("shop:{orders}:scheduled")).isEqualTo(50);
    }

    @ParameterizedTest
    @MethodSource("databases")
    void rowsWithoutADueTimeOrAnIdAreReported(SourceDatabase database) {
        this.url = database.newUrl();
        database.update(this.url, "CREATE TABLE jobs (id BIGINT, due %s, state INT)".formatted(database.localTime()));
        database.update(this.url, "INSERT INTO jobs VALUES (1, NULL, 0), (NULL, TIMESTAMP '2030-03-01 12:00:00', 0), "
                + "(3, TIMESTAMP '2030-03-01 12:00:00', 0)");
        Scene scene = scene(database, "SELECT id, due, '{}' FROM jobs WHERE state = 0");

        scene.execute(1, "plan");
        assertThat(scene.execute(1, "copy", "--dry-run")).contains("1 can be sent", "2 unreadable",
                "entry due null: row '1' has no due time", "the row has no id");
        assertThat(scene.execute(1, "verify")).contains("2 entries wait",
                "1 entries of queue 'orders' are left: without");
        assertThat(scene.execute(1, "copy", UPDATE)).contains("row '1' has no due time",
                "1 entries of queue 'orders' are unreadable");
        assertThat(scene.execute(1, "verify", UPDATE)).contains("2 = 1 sent + 0 dropped + 1 unreadable",
                "1 entries of queue 'orders' are unreadable", "1 entries of queue 'orders' are left: without an id");

        database.update(this.url,
                "UPDATE delayqueue_migrate SET due = %d, problem = NULL WHERE business_id = '1'".formatted(DUE));
        database.update(this.url, "UPDATE jobs SET id = 2 WHERE id IS NULL");
        scene.run("copy", UPDATE);
        scene.run("verify", UPDATE);
        assertThat(this.redis.commands().zrange("shop:{orders}:scheduled", 0, -1)).containsExactlyInAnyOrder("1", "2",
                "3");
    }

    @ParameterizedTest
    @MethodSource("databases")
    void timestampsAreRoundedUpToTheMillisecondOnce(SourceDatabase database) {
        long local = LocalDateTime.parse("2030-03-01T12:00:00").atZone(ZoneId.systemDefault()).toEpochSecond() * 1_000;

        moveTimes(database, database.localTime() + "(6)", "TIMESTAMP '2030-03-01 12:00:00.123456'",
                "TIMESTAMP '2030-03-01 12:00:00.123000'");
        assertThat(dueInTargetAndInRecords(database)).containsOnly(Map.of("1", local + 124, "2", local + 123));

        moveTimes(database, "NUMERIC(20, 3)", DUE + ".001", DUE + ".000");
        assertThat(dueInTargetAndInRecords(database)).containsOnly(Map.of("1", DUE + 1, "2", DUE));
    }

    @ParameterizedTest
    @MethodSource("databasesWithZones")
    void timestampsWithAZoneAreRoundedUpToTheMillisecondOnce(SourceDatabase database) {
        long utc = Instant.parse("2030-03-01T12:00:00Z").toEpochMilli();

        moveTimes(database, "TIMESTAMP(6) WITH TIME ZONE",
                "TIMESTAMP WITH TIME ZONE '2030-03-01 14:00:00.000001+02:00'",
                "TIMESTAMP WITH TIME ZONE '2030-03-01 12:00:00+00:00'");
        assertThat(dueInTargetAndInRecords(database)).containsOnly(Map.of("1", utc + 1, "2", utc));
    }

    private void moveTimes(SourceDatabase database, String type, String first, String second) {
        this.redis.commands().flushall();
        this.url = database.newUrl();
        database.update(this.url, "CREATE TABLE jobs (id BIGINT PRIMARY KEY, due %s)".formatted(type));
        database.update(this.url, "INSERT INTO jobs VALUES (1, %s), (2, %s)".formatted(first, second));
        scene(database, "SELECT id, due, '{}' FROM jobs ORDER BY id").run("copy");
    }

    /** Returns the due time of each id, as it was sent and as it is recorded. */
    private List<Map<String, Long>> dueInTargetAndInRecords(SourceDatabase database) {
        Map<String, Long> sent = new HashMap<>();
        this.redis.commands()
            .zrangeWithScores("shop:{orders}:scheduled", 0, -1)
            .forEach((message) -> sent.put(message.getValue(), (long) message.getScore()));
        Map<String, Long> recorded = new HashMap<>();
        database.query(this.url, "SELECT business_id, due FROM delayqueue_migrate")
            .forEach((id, due) -> recorded.put(id, Long.valueOf(due)));
        return List.of(sent, recorded);
    }

    private Scene create(SourceDatabase database) {
        this.url = database.newUrl();
        database.update(this.url,
                "CREATE TABLE jobs (id BIGINT PRIMARY KEY, due BIGINT, payload VARCHAR(100), state INT)");
        for (int i = 0; i < 50; i++) {
            database.update(this.url,
                    "INSERT INTO jobs VALUES (%d, %d, '{\"number\":%d}', 0)".formatted(i, DUE + i, i));
        }
        database.update(this.url, "INSERT INTO jobs VALUES (99, %d, '{}', 5)".formatted(DUE));
        return scene(database, "SELECT id, due, payload FROM jobs WHERE state = 0 ORDER BY id");
    }

    private Scene scene(SourceDatabase database, String select) {
        return scene(database, "orders", select);
    }

    private Scene scene(SourceDatabase database, String queue, String select) {
        return new Scene(this.redis, this.directory, "--source=select", "--source-url=" + this.url,
                "--source-user=" + database.user(), "--source-option=queue=" + queue,
                "--source-option=select=" + select);
    }

}
