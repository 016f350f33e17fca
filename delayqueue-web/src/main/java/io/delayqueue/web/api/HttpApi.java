package io.delayqueue.web.api;

import java.util.List;
import java.util.Set;

import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.web.http.AccessControl;
import io.delayqueue.web.http.ApiRoute;
import io.delayqueue.web.http.RouteTable;
import io.delayqueue.web.http.ApiSettings;
import io.delayqueue.web.http.AuditPublisher;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.Json;
import io.delayqueue.web.http.Problem;
import io.delayqueue.web.http.Problem.Kind;
import io.delayqueue.web.http.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.context.ApplicationEventPublisher;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.util.ServletRequestPathUtils;

/** Handles every request below the path of the API. Thread-safe. */
public final class HttpApi {

    /** The path of the routes, below that of the API. */
    public static final String VERSION = "/v1";

    private final ApiSettings settings;

    private final RouteTable routes;

    private final RequestDispatcher dispatch;

    /**
     * Creates the API.
     * @param settings its limits
     * @param access checks permissions
     * @param services the beans that the routes call
     * @param events publishes changes, on the request thread; consumers have their own
     * publisher
     */
    public HttpApi(ApiSettings settings, AccessControl access, ApiServices services, ApplicationEventPublisher events) {
        this.settings = settings;
        RouteTable routes = new RouteTable(settings.path() + VERSION);
        AuditPublisher audit = new AuditPublisher(events::publishEvent);
        new OpenApiRoutes().addTo(routes);
        DelayQueueInspector inspector = services.inspector();
        if (inspector != null) {
            new QueueRoutes(services.operations(), inspector, audit).addTo(routes);
            new NodeRoutes(inspector, services.nodes(), audit).addTo(routes);
            new SearchRoutes(inspector, services.history()).addTo(routes);
            new ActivityRoutes(inspector).addTo(routes);
        }
        new SendRoutes(services.operations(), audit).addTo(routes);
        new MessageRoutes(services.operations(), audit).addTo(routes);
        new HistoryRoutes(services.history(), audit).addTo(routes);
        new RestoreRoutes(services.journal(), audit).addTo(routes);
        new ScheduleRoutes(services.operations(), audit).addTo(routes);
        new SchedulePutRoutes(services.operations(), audit).addTo(routes);
        new ConsumeRoutes(services.consumers(), services.consumed()).addTo(routes);
        new DeadLetterRoutes(services.operations(), inspector, audit).addTo(routes);
        this.routes = routes;
        this.dispatch = new RequestDispatcher(settings, access, routes);
    }

    /** Returns the whole API as one route of Spring MVC. */
    public RouterFunction<ServerResponse> router() {
        return RouterFunctions.route((request) -> {
            boolean mine = answers(request.servletRequest());
            if (mine) {
                this.dispatch.recordPattern(request);
            }
            return mine;
        }, this.dispatch::handle);
    }

    /**
     * Returns whether the request is for the API. The filter chain and Spring MVC both
     * use this method, so that no spelling of a path bypasses one of them.
     * @param request one that has not been dispatched yet
     */
    public boolean answers(HttpServletRequest request) {
        String path = ServletRequestPathUtils.parseAndCache(request).pathWithinApplication().value();
        return path.equals(this.settings.path()) || path.startsWith(this.settings.path() + "/");
    }

    /**
     * Returns the authorities of which the caller needs one. For an unknown path any will
     * do: callers with none cannot find out which paths exist.
     */
    public Set<Authority> authorities(HttpServletRequest request) {
        return this.dispatch.authorities(request);
    }

    public List<ApiRoute> routes() {
        return this.routes.all();
    }

    /** Returns the response body for an unauthenticated caller. */
    public static byte[] unknown() {
        return Json.bytes(new Problem(Kind.UNAUTHENTICATED,
                "Send the credentials of a user with one of the authorities of the API")
            .toJson());
    }

    /** Returns the response body for a caller without the required authorities. */
    public byte[] denialReason(HttpServletRequest request) {
        return this.dispatch.denialReason(request);
    }

}
