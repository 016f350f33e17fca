package io.delayqueue.web.autoconfigure;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.architecture.DocumentationTests;
import io.delayqueue.autoconfigure.ConfigurationDocsTests;
import io.delayqueue.autoconfigure.ConfigurationMetadataTests;
import io.delayqueue.fixtures.application.ConfigurationMetadata;
import io.delayqueue.fixtures.application.ConfigurationMetadata.Property;
import io.delayqueue.fixtures.application.DocumentationBlocks;
import io.delayqueue.fixtures.application.DocumentationBlocks.Block;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

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

    Stream<Path> pages() {
        return DocumentationTests.pagesOfThisVersion();
    }

    @ParameterizedTest
    @MethodSource("pages")
    void namesOnlyPropertiesThatExist(Path page) {
        Set<String> known = ConfigurationMetadata.properties().stream().map(Property::name).collect(Collectors.toSet());

        assertThat(DocumentationTests.properties(page).filter((name) -> name.startsWith("delayqueue.web")))
            .allSatisfy((name) -> assertThat(known).anyMatch((property) -> (property + ".").startsWith(name + ".")));
    }

    @Test
    void yamlOfThePagesCanBeBound() {
        List<Block> blocks = DocumentationBlocks.in("yaml")
            .stream()
            .filter((block) -> block.code().startsWith("delayqueue.web"))
            .toList();
        assertThat(blocks).isNotEmpty()
            .allSatisfy((block) -> new Binder(new MapConfigurationPropertySource(block.properties())).bindOrCreate(
                    "delayqueue.web", Bindable.of(DelayQueueWebProperties.class),
                    new NoUnboundElementsBindHandler(BindHandler.DEFAULT)));
    }

}
