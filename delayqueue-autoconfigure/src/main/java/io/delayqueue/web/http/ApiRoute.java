package io.delayqueue.web.http;

import java.util.Set;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.util.pattern.PathPattern;

/**
 * Something that can be asked for.
 *
 * @param method the method
 * @param pattern the path below that of the API
 * @param authorities of these the caller needs one
 * @param handler does it
 */
public record ApiRoute(HttpMethod method, PathPattern pattern, Set<Authority> authorities, Handler handler) {

    /** Does what a request asks for. */
    @FunctionalInterface
    public interface Handler {

        /** Answers, or throws what {@link ProblemTranslator} can tell. */
        ServerResponse handle(ApiRequest request);

    }

}
