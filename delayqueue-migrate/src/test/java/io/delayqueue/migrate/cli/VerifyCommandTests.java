package io.delayqueue.migrate.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Compares sent messages with the records of the source. */
@Tag("server")
class VerifyCommandTests {

    private static final String TAKEN = "delayqueue_migrate:redisson:{orders}";

    /** A member of an early Redisson: a random number, the length, and the value. */
    private static final String MEMBER = "\0\0\0\0\0\0\0\1" + "\2\0\0\0\0\0\0\0" + "{}";

    private static final long DUE = 1_900_000_000_000L;

    @TempDir
    private Path directory;

    private RedisServer redis;

    @BeforeEach
    void moveAMessage() {
        this.redis = RedisServer.start(RedisBinary.preferred());
        this.redis.commands().zadd("redisson_delay_queue_timeout:{orders}", DUE, MEMBER);
        this.redis.commands().rpush("redisson_delay_queue:{orders}", MEMBER);
        Tool copy = tool("copy");
        assertThat(copy.run()).as(copy::output).isZero();
    }

    @AfterEach
    void stopRedis() {
        this.redis.close();
    }

    @Test
    void anotherDueTimeThanThatOfTheSourceIsAProblem() {
        Tool right = tool("verify", "--check=10");
        assertThat(right.run()).as(right::output).isZero();
        assertThat(right.output()).contains("1 found with their due time").doesNotContain("Only counts");
        this.redis.commands()
            .hgetall(TAKEN)
            .forEach((id, entry) -> this.redis.commands()
                .hset(TAKEN, Map.of(id, entry.replace(Long.toString(DUE), Long.toString(DUE - 1)))));

        Tool wrong = tool("verify", "--check=10");

        assertThat(wrong.run()).isOne();
        assertThat(wrong.output()).contains("1 found with another due time",
                "TO DO  1 messages of queue 'orders' have another due time than in the source");
    }

    @Test
    void theReportSaysThatWithoutACheckOnlyCountsAreCompared() {
        Tool verify = tool("verify");

        assertThat(verify.run()).isZero();
        assertThat(verify.output()).contains("Note   Only counts were compared. Use --check=NUMBER");
    }

    @Test
    void theReportSaysThatTheSourceDoesNotListWhatWasSent() throws IOException {
        Path files = this.directory.resolve("files");
        Files.writeString(Files.createDirectories(files.resolve("orders")).resolve(DUE + "-order-42.json"), "{}");
        String url = "redis://127.0.0.1:" + this.redis.port();
        String[] arguments = { "--source=io.delayqueue.migrate.example.FileSource",
                "--source-option=directory=" + files, "--target-url=" + url, "--namespace=shop",
                "--report=" + this.directory.resolve("report") };
        Tool copy = new Tool("copy").with(arguments);
        assertThat(copy.run()).as(copy::output).isZero();

        Tool verify = new Tool("verify").with(arguments).with("--check=10");

        assertThat(verify.run()).as(verify::output).isZero();
        assertThat(verify.output()).contains("Note   No message of queue 'orders' was looked up: all are due by now");
    }

    /**
     * Neither other properties of Redis nor the environment may lead to another server.
     */
    @Test
    void theTargetIsThatOfTheArguments() {
        String url = "redis://127.0.0.1:" + this.redis.port();
        this.redis.commands().flushall();
        this.redis.commands().zadd("redisson_delay_queue_timeout:{orders}", DUE, MEMBER);
        this.redis.commands().rpush("redisson_delay_queue:{orders}", MEMBER);
        System.setProperty("spring.data.redis.url", "redis://127.0.0.1:1");
        System.setProperty("delayqueue.namespace", "other");
        try {
            Tool copy = new Tool("copy", "--source=redisson", "--source-url=" + url, "--namespace=shop",
                    "--report=" + this.directory.resolve("report"), "--spring.data.redis.timeout=2s");
            assertThat(copy.run()).as(copy::output).isZero();
        }
        finally {
            System.clearProperty("spring.data.redis.url");
            System.clearProperty("delayqueue.namespace");
        }

        assertThat(this.redis.commands().hlen("shop:{orders}:messages")).isOne();
    }

    /** A URL counts before a host, wherever it is given. */
    @Test
    void aUrlOfTheEnvironmentBesideTheHostOfTheArgumentsIsRejected() {
        String port = Integer.toString(this.redis.port());
        System.setProperty("spring.data.redis.url", "redis://127.0.0.1:1");
        try {
            Tool copy = new Tool("copy", "--source=redisson", "--source-url=redis://127.0.0.1:" + port,
                    "--spring.data.redis.host=127.0.0.1", "--spring.data.redis.port=" + port, "--namespace=shop",
                    "--report=" + this.directory.resolve("report"));
            assertThat(copy.run()).as(copy::output).isEqualTo(2);
            assertThat(copy.output()).contains("spring.data.redis.url is set, for example in the environment");
        }
        finally {
            System.clearProperty("spring.data.redis.url");
        }
    }

    private Tool tool(String step, String... more) {
        String url = "redis://127.0.0.1:" + this.redis.port();
        return new Tool(step, "--source=redisson", "--source-url=" + url, "--target-url=" + url, "--namespace=shop",
                "--report=" + this.directory.resolve("report"))
            .with(more);
    }

}
