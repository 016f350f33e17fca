package io.delayqueue.web.http;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.delayqueue.architecture.DocumentationExamplesTests;
import io.delayqueue.fixtures.application.DocumentationBlocks;
import io.delayqueue.fixtures.application.DocumentationBlocks.Block;
import io.delayqueue.web.ApiDescription;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that docs/http-api.md names the routes that exist, and that its examples and
 * those of docs/dashboard.md are valid.
 */
class HttpApiDocsTests {

    private static final String PAGE = "docs/http-api.md";

    private static final Set<String> WEB_PAGES = Set.of(PAGE, "docs/dashboard.md");

    private static final String FRAME = """
            import io.delayqueue.web.api.DelayQueueApiSecurityCustomizer;
            import io.delayqueue.web.dashboard.DelayQueueDashboardSecurityCustomizer;
            import org.springframework.context.annotation.Bean;
            import org.springframework.security.oauth2.server.resource.authentication.*;
            import org.springframework.security.web.authentication.LoginUrlAuthenticationEntryPoint;

            class Example {

                %s
            }
            """;

    /** One or several methods, and a path in which dots stand for that of a queue. */
    private static final Pattern ROUTE = Pattern
        .compile("`((?:[A-Z]+`, `)*[A-Z]+) ((?:\\.\\.\\.)?/[a-z{][a-zA-Z{}/.-]*)[^`]*`");

    private static final Pattern BODY = Pattern.compile(" -d '([^']*)'");

    private static final Pattern PATH = Pattern.compile("(?:\\$QUEUE|/api/v1/queues/[a-z-]+)(/[a-z/-]+)");

    private final ApiDescription description = new ApiDescription();

    @Test
    void routesOfThePageExistAndAllAreNamed() throws IOException {
        String page = Files.readString(Path.of("..", PAGE));
        Set<String> named = new TreeSet<>();
        ROUTE.matcher(page)
            .results()
            .forEach((route) -> Stream.of(route.group(1).split("`, `"))
                .forEach((method) -> named.add(method + " " + path(route.group(2)))));
        Set<String> real = this.description.operations();

        assertThat(named).hasSizeGreaterThan(20).isSubsetOf(real);
        assertThat(real).allSatisfy((operation) -> assertThat(page)
            .contains(operation.substring(operation.lastIndexOf('/') + 1).replace("{queue}", "queues")));
    }

    private static String path(String named) {
        return named.startsWith("...")
                ? named.replace("...", "").replaceFirst("^(?!/queues/\\{queue})", "/queues/{queue}") : named;
    }

    @Test
    void requestsAndResponsesMatchTheDescription() {
        String operation = "";
        int requests = 0;
        List<Block> blocks = Stream.of("shell", "json")
            .flatMap((language) -> DocumentationBlocks.in(language).stream())
            .filter((block) -> block.page().equals(PAGE))
            .sorted((one, other) -> Long.compare(one.line(), other.line()))
            .toList();
        for (Block block : blocks) {
            if (block.language().equals("json")) {
                assertThat(this.description.responseErrors(operation, block.code())).as(block.toString()).isEmpty();
                continue;
            }
            for (String call : block.code()
                .replace("\\\n", " ")
                .lines()
                .filter((line) -> line.startsWith("curl "))
                .toList()) {
                operation = operation(call);
                requests++;
                assertThat(this.description.operations()).as(block.toString()).contains(operation);
                for (MatchResult body : BODY.matcher(call).results().toList()) {
                    assertThat(this.description.requestErrors(operation, body.group(1))).as(call).isEmpty();
                }
            }
        }
        assertThat(requests).isGreaterThan(7);
    }

    private static String operation(String call) {
        MatchResult path = PATH.matcher(call).results().findFirst().orElseThrow(() -> new AssertionError(call));
        String method = call.contains(" -X ") ? call.replaceFirst(".* -X ([A-Z]+).*", "$1")
                : BODY.matcher(call).find() ? "POST" : "GET";
        return method + " /queues/{queue}" + path.group(1);
    }

    @Test
    @Tag("long")
    void javaCompiles(@TempDir Path classes) {
        List<Block> blocks = DocumentationBlocks.in("java")
            .stream()
            .filter((block) -> WEB_PAGES.contains(block.page()))
            .toList();
        assertThat(blocks).hasSizeGreaterThan(3);
        assertThat(DocumentationBlocks.compile(blocks, FRAME, classes, List.of())).isEmpty();
    }

    @Test
    void propertiesOfTheServerExist() {
        assertThat(DocumentationExamplesTests
            .unknownToBoot((name) -> name.startsWith("server.") || name.startsWith("spring.security.user."))).isEmpty();
    }

}
