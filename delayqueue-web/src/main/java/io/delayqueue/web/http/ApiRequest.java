package io.delayqueue.web.http;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.delayqueue.MessageLimits;
import io.delayqueue.QueueName;
import io.delayqueue.web.http.Problem.Kind;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.web.util.UriUtils;

/**
 * Provides the caller, the parameters and the body of a request to the handler of its
 * route. Used by the request thread alone.
 */
public final class ApiRequest {

    private final HttpServletRequest servlet;

    private final Map<String, String> variables;

    private final AccessControl access;

    private final ApiSettings settings;

    private final RequestFailureLog failures;

    private final Map<String, List<String>> query;

    ApiRequest(HttpServletRequest servlet, Map<String, String> variables, AccessControl access, ApiSettings settings,
            RequestFailureLog failures) {
        this.failures = failures;
        this.servlet = servlet;
        this.variables = variables;
        this.access = access;
        this.settings = settings;
        this.query = queryOf(servlet);
    }

    public HttpServletRequest servlet() {
        return this.servlet;
    }

    public ApiSettings settings() {
        return this.settings;
    }

    /** Logs why this request failed. Call it only on a thread that may block. */
    public void failed(Throwable failure) {
        this.failures.log(this.servlet, failure);
    }

    public String principal() {
        return this.access.principal(this.servlet);
    }

    public boolean permits(Authority authority) {
        return this.access.permits(this.servlet, authority);
    }

    /** Describes the requested change, for the audit. */
    public AuditedOperation change(String operation, @Nullable String filter) {
        return new AuditedOperation(principal(), operation, queue(), filter);
    }

    public QueueName queue() {
        return ProblemException.valid(() -> new QueueName(this.variables.getOrDefault("queue", "")));
    }

    /** Returns the id of the node in the path. */
    public String node() {
        return this.variables.getOrDefault("node", "");
    }

    /** Returns the message id in the query. */
    public String id() {
        String id = required("id");
        return ProblemException.valid(() -> MessageLimits.requireId(id));
    }

    public String required(String name) {
        String value = query(name);
        if (value == null) {
            throw ProblemException.invalid("Query parameter '%s' is needed".formatted(name));
        }
        return value;
    }

    public @Nullable String query(String name) {
        List<String> values = this.query.getOrDefault(name, List.of());
        if (values.size() > 1) {
            throw ProblemException
                .invalid("Query parameter '%s' is there %d times; use it once".formatted(name, values.size()));
        }
        return values.isEmpty() ? null : values.get(0);
    }

    /**
     * Rejects unknown parameters, such as a misspelt filter, which would otherwise be
     * ignored.
     */
    public void onlyQuery(String... known) {
        List<String> allowed = List.of(known);
        this.query.keySet().stream().filter((name) -> !allowed.contains(name)).findFirst().ifPresent((name) -> {
            throw ProblemException.invalid("Query parameter %s is not known: use %s".formatted(Json.quoted(name),
                    allowed.isEmpty() ? "none" : String.join(", ", allowed)));
        });
    }

    /** Parses the query string alone: servlet parameters may also come from a form. */
    private static Map<String, List<String>> queryOf(HttpServletRequest servlet) {
        Map<String, List<String>> query = new LinkedHashMap<>();
        String text = servlet.getQueryString();
        for (String pair : (text == null || text.isEmpty()) ? new String[0] : text.split("&")) {
            String[] parts = pair.split("=", 2);
            query.computeIfAbsent(decoded(parts[0]), (name) -> new ArrayList<>())
                .add((parts.length > 1) ? decoded(parts[1]) : "");
        }
        return query;
    }

    private static String decoded(String text) {
        try {
            return UriUtils.decode(text, StandardCharsets.UTF_8);
        }
        catch (IllegalArgumentException ex) {
            throw ProblemException.invalid("The query is not encoded as it should be: " + Json.quoted(text));
        }
    }

    /** Returns the page size. */
    public int limit() {
        String text = query("limit");
        int most = this.settings.maxPageSize();
        if (text == null) {
            return Math.min(50, most);
        }
        if (!text.matches("[0-9]{1,9}") || Integer.parseInt(text) < 1 || Integer.parseInt(text) > most) {
            throw ProblemException.invalid(
                    "Query parameter 'limit' is not valid: use 1 to %d, not %s".formatted(most, Json.quoted(text)));
        }
        return Integer.parseInt(text);
    }

    /** Returns the body, an object with these fields. */
    public JsonObjectReader body(String... fields) {
        requireJson();
        return new JsonObjectReader(JsonBodyReader.read(bytes()), "", Set.of(fields));
    }

    private void requireJson() {
        String type = ContentTypeHidingFilter.typeOf(this.servlet);
        if (type != null && ContentTypeHidingFilter.isJson(type)) {
            return;
        }
        throw new ProblemException(new Problem(Kind.MEDIA_TYPE, "Content-Type %s: use application/json"
            .formatted((type == null) ? "is missing" : Json.quoted(type) + " is not valid")));
    }

    private byte[] bytes() {
        int most = this.settings.maxBodySize();
        try {
            if (this.servlet.getContentLengthLong() > most) {
                throw tooLarge(most);
            }
            InputStream body = this.servlet.getInputStream();
            byte[] bytes = body.readNBytes(most + 1);
            if (bytes.length > most) {
                throw tooLarge(most);
            }
            return bytes;
        }
        catch (IOException ex) {
            throw new ProblemException(new Problem(Kind.INVALID, "The body ended before all of it was there"), ex);
        }
    }

    private static ProblemException tooLarge(int most) {
        return new ProblemException(new Problem(Kind.BODY_TOO_LARGE,
                "The body is not valid: use at most %d bytes (delayqueue.web.api.max-body-size)".formatted(most)));
    }

}
