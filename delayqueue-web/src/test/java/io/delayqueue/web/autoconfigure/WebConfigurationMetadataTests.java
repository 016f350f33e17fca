package io.delayqueue.web.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.architecture.DocumentationTests;
import io.delayqueue.autoconfigure.ConfigurationDocsTests;
import io.delayqueue.autoconfigure.ConfigurationMetadataTests;
import io.delayqueue.fixtures.application.ConfigurationMetadata;
import io.delayqueue.fixtures.application.ConfigurationMetadata.Property;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks the metadata of the properties of the HTTP API and the dashboard, and that the
 * pages name no others.
 */
@Tag("long")
class WebConfigurationMetadataTests extends ConfigurationMetadataTests {

    @Override
    protected Map<String, Class<?>> prefixes() {
        return Map.of("web.", DelayQueueWebProperties.class);
    }

    @Test
    void propertiesAreDocumented() {
        ConfigurationDocsTests.assertDocumented((property) -> property.startsWith("delayqueue.web."));
    }

    Stream<Path> pages() throws IOException {
        return DocumentationTests.pages();
    }

    @ParameterizedTest
    @MethodSource("pages")
    void namesOnlyPropertiesThatExist(Path page) {
        Set<String> known = ConfigurationMetadata.properties().stream().map(Property::name).collect(Collectors.toSet());

        assertThat(DocumentationTests.properties(page).filter((name) -> name.startsWith("delayqueue.web")))
            .allSatisfy((name) -> assertThat(known).anyMatch((property) -> (property + ".").startsWith(name + ".")));
    }

}
