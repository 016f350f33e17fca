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

import org.springframework.http.HttpMethod;

/**
 * Serves the OpenAPI description. Its server is relative to its own address, and
 * therefore holds behind a proxy and with any path of the application.
 */
final class OpenApiRoutes {

    void addTo(RouteTable routes) {
        routes.add(HttpMethod.GET, "/openapi.json", Set.of(Authority.values()), (request) -> {
            request.onlyQuery();
            return Responses.json(description());
        });
    }

    private static JsonNode description() {
        try (InputStream file = Objects.requireNonNull(OpenApiRoutes.class.getResourceAsStream("openapi.json"))) {
            return Json.read(file.readAllBytes());
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

}
