package io.delayqueue.web;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.delayqueue.web.consume.ApiServer.Reply;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPatternParser;

import static org.assertj.core.api.Assertions.assertThat;

/** Checks responses against openapi.json. */
public final class ApiDescription {

    private static final Set<String> METHODS = Set.of("get", "put", "post", "delete", "patch");

    private static final String REFERENCE = "#/components/schemas/";

    private final JsonNode json;

    private final Map<JsonNode, Schema> compiled = new ConcurrentHashMap<>();

    private final SchemaRegistry schemas = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);

    public ApiDescription() {
        this.json = JsonMapper.shared().readTree(ApiDescription.class.getResourceAsStream("api/openapi.json"));
    }

    /** Returns the method and path of each operation. */
    public Set<String> operations() {
        Set<String> operations = new TreeSet<>();
        this.json.path("paths")
            .properties()
            .forEach((path) -> path.getValue()
                .propertyNames()
                .stream()
                .filter(METHODS::contains)
                .forEach((method) -> operations.add(method.toUpperCase() + " " + path.getKey())));
        return operations;
    }

    public String authorities(String operation) {
        return described(operation).path("description").asString();
    }

    /** Fails if the response is not described. */
    public void check(String method, String path, Reply reply) {
        String type = reply.header("Content-Type");
        JsonNode operation = operation(method, path);
        if (operation.isMissingNode()) {
            assertThat(reply.status()).as("%s %s", method, path).isGreaterThanOrEqualTo(400);
            checkSchema(this.json.path("components").path("schemas").path("Problem"), reply);
            return;
        }
        JsonNode answer = resolved(operation.path("responses").path(String.valueOf(reply.status())));
        assertThat(answer.isMissingNode()).as("%s %s answers %d: %s", method, path, reply.status(), reply.body())
            .isFalse();
        checkHeaders(answer.path("headers"), reply);
        JsonNode content = answer.path("content");
        if (content.isMissingNode()) {
            assertThat(reply.body()).isEmpty();
            return;
        }
        assertThat(content.propertyNames()).containsExactly(type);
        checkSchema(content.path(type).path("schema"), reply);
        assertThat(reply.header("X-Content-Type-Options")).isEqualTo("nosniff");
        assertThat(reply.header("Content-Security-Policy")).isEqualTo("default-src 'none'; frame-ancestors 'none'");
        assertThat(reply.header("Cache-Control")).contains("no-store");
    }

    private static void checkHeaders(JsonNode described, Reply reply) {
        described.properties()
            .stream()
            .filter((header) -> header.getValue().path("required").booleanValue(false))
            .forEach((header) -> assertThat(reply.header(header.getKey())).as(header.getKey()).isNotEmpty());
        for (String header : List.of("Location", "Retry-After")) {
            assertThat(reply.header(header).isEmpty() || described.has(header)).as("describes " + header).isTrue();
        }
    }

    /** Returns the names of the schemas that have examples, after checking each. */
    public Set<String> checkExamples() {
        Set<String> names = new TreeSet<>();
        this.json.path("components").path("schemas").properties().forEach((schema) -> {
            for (JsonNode example : schema.getValue().path("examples")) {
                assertThat(compile(schema.getValue()).validate(example)).as(schema.getKey()).isEmpty();
                names.add(schema.getKey());
            }
        });
        return names;
    }

    /** Returns the names of the schemas of bodies that successful requests return. */
    public Set<String> schemasOfSuccess() {
        Set<String> names = new TreeSet<>();
        this.json.path("paths")
            .forEach((path) -> path.forEach((operation) -> operation.path("responses")
                .properties()
                .stream()
                .filter((response) -> response.getKey().startsWith("2"))
                .map((response) -> resolved(response.getValue()).at("/content/application~1json/schema/$ref")
                    .asString(""))
                .filter((schema) -> !schema.isEmpty())
                .forEach((schema) -> names.add(schema.substring(schema.lastIndexOf('/') + 1)))));
        return names;
    }

    /** Returns all nodes that have an {@code enum}. */
    public List<JsonNode> enums() {
        return this.json.findParents("enum");
    }

    /** Returns the tags of each operation, and those that are declared. */
    public Map<String, Set<String>> tags() {
        Set<String> used = new TreeSet<>();
        this.json.path("paths")
            .forEach((path) -> path
                .forEach((operation) -> operation.path("tags").forEach((tag) -> used.add(tag.asString()))));
        return Map.of("used", used, "declared", new TreeSet<>(this.json.path("tags").findValuesAsString("name")));
    }

    /** Returns what is wrong with the body of a request. */
    public List<Error> requestErrors(String operation, String body) {
        return errors(described(operation).path("requestBody"), body);
    }

    /** Returns what is wrong with the body of a response with status 200. */
    public List<Error> responseErrors(String operation, String body) {
        return errors(resolved(described(operation).path("responses").path("200")), body);
    }

    private JsonNode described(String operation) {
        String[] parts = operation.split(" ");
        return this.json.path("paths").path(parts[1]).path(parts[0].toLowerCase());
    }

    private List<Error> errors(JsonNode described, String body) {
        JsonNode schema = described.path("content").path("application/json").path("schema");
        assertThat(schema.isMissingNode()).as("no body is described").isFalse();
        return compile(schema).validate(JsonMapper.shared().readTree(body));
    }

    private JsonNode operation(String method, String path) {
        PathContainer requested = PathContainer.parsePath(path.replaceAll("\\?.*", ""));
        for (Map.Entry<String, JsonNode> entry : this.json.path("paths").properties()) {
            if (PathPatternParser.defaultInstance.parse(entry.getKey()).matches(requested)) {
                return entry.getValue().path(method.toLowerCase());
            }
        }
        return this.json.path("nothing");
    }

    private JsonNode resolved(JsonNode node) {
        String reference = node.path("$ref").asString("");
        return reference.isEmpty() ? node : this.json.at(reference.substring(1));
    }

    private void checkSchema(JsonNode schema, Reply reply) {
        Schema compiled = this.compiled.computeIfAbsent(schema, this::compile);
        List<Error> errors = compiled.validate(reply.json());
        assertThat(errors).as(reply.body()).isEmpty();
    }

    private Schema compile(JsonNode schema) {
        ObjectNode root = JsonMapper.shared().createObjectNode();
        root.set("$defs", this.json.path("components").path("schemas"));
        root.putArray("allOf").add(schema);
        return this.schemas.getSchema(JsonMapper.shared().readTree(root.toString().replace(REFERENCE, "#/$defs/")));
    }

}
