package io.delayqueue.web;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.delayqueue.web.consume.ApiServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Runs the client of the documentation unchanged. */
@Tag("server")
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

    private static final String PATIENT = """
            import sys
            import delayqueue

            queue = delayqueue.Queue(sys.argv[1], "python", "send", "secret")
            queue.send(1)
            queue.send(2, dueAt="2030-01-01T00:00:00Z")
            queue.send(3, delay=1.5)
            seen = []

            def handle(message):
                seen.append(message["id"])
                assert queue.extend(message, lease=60)

            queue.consume(handle, until=lambda: len(seen) == 2, lease=7, wait=3)
            assert seen == ["a", "b"], seen
            try:
                queue.consume(handle)
                assert False
            except delayqueue.Problem as problem:
                assert problem.status == 403, problem
            print("done")
            """;

    @Test
    void producesAndConsumes(@TempDir Path directory) throws Exception {
        assertThat(
                run(PROGRAM, directory, "http://127.0.0.1:%d/delayqueue/api/v1".formatted(ApiServer.shared().port())))
            .endsWith("done\n");
    }

    /** Each of these responses has stopped a consumer once. */
    @Test
    void continuesAfterAnOutageOfTheApi(@TempDir Path directory) throws Exception {
        Queue<Scripted> script = new ArrayDeque<>(
                List.of(new Scripted("messages", 201, "{}"), new Scripted("messages", 201, "{}"),
                        new Scripted("messages", 201, "{}"), new Scripted("claims", 503, "{}"),
                        new Scripted("claims", Scripted.CUT, ""), new Scripted("claims", 429, "busy"),
                        new Scripted("claims", 200, messages()), new Scripted("claims", 200, messages("a")),
                        new Scripted("leases/extend", 204, ""), new Scripted("leases/acknowledge", 503, "{}"),
                        new Scripted("leases/acknowledge", 409, "{\"type\": \"urn:delayqueue:problem:lease-lost\"}"),
                        new Scripted("claims", 200, messages("b")), new Scripted("leases/extend", 204, ""),
                        new Scripted("leases/acknowledge", Scripted.CUT, ""),
                        new Scripted("leases/acknowledge", 204, ""), new Scripted("claims", 403, "{}")));
        List<String> requests = Collections.synchronizedList(new ArrayList<>());
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/", (exchange) -> {
            String path = exchange.getRequestURI().getPath().replace("/queues/python/", "");
            requests.add(path + " " + new String(exchange.getRequestBody().readAllBytes()));
            Scripted next = script.remove();
            next.answer(exchange, path.equals(next.path()));
        });
        server.start();
        try {
            String output = run(PATIENT, directory, "http://127.0.0.1:" + server.getAddress().getPort());

            assertThat(output).contains("Retrying in 1.0 s: 503")
                .contains("The outcome of 'acknowledge' for message 'a' is unknown")
                .endsWith("done\n");
        }
        finally {
            server.stop(0);
        }
        assertThat(script).isEmpty();
        assertThat(requests.subList(0, 3)).containsExactly("messages {\"payload\": 1}",
                "messages {\"dueAt\": \"2030-01-01T00:00:00Z\", \"payload\": 2}",
                "messages {\"payload\": 3, \"delayMillis\": 1500}");
        assertThat(requests).contains("claims {\"max\": 1, \"waitMillis\": 3000, \"leaseMillis\": 7000}",
                "leases/extend {\"leaseMillis\": 60000, \"id\": \"a\", \"token\": \"t\"}");
    }

    private static String messages(String... ids) {
        return Stream.of(ids)
            .map("{\"id\": \"%s\", \"token\": \"t\", \"leaseMillis\": 7000}"::formatted)
            .collect(Collectors.joining(", ", "{\"messages\": [", "]}"));
    }

    private static String run(String source, Path directory, String api) throws Exception {
        assumeTrue(hasPython(), "There is no python3 here, which the client in docs/clients needs");
        Path program = Files.writeString(directory.resolve("program.py"), source);
        ProcessBuilder builder = new ProcessBuilder("python3", program.toString(), api).redirectErrorStream(true);
        builder.environment().put("PYTHONPATH", CLIENTS.toAbsolutePath().toString());
        builder.environment().put("PYTHONDONTWRITEBYTECODE", "1");
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes());
        assertThat(process.waitFor()).as(output).isZero();
        return output;
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

    /** Holds the response to the next request, if that is for this path. */
    private record Scripted(String path, int status, String body) {

        /** Closes the connection without a response. */
        private static final int CUT = 0;

        void answer(HttpExchange exchange, boolean expected) throws IOException {
            if (this.status == CUT) {
                exchange.close();
                return;
            }
            byte[] bytes = this.body.getBytes();
            if (this.status == 503) {
                exchange.getResponseHeaders().add("Retry-After", "1");
            }
            exchange.sendResponseHeaders(expected ? this.status : 418, (bytes.length > 0) ? bytes.length : -1);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        }

    }

}
