package io.delayqueue.web.dashboard;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import java.util.zip.GZIPOutputStream;

import org.jspecify.annotations.Nullable;

import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * Serves the files of the page. All are named here, read and compressed once, so a
 * requested path never becomes the name of a file. Thread-safe.
 */
final class DashboardFiles {

    /** Restricts the page to scripts and content of this server. */
    static final String CONTENT_POLICY = String.join("; ", "default-src 'none'", "script-src 'self'",
            "style-src 'self'", "img-src 'self' data:", "connect-src 'self'", "font-src 'self'", "base-uri 'none'",
            "form-action 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
            // The one policy is that of the library, and takes only the texts of its
            // templates.
            "trusted-types lit-html");

    private static final Map<String, String> HEADERS = Map.of("Content-Security-Policy", CONTENT_POLICY,
            "X-Content-Type-Options", "nosniff", "X-Frame-Options", "DENY", "Referrer-Policy", "no-referrer",
            "Cross-Origin-Resource-Policy", "same-origin", "Cross-Origin-Opener-Policy", "same-origin",
            "Permissions-Policy", "camera=(), geolocation=(), microphone=()", "Cache-Control", "private, no-cache");

    static final List<String> SCRIPTS = List.of("main.js", "store.js", "address.js", "activity.js", "next-hour.js",
            "lateness.js", "outage.js", "icons.js", "copy.js", "format.js", "json.js", "frame.js", "dialog.js",
            "plots.js", "throughput.js", "history.js", "overview.js", "queue.js", "message.js", "transitions.js",
            "restore.js", "forget.js", "pages.js", "scan.js", "search.js", "dead-letters.js", "nodes.js", "alerts.js",
            "pause.js", "occurrence.js", "schedules.js", "schedule.js", "schedule-actions.js", "node.js", "handlers.js",
            "overrides.js", "stacks.js", "lib/chart.js", "lib/lit-html.js", "lib/directive.js",
            "lib/directive-helpers.js", "lib/directives/repeat.js");

    private final Map<String, File> files = new LinkedHashMap<>();

    DashboardFiles() {
        this.files.put("", read("index.html", "text/html"));
        this.files.put("dashboard.css", read("dashboard.css", "text/css"));
        this.files.put("icon.svg", read("icon.svg", "image/svg+xml"));
        SCRIPTS.forEach((name) -> this.files.put(name, read(name, "text/javascript")));
    }

    boolean has(String name) {
        return this.files.containsKey(name);
    }

    @Nullable File find(String name) {
        return this.files.get(name);
    }

    private static File read(String name, String type) {
        try (InputStream file = DashboardFiles.class.getResourceAsStream("static/" + name)) {
            if (file == null) {
                throw new IllegalStateException("'static/%s' is not on the class path".formatted(name));
            }
            byte[] content = file.readAllBytes();
            CRC32C sum = new CRC32C();
            sum.update(content);
            return new File(content, compressed(content), type + ";charset=" + StandardCharsets.UTF_8,
                    "%x-%x".formatted(content.length, sum.getValue()));
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static byte[] compressed(byte[] content) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
            gzip.write(content);
        }
        return bytes.toByteArray();
    }

    /**
     * Holds a file of the page.
     *
     * @param plain its bytes
     * @param compressed the same, compressed by gzip
     * @param type its media type
     * @param tag identifies its content
     */
    @SuppressWarnings("ArrayRecordComponent")
    record File(byte[] plain, byte[] compressed, String type, String tag) {

        ServerResponse answer(ServerRequest request) {
            boolean gzip = isGzipAccepted(request);
            byte[] content = gzip ? this.compressed : this.plain;
            String entity = "\"%s%s\"".formatted(this.tag, gzip ? "-gzip" : "");
            boolean known = request.headers().header("If-None-Match").contains(entity);
            ServerResponse.BodyBuilder builder = ServerResponse.status(known ? 304 : 200)
                .header("ETag", entity)
                .header("Vary", "Accept-Encoding");
            HEADERS.forEach(builder::header);
            if (gzip && !known) {
                builder.header("Content-Encoding", "gzip");
            }
            return builder.build((servlet, response) -> {
                if (!known) {
                    response.setContentType(this.type);
                    response.setContentLength(content.length);
                    response.getOutputStream().write(content);
                }
                return null;
            });
        }

        /** Returns whether gzip is named, and not excluded by a weight of zero. */
        private static boolean isGzipAccepted(ServerRequest request) {
            return request.headers()
                .header("Accept-Encoding")
                .stream()
                .flatMap((header) -> Stream.of(header.split(",")))
                .anyMatch((coding) -> coding.strip().matches("(?i)gzip(\\s*;\\s*q=(?!0(\\.0*)?$).*)?"));
        }

    }

}
