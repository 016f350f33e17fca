package io.delayqueue.web;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Runs the client of the documentation as it is. */
class PythonClientTests {

    private static final Path CLIENTS = Path.of("..", "docs", "clients");

    private static final String PROGRAM = """
            import sys
            import delayqueue

            producer = delayqueue.Queue(sys.argv[1], "python", "send", "secret")
            consumer = delayqueue.Queue(sys.argv[1], "python", "consume", "secret")
            assert producer.send({"orderId": 42}, delay=0.02, id="order/42+1")["outcome"] == "SCHEDULED"
            assert producer.send({"orderId": 43}, delay=0.02, id="order/42+1")["outcome"] == "KEPT"
            seen = []

            def handle(message):
                seen.append((message["id"], message["attempt"], message["payload"]))
                if message["attempt"] == 1:
                    message["stale"] = True
                    raise ValueError("not yet")

            first = consumer.claim(wait=20)[0]
            assert consumer.settle("release", first)
            assert not consumer.settle("acknowledge", first)
            consumer.consume(handle, until=lambda: len(seen) == 2)
            assert seen == [("order/42+1", 1, {"orderId": 42}), ("order/42+1", 2, {"orderId": 42})], seen
            try:
                consumer.cancel("order/42+1")
                assert False
            except delayqueue.Problem as problem:
                assert (problem.status, problem.kind) == (403, "forbidden"), problem.details
            print("done")
            """;

    @Test
    void producesAndConsumes(@TempDir Path directory) throws Exception {
        assumeTrue(hasPython(), "There is no python3 here, which the client in docs/clients needs");
        Path program = Files.writeString(directory.resolve("program.py"), PROGRAM);
        ProcessBuilder builder = new ProcessBuilder("python3", program.toString(),
                "http://127.0.0.1:%d/delayqueue/api".formatted(ApiServer.shared().port()))
            .redirectErrorStream(true);
        builder.environment().put("PYTHONPATH", CLIENTS.toAbsolutePath().toString());
        builder.environment().put("PYTHONDONTWRITEBYTECODE", "1");
        Process process = builder.start();

        String output = new String(process.getInputStream().readAllBytes());

        assertThat(process.waitFor()).as(output).isZero();
        assertThat(output).endsWith("done\n");
    }

    private static boolean hasPython() throws InterruptedException {
        try {
            Process process = new ProcessBuilder("python3", "-c", "import sys; assert sys.version_info >= (3, 8)")
                .redirectErrorStream(true)
                .start();
            return process.waitFor(1, TimeUnit.MINUTES) && process.exitValue() == 0;
        }
        catch (IOException ex) {
            return false;
        }
    }

}
