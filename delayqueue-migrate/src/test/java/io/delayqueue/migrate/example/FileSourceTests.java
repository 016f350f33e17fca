package io.delayqueue.migrate.example;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.migrate.cli.Tool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Moves with the example of a source, as the documentation describes it. */
@Tag("server")
class FileSourceTests {

    private static final long DUE = 1_900_000_000_000L;

    @TempDir
    private Path directory;

    private RedisServer redis;

    @BeforeEach
    void startRedis() {
        this.redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterEach
    void stopRedis() {
        this.redis.close();
    }

    @Test
    void everyStepWorks() throws IOException {
        Path queue = Files.createDirectories(this.directory.resolve("spool/orders"));
        for (int i = 0; i < 30; i++) {
            Files.writeString(queue.resolve("%d-order-%d.json".formatted(DUE + i, i)), "{\"number\":%d}".formatted(i));
        }
        Files.writeString(queue.resolve(DUE + "-broken.json"), "{");

        assertThat(tool("plan").run()).isOne();
        assertThat(tool("copy").run()).isOne();
        Tool verify = tool("verify");
        assertThat(verify.run()).isOne();
        assertThat(verify.output()).contains("31 = 30 sent + 0 dropped + 1 unreadable + 0 not settled");
        assertThat(this.redis.commands().zscore("shop:{orders}:scheduled", "order-29")).isEqualTo(DUE + 29);
        assertThat(this.redis.commands().zcard("shop:{orders}:scheduled")).isEqualTo(30);

        assertThat(tool("copy", "--payload=string").run()).isZero();
        assertThat(this.redis.commands().hget("shop:{orders}:messages", "broken")).contains("\"payload\":\"{\"");
        assertThat(tool("verify").run()).isZero();
        assertThat(tool("finish").run()).isZero();
        assertThat(queue.resolve(".migrate/sent")).isEmptyDirectory();
    }

    private Tool tool(String step, String... more) {
        return new Tool(step, "--source=" + FileSource.class.getName())
            .with("--source-option=directory=" + this.directory.resolve("spool"))
            .with("--report=" + this.directory.resolve("report"))
            .with(step.equals("copy")
                    ? new String[] { "--namespace=shop", "--target-url=redis://127.0.0.1:" + this.redis.port() }
                    : new String[0])
            .with(more);
    }

}
