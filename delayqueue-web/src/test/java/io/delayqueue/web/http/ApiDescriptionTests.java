package io.delayqueue.web.http;

import java.net.URI;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import io.delayqueue.web.ApiDescription;
import io.delayqueue.web.api.HttpApi;
import io.delayqueue.web.consume.ApiServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that the description lists exactly the existing routes. {@link ApiServer} checks
 * the responses to the requests of all other tests.
 */
@Tag("server")
class ApiDescriptionTests {

    private final ApiDescription description = new ApiDescription();

    @Test
    void describesEachRoute() {
        Set<String> routes = ApiServer.shared()
            .bean(HttpApi.class)
            .routes()
            .stream()
            .map(ApiDescriptionTests::name)
            .collect(Collectors.toSet());

        assertThat(this.description.operations()).containsExactlyInAnyOrderElementsOf(routes);
    }

    @Test
    void namesTheAuthorityOfEachRoute() {
        assertThat(ApiServer.shared().bean(HttpApi.class).routes()).allSatisfy((route) -> {
            String documented = this.description.authorities(name(route));
            if (route.authorities().size() == 1) {
                assertThat(documented).startsWith("Needs " + route.authorities().iterator().next().text());
            }
            else {
                assertThat(documented).isEqualTo("Needs any of the authorities.");
                assertThat(route.authorities()).containsAll(Arrays.asList(Authority.values()));
            }
        });
    }

    @Test
    void itsServerIsRelativeToItsOwnAddress() {
        String server = ApiServer.shared().get(ApiServer.PATH + "/openapi.json").json().at("/servers/0/url").asString();

        for (String site : List.of("http://127.0.0.1:8080", "https://example.com/behind/a/proxy")) {
            assertThat(URI.create(site + ApiServer.PATH + "/openapi.json").resolve(server))
                .hasToString(site + ApiServer.PATH);
        }
    }

    @Test
    void examplesMatchTheirSchemas() {
        assertThat(this.description.checkExamples()).contains("Message", "ClaimedMessage", "Problem")
            .containsAll(this.description.schemasOfSuccess());
    }

    @Test
    void enumsHaveATypeAndOperationsDeclaredTags() {
        assertThat(this.description.enums()).isNotEmpty()
            .allMatch((node) -> node.path("type").asString("").equals("string"));
        assertThat(this.description.tags().get("used")).isEqualTo(this.description.tags().get("declared"));
    }

    /** Those of the occurrences of schedules begin in this way. */
    @Test
    void excludesIdsAndGroupsThatCannotBeSent() {
        String send = "POST /queues/{queue}/messages";
        for (String field : List.of("id", "group")) {
            String reserved = "{\"payload\": 1, \"%s\": \"@1\"}".formatted(field);
            assertThat(ApiServer.shared().post(ApiServer.PATH + "/queues/reserved/messages", reserved).status())
                .isEqualTo(400);
            assertThat(this.description.requestErrors(send, reserved)).as(field).isNotEmpty();
            assertThat(this.description.requestErrors(send, reserved.replace("@1", "a@1"))).as(field).isEmpty();
        }
    }

    private static String name(ApiRoute route) {
        return route.method() + " " + route.pattern().getPatternString().substring(ApiServer.PATH.length());
    }

}
