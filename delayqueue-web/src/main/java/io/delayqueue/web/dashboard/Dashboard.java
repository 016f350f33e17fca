package io.delayqueue.web.dashboard;

import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;

import io.delayqueue.MessageLimits;
import io.delayqueue.web.api.ActivityRoutes;
import io.delayqueue.web.api.DeadLetterRoutes;
import io.delayqueue.web.api.HistoryRoutes;
import io.delayqueue.web.api.MessageRoutes;
import io.delayqueue.web.api.NodeRoutes;
import io.delayqueue.web.api.QueueRoutes;
import io.delayqueue.web.api.RestoreRoutes;
import io.delayqueue.web.api.ScheduleRoutes;
import io.delayqueue.web.api.SearchRoutes;
import io.delayqueue.web.http.AccessControl;
import io.delayqueue.web.http.RouteTable;
import io.delayqueue.web.http.ApiSettings;
import io.delayqueue.web.http.AuditPublisher;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.Problem;
import io.delayqueue.web.http.Problem.Kind;
import io.delayqueue.web.http.RequestDispatcher;
import io.delayqueue.web.http.Responses;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.context.ApplicationEventPublisher;
import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.util.ServletRequestPathUtils;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * Serves the dashboard: its files at its path and JSON below {@code data}, mostly by
 * routes of the API. The page uses relative addresses only, so it works under a context
 * path and behind a proxy that changes paths. Thread-safe.
 */
public final class Dashboard {

    private static final int MAX_BODY = 1 << 20;

    private static final int MAX_PAGE = 100;

    private final String path;

    /** The pattern of all files, for observations of requests. */
    private final PathPattern page;

    private final AccessControl access;

    private final DashboardFiles files = new DashboardFiles();

    private final RequestDispatcher data;

    /**
     * Creates the dashboard.
     * @param path its path, without a slash at the end
     * @param access checks permissions
     * @param services its collaborators
     * @param events publishes each change
     */
    public Dashboard(String path, AccessControl access, DashboardServices services, ApplicationEventPublisher events) {
        this.path = path;
        this.page = PathPatternParser.defaultInstance.parse(path + "/{*file}");
        this.access = access;
        RouteTable routes = new RouteTable(path + "/data");
        AuditPublisher audit = new AuditPublisher(events::publishEvent);
        // First, as it has more of a queue than the API.
        DashboardRoutes own = new DashboardRoutes(services);
        own.addTo(routes);
        ScheduleBoardRoutes schedules = new ScheduleBoardRoutes(services, own::queues);
        schedules.addTo(routes);
        new ScheduleRoutes(services.operations(), new AuditPublisher((event) -> {
            schedules.readAgain();
            events.publishEvent(event);
        })).addTo(routes);
        new QueueRoutes(services.operations(), services.inspector(), audit).addTo(routes);
        new NodeRoutes(services.inspector(), services.nodes(), audit).addTo(routes);
        new SearchRoutes(services.inspector(), services.history()).addTo(routes);
        new ActivityRoutes(services.inspector()).addTo(routes);
        new MessageRoutes(services.operations(), audit).addTo(routes);
        new HistoryRoutes(services.history(), audit).addTo(routes);
        new RestoreRoutes(services.journal(), audit).addTo(routes);
        new DeadLetterRoutes(services.operations(), services.inspector(), audit).addTo(routes);
        ApiSettings settings = new ApiSettings(path, MAX_BODY, MAX_PAGE, MAX_PAGE, MessageLimits.MAX_DURATION,
                Duration.ZERO, MessageLimits.MAX_DURATION);
        this.data = new RequestDispatcher(settings, access, routes);
    }

    /**
     * Returns a route for its files and data; other paths below it are left to others.
     */
    public RouterFunction<ServerResponse> router() {
        return RouterFunctions.route((request) -> {
            String path = within(request.servletRequest());
            if (isData(path)) {
                this.data.recordPattern(request);
            }
            else if (isPage(path)) {
                request.attributes().put(RouterFunctions.MATCHING_PATTERN_ATTRIBUTE, this.page);
            }
            return isData(path) || isPage(path);
        }, this::handle);
    }

    /**
     * Returns whether the filter chain of the dashboard applies: to all below its path.
     * @param request one that has not been dispatched yet
     */
    public boolean answers(HttpServletRequest request) {
        String requested = within(request);
        return requested.equals(this.path) || requested.startsWith(this.path + "/");
    }

    /** Returns the authorities of which the caller needs one. */
    public Set<Authority> authorities(HttpServletRequest request) {
        return isData(within(request)) ? this.data.authorities(request) : Set.of(Authority.VIEW);
    }

    /**
     * Writes the response to a caller without the needed authority: a page for a person,
     * JSON for a script.
     */
    public void deny(HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (!isData(within(request)) && DenialPage.isWanted(request)) {
            DenialPage.write(response, this.access.denialReason(Set.of(Authority.VIEW)),
                    this.access.principal(request));
            return;
        }
        response.setStatus(HttpServletResponse.SC_FORBIDDEN);
        response.setContentType("application/problem+json");
        response.getOutputStream().write(this.data.denialReason(request));
    }

    private static String within(HttpServletRequest request) {
        return ServletRequestPathUtils.parseAndCache(request).pathWithinApplication().value();
    }

    private boolean isPage(String requested) {
        return requested.equals(this.path) || (requested.startsWith(this.path + "/")
                && this.files.has(requested.substring(this.path.length() + 1)));
    }

    private boolean isData(String requested) {
        return requested.startsWith(this.path + "/data/");
    }

    private ServerResponse handle(ServerRequest request) {
        String requested = request.requestPath().pathWithinApplication().value();
        if (isData(requested)) {
            return this.data.handle(request);
        }
        if (!this.access.permits(request.servletRequest(), Authority.VIEW)) {
            return ServerResponse.status(HttpServletResponse.SC_FORBIDDEN).build((servlet, response) -> {
                deny(servlet, response);
                return null;
            });
        }
        if (!request.method().equals(HttpMethod.GET) && !request.method().equals(HttpMethod.HEAD)) {
            return Responses.problem(new Problem(Kind.METHOD, "Use one of GET, HEAD"), "GET, HEAD");
        }
        if (requested.equals(this.path)) {
            return withSlash();
        }
        return Objects.requireNonNull(this.files.find(requested.substring(this.path.length() + 1), request));
    }

    /** Redirects to a relative address, which is correct behind any proxy. */
    private ServerResponse withSlash() {
        String name = this.path.substring(this.path.lastIndexOf('/') + 1);
        return ServerResponse.status(308).header("Location", name + "/").header("Cache-Control", "no-store").build();
    }

}
