package io.delayqueue.move;

import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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

    @BeforeEach
    void startRedis() {
        this.redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterEach
    void stopRedis() {
        this.redis.close();
    }

    @ParameterizedTest
    @EnumSource
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
        scene.run("finish", UPDATE);
    }

    @ParameterizedTest
    @EnumSource
    void withoutAnUpdateACopyCanBeRepeatedAndNothingIsFollowed(SourceDatabase database) {
        Scene scene = create(database);

        scene.run("copy", "--batch=7");
        this.redis.commands().flushall();
        assertThat(scene.run("copy")).contains("0 waiting");

        assertThat(this.redis.commands().exists("shop:{orders}:scheduled")).isZero();
        assertThat(scene.execute(2, "follow")).contains("--source-option=update=");
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
        return new Scene(this.redis, this.directory, "--source=select", "--source-url=" + this.url,
                "--source-user=" + database.user(), "--source-option=queue=orders",
                "--source-option=select=SELECT id, due, payload FROM jobs WHERE state = 0 ORDER BY id");
    }

}
