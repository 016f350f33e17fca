package io.delayqueue.web.http;

import java.util.Set;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.util.pattern.PathPattern;

/**
 * Maps a method and path to a handler and to the authorities, of which callers need one.
 *
 * @param method the method
 * @param pattern the path, including the base path
 * @param authorities the caller needs one of these
 * @param handler handles the requests
 */
public record ApiRoute(HttpMethod method, PathPattern pattern, Set<Authority> authorities, Handler handler) {

    /** Handles the requests of a route. */
    @FunctionalInterface
    public interface Handler {

        /**
         * Returns the response, or throws an exception that {@link ProblemTranslator}
         * translates.
         */
        ServerResponse handle(ApiRequest request);

    }

}
