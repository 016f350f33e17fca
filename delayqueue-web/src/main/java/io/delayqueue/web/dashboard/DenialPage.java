package io.delayqueue.web.dashboard;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.web.util.HtmlUtils;

/**
 * Writes the page for a person without access. It is complete in itself, because its
 * reader may not load the files of the dashboard.
 */
final class DenialPage {

    private static final String STYLE = "body{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;"
            + "padding:0 1rem}h1{font-size:1.375rem}code{font-size:.9em}";

    private static final String CONTENT_POLICY = "default-src 'none'; style-src 'sha256-" + hash(STYLE)
            + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private static final String PAGE = """
            <!doctype html>
            <html lang="en">
            <head>
              <meta charset="utf-8">
              <meta name="viewport" content="width=device-width, initial-scale=1">
              <meta name="color-scheme" content="light dark">
              <title>No access – DelayQueue</title>
              <style>%s</style>
            </head>
            <body>
              <main>
              <h1>You have no access to this dashboard</h1>
              <p>%s.</p>
              <p>You are signed in as <strong>%s</strong>. Ask the person who grants permissions in this application,
              or sign in as another user. Authorities are granted under exactly these names, without a prefix.</p>
              </main>
            </body>
            </html>
            """;

    private DenialPage() {
    }

    /** Returns whether the client is a browser that opens a page. */
    static boolean isWanted(HttpServletRequest request) {
        String accepted = request.getHeader("Accept");
        return accepted != null && accepted.contains("text/html");
    }

    static void write(HttpServletResponse response, String reason, @Nullable String principal) throws IOException {
        String known = (principal != null) ? principal : "an unknown user";
        byte[] page = PAGE.formatted(STYLE, HtmlUtils.htmlEscape(reason), HtmlUtils.htmlEscape(known))
            .getBytes(StandardCharsets.UTF_8);
        response.setStatus(HttpServletResponse.SC_FORBIDDEN);
        response.setHeader("Content-Security-Policy", CONTENT_POLICY);
        response.setHeader("X-Content-Type-Options", "nosniff");
        response.setHeader("Cache-Control", "no-store");
        response.setContentType("text/html;charset=UTF-8");
        response.setContentLength(page.length);
        response.getOutputStream().write(page);
    }

    private static String hash(String style) {
        try {
            return Base64.getEncoder()
                .encodeToString(MessageDigest.getInstance("SHA-256").digest(style.getBytes(StandardCharsets.UTF_8)));
        }
        catch (NoSuchAlgorithmException ex) {
            throw new IllegalStateException(ex);
        }
    }

}
