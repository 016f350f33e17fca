package io.delayqueue.web.http;

import java.util.Set;

import io.delayqueue.web.http.Problem.Kind;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.http.server.PathContainer;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * Dispatches requests to routes: finds the route, checks the authority of the caller,
 * calls the handler, and translates failures to problem details. Thread-safe.
 */
public final class RequestDispatcher {

    private final ApiSettings settings;

    private final AccessControl access;

    private final RouteTable routes;

    private final RequestFailureLog failures = new RequestFailureLog(System::nanoTime);

    public RequestDispatcher(ApiSettings settings, AccessControl access, RouteTable routes) {
        this.settings = settings;
        this.access = access;
        this.routes = routes;
    }

    /**
     * Returns the authorities of which the caller needs one. For an unknown path any will
     * do: callers with none cannot find out which paths exist.
     */
    public Set<Authority> authorities(HttpServletRequest request) {
        RouteTable.Match match = this.routes.match(request.getMethod(),
                ServletRequestPathUtils.parseAndCache(request).pathWithinApplication());
        return (match != null) ? match.route().authorities() : Set.of(Authority.values());
    }

    /** Returns the response body for a caller without these authorities. */
    public byte[] denialReason(HttpServletRequest request) {
        return Json.bytes(new Problem(Kind.FORBIDDEN, this.access.denialReason(authorities(request))).toJson());
    }

    /**
     * Records the pattern of the route, which observations of requests then have as their
     * {@code uri}.
     */
    public void recordPattern(ServerRequest request) {
        RouteTable.Match match = this.routes.match(request.method().name(),
                request.requestPath().pathWithinApplication());
        if (match != null) {
            request.attributes().put(RouterFunctions.MATCHING_PATTERN_ATTRIBUTE, match.route().pattern());
        }
    }

    public ServerResponse handle(ServerRequest request) {
        try {
            return answer(request.servletRequest(), request.requestPath().pathWithinApplication());
        }
        catch (RuntimeException ex) {
            return Responses.problem(ex, (failure) -> this.failures.log(request.servletRequest(), failure));
        }
    }

    private ServerResponse answer(HttpServletRequest request, PathContainer path) {
        RouteTable.Match match = this.routes.match(request.getMethod(), path);
        Set<Authority> needed = (match != null) ? match.route().authorities() : Set.of(Authority.values());
        if (needed.stream().noneMatch((authority) -> this.access.permits(request, authority))) {
            return Responses.problem(new Problem(Kind.FORBIDDEN, this.access.denialReason(needed)));
        }
        if (match == null) {
            return absent(this.routes.methods(path));
        }
        if (!CrossSiteGuard.permits(request)) {
            return Responses.problem(new Problem(Kind.CROSS_SITE, "Only pages of this site may change anything"));
        }
        return match.route()
            .handler()
            .handle(new ApiRequest(request, match.variables(), this.access, this.settings, this.failures));
    }

    private ServerResponse absent(Set<String> methods) {
        if (methods.isEmpty()) {
            return Responses.problem(new Problem(Kind.NO_ROUTE,
                    "No route matches this path: all routes are below " + this.routes.base()));
        }
        String allow = String.join(", ", methods);
        return Responses.problem(new Problem(Kind.METHOD, "Use one of " + allow), allow);
    }

}
