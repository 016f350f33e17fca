package io.delayqueue.web.dashboard;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;

import io.delayqueue.web.http.Gzip;
import org.jspecify.annotations.Nullable;

import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * Serves the files of the page. All are named here, read and compressed once, so a
 * requested path never becomes the name of a file. The page requests them below
 * {@code files/} and a version that depends on the content of all, so that browsers keep
 * them without asking again. Another version, as from a node before or after an update,
 * is answered with the files of this node, which browsers then check each time; a page
 * that mixes both may have to be reloaded. Thread-safe.
 */
final class DashboardFiles {

    /** Restricts the page to scripts and content of this server. */
    static final String CONTENT_POLICY = String.join("; ", "default-src 'none'", "script-src 'self'",
            "style-src 'self'", "img-src 'self' data:", "connect-src 'self'", "font-src 'self'", "base-uri 'none'",
            "form-action 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
            // The one policy is that of the library, and takes only the texts of its
            // templates.
            "trusted-types lit-html");

    private static final String CHECKED = "private, no-cache";

    private static final String KEPT = "private, max-age=31536000, immutable";

    private static final Pattern VERSIONED = Pattern.compile("files/([0-9a-f]{1,8})/([^?#]+)");

    private static final Map<String, String> HEADERS = Map.of("Content-Security-Policy", CONTENT_POLICY,
            "X-Content-Type-Options", "nosniff", "X-Frame-Options", "DENY", "Referrer-Policy", "no-referrer",
            "Cross-Origin-Resource-Policy", "same-origin", "Cross-Origin-Opener-Policy", "same-origin",
            "Permissions-Policy", "camera=(), geolocation=(), microphone=()");

    /** The one script that is no module. */
    private static final String CHART = "lib/chart.js";

    static final List<String> SCRIPTS = List.of("main.js", "store.js", "address.js", "activity.js", "next-hour.js",
            "lateness.js", "outage.js", "icons.js", "copy.js", "format.js", "json.js", "frame.js", "dialog.js",
            "plots.js", "throughput.js", "history.js", "overview.js", "queue.js", "message.js", "transitions.js",
            "restore.js", "forget.js", "pages.js", "scan.js", "search.js", "dead-letters.js", "nodes.js", "alerts.js",
            "pause.js", "occurrence.js", "schedules.js", "schedule.js", "schedule-actions.js", "node.js", "handlers.js",
            "overrides.js", "stacks.js", CHART, "lib/lit-html.js", "lib/directive.js", "lib/directive-helpers.js",
            "lib/directives/repeat.js");

    private final Map<String, File> files = new LinkedHashMap<>();

    private final String version;

    DashboardFiles() {
        add("dashboard.css", "text/css");
        add("icon.svg", "image/svg+xml");
        SCRIPTS.forEach((name) -> add(name, "text/javascript"));
        CRC32C sum = new CRC32C();
        this.files.values().forEach((file) -> sum.update(file.plain()));
        this.version = "%x".formatted(sum.getValue());
        this.files.put("", file(page().getBytes(StandardCharsets.UTF_8), "text/html"));
    }

    private void add(String name, String type) {
        this.files.put(name, file(read(name), type));
    }

    /**
     * Returns the page with the addresses of its files. It names all modules, as a
     * browser would otherwise learn of them one after the other, by their imports.
     */
    private String page() {
        String directory = "files/" + this.version;
        String modules = SCRIPTS.stream()
            .filter((name) -> !name.equals(CHART))
            .map((name) -> "<link rel=\"modulepreload\" href=\"%s/%s\">".formatted(directory, name))
            .collect(Collectors.joining("\n  "));
        return new String(read("index.html"), StandardCharsets.UTF_8).replace("${files}", directory)
            .replace("${modules}", modules);
    }

    boolean has(String name) {
        return this.files.containsKey(withoutVersion(name));
    }

    /** Returns the response with a file; {@code null} if there is none of this name. */
    @Nullable ServerResponse find(String name, ServerRequest request) {
        File file = this.files.get(withoutVersion(name));
        boolean kept = name.startsWith("files/" + this.version + "/");
        return (file != null) ? file.answer(request, kept ? KEPT : CHECKED) : null;
    }

    private static String withoutVersion(String name) {
        Matcher versioned = VERSIONED.matcher(name);
        return versioned.matches() ? versioned.group(2) : name;
    }

    private static byte[] read(String name) {
        try (InputStream file = DashboardFiles.class.getResourceAsStream("static/" + name)) {
            if (file == null) {
                throw new IllegalStateException("'static/%s' is not on the class path".formatted(name));
            }
            return file.readAllBytes();
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static File file(byte[] content, String type) {
        CRC32C sum = new CRC32C();
        sum.update(content);
        return new File(content, Gzip.compressed(content), type + ";charset=" + StandardCharsets.UTF_8,
                "%x-%x".formatted(content.length, sum.getValue()));
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

        ServerResponse answer(ServerRequest request, String caching) {
            boolean gzip = Gzip.isAccepted(request.servletRequest());
            byte[] content = gzip ? this.compressed : this.plain;
            String entity = "\"%s%s\"".formatted(this.tag, gzip ? "-gzip" : "");
            boolean known = request.headers().header("If-None-Match").contains(entity);
            ServerResponse.BodyBuilder builder = ServerResponse.status(known ? 304 : 200)
                .header("ETag", entity)
                .header("Cache-Control", caching)
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

    }

}
