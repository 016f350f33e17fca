package io.delayqueue.web.http;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpMethod;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * Holds all routes, each with the authorities that it requires; each class
 * {@code ...Routes} adds its own. A path that is not in the table cannot be requested.
 * Thread-safe once filled.
 */
public final class RouteTable {

    private final String base;

    private final List<ApiRoute> routes = new ArrayList<>();

    public RouteTable(String base) {
        this.base = base;
    }

    public void add(HttpMethod method, String path, Authority authority, ApiRoute.Handler handler) {
        add(method, path, Set.of(authority), handler);
    }

    public void add(HttpMethod method, String path, Set<Authority> authorities, ApiRoute.Handler handler) {
        this.routes
            .add(new ApiRoute(method, PathPatternParser.defaultInstance.parse(this.base + path), authorities, handler));
    }

    /** Returns the path below which all routes are. */
    String base() {
        return this.base;
    }

    public List<ApiRoute> all() {
        return List.copyOf(this.routes);
    }

    /**
     * Returns the route of a request, of several the first one added; {@code null} if
     * there is none.
     */
    @Nullable Match match(String method, PathContainer path) {
        String requested = HttpMethod.HEAD.matches(method) ? HttpMethod.GET.name() : method;
        for (ApiRoute route : this.routes) {
            if (route.method().matches(requested)) {
                PathPattern.PathMatchInfo info = route.pattern().matchAndExtract(path);
                if (info != null) {
                    return new Match(route, info.getUriVariables());
                }
            }
        }
        return null;
    }

    /** Returns the methods that a path supports; empty if there is no such path. */
    Set<String> methods(PathContainer path) {
        Set<String> methods = new TreeSet<>();
        this.routes.stream()
            .filter((route) -> route.pattern().matches(path))
            .forEach((route) -> methods.add(route.method().name()));
        return methods;
    }

    /**
     * Holds the route of a request.
     *
     * @param route the route
     * @param variables the path variables
     */
    record Match(ApiRoute route, Map<String, String> variables) {
    }

}
