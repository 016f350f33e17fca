package io.delayqueue.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.stream.StreamSupport;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.core.io.FileSystemResource;

/** Reads the configuration metadata that the build generates for editors. */
final class ConfigurationMetadata {

    private ConfigurationMetadata() {
    }

    static List<Property> properties() {
        // By its file: other libraries have one of the same name.
        try (InputStream json = new FileSystemResource("target/classes/META-INF/spring-configuration-metadata.json")
            .getInputStream()) {
            return StreamSupport.stream(JsonMapper.shared().readTree(json).get("properties").spliterator(), false)
                .map(Property::of)
                // Those of Actuator for our parts are explained by Boot.
                .filter((property) -> property.name().startsWith("delayqueue."))
                .toList();
        }
        catch (IOException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** One property. */
    record Property(String name, String type, @Nullable String description, @Nullable String defaultValue) {

        static Property of(JsonNode json) {
            return new Property(json.get("name").asString(), json.get("type").asString(),
                    json.path("description").asString(null), json.path("defaultValue").asString(null));
        }

    }

}
