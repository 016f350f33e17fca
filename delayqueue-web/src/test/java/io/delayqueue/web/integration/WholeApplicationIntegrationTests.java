package io.delayqueue.web.integration;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.ChildJvm;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.SpringApplicationAotProcessor;
import org.springframework.context.aot.AbstractAotProcessor.Settings;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs an application with all features in a JVM of its own: with the code generated
 * ahead of time, as for a native image, and with fewer jars than this module has.
 */
@Tag("server")
class WholeApplicationIntegrationTests {

    /** The jars with validation and with Boot's auto-configuration of Jackson. */
    private static final Pattern OPTIONAL = Pattern
        .compile("(spring-boot-(starter-)?(validation|jackson)|hibernate-validator|jakarta\\.validation-api)-\\d.*");

    private final RedisServer redis = RedisServer.shared(RedisBinary.REDIS_7_0);

    private final HttpClient client = HttpClient.newHttpClient();

    @AfterEach
    void clean() {
        List<String> keys = this.redis.commands().keys("whole:*");
        if (!keys.isEmpty()) {
            this.redis.commands().del(keys.toArray(String[]::new));
        }
    }

    @Test
    void listenersSendsDashboardApiAndEndpointWorkInAnApplicationProcessedAheadOfTime(@TempDir Path generated)
            throws Exception {
        process(generated);

        assertWorks(Stream.concat(Stream.of(generated.resolve("classes"), generated.resolve("resources")), classPath()),
                true);
    }

    @Test
    void theyWorkWithoutValidationAndWithoutSpringBootsJackson() throws Exception {
        List<Path> less = classPath().filter((jar) -> !OPTIONAL.matcher(jar.getFileName().toString()).matches())
            .toList();

        assertThat(classPath().count() - less.size()).as("jars left out").isEqualTo(6);
        assertWorks(less.stream(), false);
    }

    private static Stream<Path> classPath() {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator)).map(Path::of);
    }

    private void assertWorks(Stream<Path> classPath, boolean aheadOfTime) throws Exception {
        try (ChildJvm child = ChildJvm.start(classPath, List.of("-Dspring.aot.enabled=" + aheadOfTime),
                WholeApplication.class, Applications.at(this.redis.port(), "delayqueue.namespace=whole"))) {
            List<String> news = List.of(child.next(), child.next(), child.next());
            assertThat(news).contains("HANDLING Order[number=1, text=first]",
                    "HANDLING second Order[number=2, text=second]");
            String[] ready = news.stream()
                .filter((line) -> line.startsWith("READY"))
                .findFirst()
                .orElseThrow()
                .split(" ");
            assertThat(ready[1]).as("runs with generated artifacts").isEqualTo(String.valueOf(aheadOfTime));
            assertServes("http://127.0.0.1:" + ready[2], child);
        }
    }

    private static void process(Path generated) throws IOException {
        Path sources = generated.resolve("sources");
        Path classes = Files.createDirectories(generated.resolve("classes"));
        new SpringApplicationAotProcessor(WholeApplication.class,
                Settings.builder()
                    .sourceOutput(sources)
                    .resourceOutput(generated.resolve("resources"))
                    .classOutput(classes)
                    .groupId("io.delayqueue")
                    .artifactId("whole")
                    .build(),
                new String[0])
            .process();
        List<File> files = new ArrayList<>();
        try (Stream<Path> all = Files.walk(sources)) {
            all.filter(Files::isRegularFile).map(Path::toFile).forEach(files::add);
        }
        assertThat(files).isNotEmpty();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            assertThat(compiler.getTask(null, manager, null, List.of("-proc:none", "-nowarn", "-cp",
                    classes + File.pathSeparator + System.getProperty("java.class.path"), "-d", classes.toString()),
                    null, manager.getJavaFileObjectsFromFiles(files))
                .call()).isTrue();
        }
    }

    private void assertServes(String server, ChildJvm child) throws Exception {
        assertThat(get(server + "/delayqueue/").body()).contains("<title>");
        assertThat(get(server + "/delayqueue/main.js").statusCode()).isEqualTo(200);
        assertThat(get(server + "/delayqueue/lib/lit-html.js").statusCode()).isEqualTo(200);
        assertThat(json(get(server + "/delayqueue/api/v1/openapi.json")).path("openapi").asString()).startsWith("3.");
        assertThat(json(get(server + "/actuator/delayqueue")).path("listeners").get(0).path("id").asString())
            .isEqualTo("handler.handle");
        assertThat(json(get(server + "/actuator/delayqueue/queues/orders")).path("counts").path("queue").asString())
            .isEqualTo("orders");
        Applications.await(
                () -> assertThat(json(get(server + "/actuator/health")).at("/components/delayqueue/status").asString())
                    .isEqualTo("UP"));

        HttpResponse<String> sent = this.client.send(
                request(server + "/delayqueue/api/v1/queues/orders/messages").header("Content-Type", "application/json")
                    .POST(BodyPublishers.ofString("{\"payload\":{\"number\":3,\"text\":\"http\"}}"))
                    .build(),
                BodyHandlers.ofString());
        assertThat(sent.statusCode()).isEqualTo(201);
        assertThat(child.next()).isEqualTo("HANDLING Order[number=3, text=http]");
    }

    private HttpResponse<String> get(String uri) throws Exception {
        return this.client.send(request(uri).build(), BodyHandlers.ofString());
    }

    private static HttpRequest.Builder request(String uri) {
        return HttpRequest.newBuilder(URI.create(uri))
            .header("Authorization", "Basic " + Base64.getEncoder().encodeToString("operator:secret".getBytes()));
    }

    private static JsonNode json(HttpResponse<String> response) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return JsonMapper.builder().build().readTree(response.body());
    }

}
