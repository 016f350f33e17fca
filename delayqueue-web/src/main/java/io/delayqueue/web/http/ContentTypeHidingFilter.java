package io.delayqueue.web.http;

import java.io.IOException;
import java.util.Collections;
import java.util.Enumeration;
import java.util.function.Predicate;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Hides {@code Content-Type} headers other than JSON from Spring MVC, which would reject
 * an invalid one before the API checks the caller. The API rejects them itself, after it
 * has checked the caller. Runs after the security filters. Thread-safe.
 */
public final class ContentTypeHidingFilter extends OncePerRequestFilter {

    private static final String HIDDEN = ContentTypeHidingFilter.class.getName() + ".hidden";

    private final Predicate<HttpServletRequest> requests;

    /**
     * Creates the filter.
     * @param requests matches those of the API
     */
    public ContentTypeHidingFilter(Predicate<HttpServletRequest> requests) {
        this.requests = requests;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        String type = request.getContentType();
        if (type == null || isJson(type) || !this.requests.test(request)) {
            chain.doFilter(request, response);
            return;
        }
        request.setAttribute(HIDDEN, type);
        chain.doFilter(new Untyped(request), response);
    }

    /** Returns the original content type, whether hidden or not. */
    static @Nullable String typeOf(HttpServletRequest request) {
        return (request.getAttribute(HIDDEN) instanceof String hidden) ? hidden : request.getContentType();
    }

    static boolean isJson(String type) {
        try {
            return MediaType.APPLICATION_JSON.equalsTypeAndSubtype(MediaType.parseMediaType(type));
        }
        catch (InvalidMediaTypeException ex) {
            return false;
        }
    }

    /** Hides the content type of a request. */
    private static final class Untyped extends HttpServletRequestWrapper {

        Untyped(HttpServletRequest request) {
            super(request);
        }

        @Override
        public @Nullable String getContentType() {
            return null;
        }

        @Override
        public @Nullable String getHeader(String name) {
            return isHidden(name) ? null : super.getHeader(name);
        }

        @Override
        public Enumeration<String> getHeaders(String name) {
            return isHidden(name) ? Collections.emptyEnumeration() : super.getHeaders(name);
        }

        @Override
        public Enumeration<String> getHeaderNames() {
            return Collections.enumeration(
                    Collections.list(super.getHeaderNames()).stream().filter((name) -> !isHidden(name)).toList());
        }

        private static boolean isHidden(String name) {
            return HttpHeaders.CONTENT_TYPE.equalsIgnoreCase(name);
        }

    }

}
