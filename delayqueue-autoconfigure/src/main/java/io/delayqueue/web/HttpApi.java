package io.delayqueue.web;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.delayqueue.DelayQueueInspector;
import io.delayqueue.web.Problem.Kind;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.context.ApplicationEventPublisher;
import org.springframework.http.server.PathContainer;
import org.springframework.web.servlet.function.RequestPredicates;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * Answers every request below the path of the API: finds the route, asks whether the
 * caller may, has it done, and turns whatever goes wrong into problem details.
 * Thread-safe.
 */
public final class HttpApi {

    private final ApiSettings settings;

    private final Access access;

    private final ApiRoutes routes;

    /**
     * Makes the API.
     * @param settings its limits
     * @param access who may do what
     * @param ports what it serves
     * @param events is told of every change
     */
    public HttpApi(ApiSettings settings, Access access, ApiPorts ports, ApplicationEventPublisher events) {
        this.settings = settings;
        this.access = access;
        this.routes = new ApiRoutes(settings.path());
        Audit audit = new Audit(events);
        new DescriptionRoutes().addTo(this.routes);
        DelayQueueInspector inspector = ports.inspector();
        if (inspector != null) {
            new QueueRoutes(ports.operations(), inspector, audit).addTo(this.routes);
        }
        new SendRoutes(ports.operations(), audit).addTo(this.routes);
        new MessageRoutes(ports.operations(), audit).addTo(this.routes);
        new ConsumeRoutes(ports.consumers(), audit).addTo(this.routes);
        new DeadLetterRoutes(ports.operations(), audit).addTo(this.routes);
    }

    /** All of the API, for Spring MVC. */
    public RouterFunction<ServerResponse> router() {
        return RouterFunctions.route(RequestPredicates.path(this.settings.path() + "/**"), this::handle);
    }

    /**
     * Whether it is for the API to answer.
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
        ApiRoutes.Match match = this.routes.match(request.getMethod(),
                ServletRequestPathUtils.parseAndCache(request).pathWithinApplication());
        return (match != null) ? match.route().authorities() : Set.of(Authority.values());
    }

    List<ApiRoute> routes() {
        return this.routes.all();
    }

    /** What somebody is told who is not known, or may not do what was asked for. */
    public static byte[] refusal(boolean known) {
        Problem problem = known ? new Problem(Kind.FORBIDDEN, "It needs an authority that the caller does not have")
                : new Problem(Kind.UNAUTHENTICATED, "Use the credentials of somebody who may do this");
        return Json.bytes(problem.toJson());
    }

    private ServerResponse handle(ServerRequest request) {
        try {
            return answer(request.servletRequest(), request.requestPath().pathWithinApplication());
        }
        catch (RuntimeException ex) {
            return Answer.problem(Problems.of(ex));
        }
    }

    private ServerResponse answer(HttpServletRequest request, PathContainer path) {
        ApiRoutes.Match match = this.routes.match(request.getMethod(), path);
        Stream<Authority> needed = (match != null) ? match.route().authorities().stream()
                : Stream.of(Authority.values());
        if (needed.noneMatch((authority) -> this.access.permits(request, authority))) {
            return Answer.problem(new Problem(Kind.FORBIDDEN, "It needs an authority that the caller does not have"));
        }
        if (match == null) {
            return absent(this.routes.methods(path));
        }
        if (!CrossSiteGuard.permits(request)) {
            return Answer.problem(new Problem(Kind.CROSS_SITE, "Only pages of this site may change anything"));
        }
        return match.route().handler().handle(new ApiRequest(request, match.variables(), this.access, this.settings));
    }

    private static ServerResponse absent(Set<String> methods) {
        if (methods.isEmpty()) {
            return Answer.problem(new Problem(Kind.NO_ROUTE, "openapi.json lists what there is"));
        }
        String allow = String.join(", ", methods);
        return Answer.problem(new Problem(Kind.METHOD, "Use one of " + allow), allow);
    }

}
