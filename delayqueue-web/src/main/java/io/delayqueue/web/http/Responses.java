package io.delayqueue.web.http;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.zip.Deflater;

import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

import org.springframework.web.servlet.function.ServerResponse;

/**
 * Builds responses. Asynchronous results are written by a container thread once they
 * complete.
 */
public final class Responses {

    /** Prevents browsers from caching, framing, sniffing or executing a response. */
    private static final Map<String, String> HEADERS = Map.of("X-Content-Type-Options", "nosniff", "Cache-Control",
            "no-store", "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'", "X-Frame-Options",
            "DENY", "Referrer-Policy", "no-referrer", "Cross-Origin-Resource-Policy", "same-origin");

    /** Smaller responses fit into a packet or two. */
    private static final int MIN_COMPRESSED = 2_048;

    private static final String JSON = "application/json";

    private static final String PROBLEM = "application/problem+json";

    /** Problems that may be over after a second. */
    private static final Set<Problem.Kind> TRANSIENT = Set.of(Problem.Kind.STORE_UNAVAILABLE,
            Problem.Kind.TOO_MANY_WAITING, Problem.Kind.NOT_RUNNING);

    private Responses() {
    }

    public static ServerResponse json(JsonNode body) {
        return write(builder(200), JSON, Json.bytes(body));
    }

    /**
     * Returns a response that is compressed for callers that accept it. The length of
     * such a response depends on its content, so it must not hold both a secret and a
     * text of the request.
     */
    public static ServerResponse large(JsonNode body) {
        byte[] plain = Json.bytes(body);
        return builder(200).header("Vary", "Accept-Encoding").build((request, response) -> {
            boolean gzip = plain.length > MIN_COMPRESSED && Gzip.isAccepted(request);
            if (gzip) {
                response.setHeader("Content-Encoding", "gzip");
            }
            write(response, JSON, gzip ? Gzip.compressed(plain, Deflater.BEST_SPEED) : plain);
            return null;
        });
    }

    /** Returns the response for a resource that was created. */
    public static ServerResponse created(String location, JsonNode body) {
        return write(builder(201).header("Location", location), JSON, Json.bytes(body));
    }

    /**
     * Returns a response whose body is built completely by the writing thread before any
     * of it is written.
     * @param writing performs the write
     * @param failed receives a failure, on the writing thread
     */
    public static ServerResponse made(Supplier<byte[]> body, Writing writing, Consumer<Throwable> failed) {
        return builder(200).build((request, response) -> {
            byte[] bytes;
            try {
                bytes = body.get();
            }
            catch (RuntimeException ex) {
                failed.accept(ex);
                Problem problem = ProblemTranslator.of(ex);
                response.setStatus(problem.kind().status());
                write(response, PROBLEM, Json.bytes(problem.toJson()));
                return null;
            }
            writing.go(() -> {
                response.setContentType(JSON);
                response.setContentLength(bytes.length);
                // Write the headers first: a caller that has disconnected is detected at
                // the second write at the earliest. On a real network even that may
                // succeed.
                response.flushBuffer();
                response.getOutputStream().write(bytes);
                response.flushBuffer();
            });
            return null;
        });
    }

    public static ServerResponse done() {
        return builder(204).build((request, response) -> null);
    }

    public static ServerResponse problem(Problem problem) {
        return problem(problem, null);
    }

    public static ServerResponse problem(Problem problem, @Nullable String allow) {
        ServerResponse.BodyBuilder builder = builder(problem);
        if (allow != null) {
            builder.header("Allow", allow);
        }
        return write(builder, PROBLEM, Json.bytes(problem.toJson()));
    }

    /**
     * Returns the problem for a failure.
     * @param failed receives the failure, on the writing thread
     */
    public static ServerResponse problem(Throwable failure, Consumer<Throwable> failed) {
        Problem problem = ProblemTranslator.of(failure);
        byte[] body = Json.bytes(problem.toJson());
        return builder(problem).build((request, response) -> {
            failed.accept(failure);
            write(response, PROBLEM, body);
            return null;
        });
    }

    private static ServerResponse.BodyBuilder builder(Problem problem) {
        ServerResponse.BodyBuilder builder = builder(problem.kind().status());
        if (TRANSIENT.contains(problem.kind())) {
            builder.header("Retry-After", "1");
        }
        return builder;
    }

    /**
     * Returns an asynchronous response. Replaces the container's timeout, which may be
     * shorter.
     * @param failed receives a failure, on a container thread
     */
    public static ServerResponse later(CompletableFuture<ServerResponse> answer, Duration limit,
            Consumer<Throwable> failed) {
        return ServerResponse.async(answer.exceptionally((failure) -> problem(failure, failed)), limit);
    }

    private static ServerResponse.BodyBuilder builder(int status) {
        ServerResponse.BodyBuilder builder = ServerResponse.status(status);
        HEADERS.forEach(builder::header);
        return builder;
    }

    private static ServerResponse write(ServerResponse.BodyBuilder builder, String type, byte[] body) {
        return builder.build((request, response) -> {
            write(response, type, body);
            return null;
        });
    }

    private static void write(HttpServletResponse response, String type, byte[] body) throws IOException {
        response.setContentType(type);
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }

    /** Writes a response. */
    @FunctionalInterface
    public interface Write {

        void run() throws IOException;

    }

    /** Performs the write of a response. */
    @FunctionalInterface
    public interface Writing {

        void go(Write write) throws IOException;

    }

}
