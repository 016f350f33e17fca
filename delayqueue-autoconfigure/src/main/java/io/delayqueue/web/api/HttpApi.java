package io.delayqueue.web.api;

import java.util.List;
import java.util.Set;

import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.web.http.AccessControl;
import io.delayqueue.web.http.ApiRoute;
import io.delayqueue.web.http.ApiRoutes;
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

/** Answers every request below the path of the API. Thread-safe. */
public final class HttpApi {

    private final ApiSettings settings;

    private final ApiRoutes routes;

    private final RequestDispatcher dispatch;

    /**
     * Makes the API.
     * @param settings its limits
     * @param access who may do what
     * @param ports what it serves
     * @param events is told of every change, on the thread of the request; of what
     * consumers do, their herald tells
     */
    public HttpApi(ApiSettings settings, AccessControl access, ApiServices ports, ApplicationEventPublisher events) {
        this.settings = settings;
        ApiRoutes routes = new ApiRoutes(settings.path());
        AuditPublisher audit = new AuditPublisher(events::publishEvent);
        new OpenApiRoutes().addTo(routes);
        DelayQueueInspector inspector = ports.inspector();
        if (inspector != null) {
            new QueueRoutes(ports.operations(), inspector, audit).addTo(routes);
        }
        new SendRoutes(ports.operations(), audit).addTo(routes);
        new MessageRoutes(ports.operations(), audit).addTo(routes);
        new ConsumeRoutes(ports.consumers(), ports.consumed()).addTo(routes);
        DeadLetterBulkOperations sweeps = new DeadLetterBulkOperations(ports.operations(), inspector, audit);
        new DeadLetterRoutes(ports.operations(), audit, sweeps).addTo(routes);
        this.routes = routes;
        this.dispatch = new RequestDispatcher(settings, access, routes);
    }

    /** All of the API, for Spring MVC. */
    public RouterFunction<ServerResponse> router() {
        return RouterFunctions.route((request) -> answers(request.servletRequest()), this.dispatch::handle);
    }

    /**
     * Whether it is for the API to answer. Asked by the filter chain and by Spring MVC,
     * so that no other spelling of the path reaches the one and not the other.
     * @param request one that has not been dispatched yet
     */
    public boolean answers(HttpServletRequest request) {
        String path = ServletRequestPathUtils.parseAndCache(request).pathWithinApplication().value();
        return path.equals(this.settings.path()) || path.startsWith(this.settings.path() + "/");
    }

    /**
     * The authorities of which a request needs one. Of what does not exist, any: who has
     * one is told so, and nobody else.
     */
    public Set<Authority> authorities(HttpServletRequest request) {
        return this.dispatch.authorities(request);
    }

    public List<ApiRoute> routes() {
        return this.routes.all();
    }

    /** What somebody is told who is not known. */
    public static byte[] unknown() {
        return Json
            .bytes(new Problem(Kind.UNAUTHENTICATED, "Use the credentials of somebody who may do this").toJson());
    }

    /** What somebody is told who has none of the authorities that a request needs. */
    public byte[] refusal(HttpServletRequest request) {
        return this.dispatch.refusal(request);
    }

}
