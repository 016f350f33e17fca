package io.delayqueue.web.api;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.Set;

import io.delayqueue.web.http.RouteTable;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.Json;
import io.delayqueue.web.http.Responses;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.HttpMethod;

/** Serves the OpenAPI description. */
final class OpenApiRoutes {

    void addTo(RouteTable routes) {
        routes.add(HttpMethod.GET, "/openapi.json", Set.of(Authority.values()), (request) -> {
            request.onlyQuery();
            String path = request.servlet().getContextPath() + request.settings().path() + HttpApi.VERSION;
            return Responses.json(description(path));
        });
    }

    /** Returns the description with the configured path as its server. */
    private static JsonNode description(String path) {
        try (InputStream file = Objects.requireNonNull(OpenApiRoutes.class.getResourceAsStream("openapi.json"))) {
            ObjectNode json = (ObjectNode) Json.read(file.readAllBytes());
            json.putArray("servers").addObject().put("url", path);
            return json;
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

}
