package io.delayqueue.autoconfigure;

import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.delayqueue.fixtures.application.ConfigurationDocs;
import io.delayqueue.fixtures.application.ConfigurationMetadata;
import io.delayqueue.fixtures.application.ConfigurationMetadata.Property;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.BeanUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks what an editor shows of the properties of a module, and that each of them has an
 * effect.
 */
@TestInstance(Lifecycle.PER_CLASS)
@Tag("long")
public class ConfigurationMetadataTests {

    /** Those that are read by conditions only. */
    private static final Set<String> READ_BY_CONDITIONS = Set.of("store", "enabled");

    private static final JavaClasses main = new ClassFileImporter()
        .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
        .withImportOption((location) -> !location.contains("-tests.jar"))
        .importPackages("io.delayqueue");

    @Test
    void everyPropertyIsDescribed() {
        assertThat(ConfigurationMetadata.properties()).hasSizeGreaterThan(10)
            .allSatisfy((property) -> assertThat(property.description()).as(property.name())
                .isNotBlank()
                .endsWith(".")
                .doesNotStartWithIgnoringCase("the ")
                .doesNotStartWithIgnoringCase("a "));
    }

    @Test
    void everySwitchHasADescriptionOfItsEffect() {
        assertThat(ConfigurationMetadata.properties().stream().filter((one) -> one.type().endsWith("Boolean")))
            .isNotEmpty()
            .allSatisfy((one) -> assertThat(one.description()).as(one.name()).startsWith("Whether "));
    }

    /** Returns the classes of settings by the prefix of their properties. */
    protected Map<String, Class<?>> prefixes() {
        return Map.of("", DelayQueueProperties.class, "metrics.", DelayQueueMetricsProperties.class, "observation.",
                DelayQueueObservationProperties.class, "health.", DelayQueueHealthProperties.class, "journal.jdbc.",
                DelayQueueJournalProperties.class);
    }

    Stream<Class<?>> settings() {
        return prefixes().values()
            .stream()
            .flatMap((type) -> Stream.concat(Stream.of(type), Arrays.stream(type.getDeclaredClasses())))
            .filter(Class::isRecord);
    }

    @ParameterizedTest
    @MethodSource("settings")
    void everySettingHasAUser(Class<?> settings) {
        assertThat(settings.getRecordComponents())
            .filteredOn((component) -> !READ_BY_CONDITIONS.contains(component.getName()))
            .allMatch((component) -> isUsed(main.get(settings), component));
    }

    /** The record itself reads its components too, in its constructor and accessors. */
    private static boolean isUsed(JavaClass settings, RecordComponent component) {
        String name = component.getName();
        return Stream
            .concat(settings.getField(name).getAccessesToSelf().stream(),
                    settings.getMethod(name).getAccessesToSelf().stream())
            .map(JavaAccess::getOrigin)
            .anyMatch((origin) -> !isAccessor(origin, settings, name) && !origin.isConstructor());
    }

    private static boolean isAccessor(JavaCodeUnit origin, JavaClass settings, String name) {
        return origin.getOwner().equals(settings) && origin.getName().equals(name);
    }

    @Test
    void noPropertyIsKnownToEditorsOnly() {
        assertThat(ConfigurationMetadata.properties().stream().map(Property::name)).isNotEmpty()
            .filteredOn((name) -> !name.equals("delayqueue.enabled"))
            .allMatch((name) -> isKnown(name.substring("delayqueue.".length())));
    }

    private boolean isKnown(String name) {
        return prefixes().entrySet()
            .stream()
            .anyMatch((settings) -> name.startsWith(settings.getKey())
                    && has(settings.getValue(), name.substring(settings.getKey().length())));
    }

    private static boolean has(Class<?> settings, String name) {
        String[] parts = name.split("\\.", 2);
        if (!settings.isRecord()) {
            return Arrays.stream(BeanUtils.getPropertyDescriptors(settings))
                .anyMatch((property) -> property.getWriteMethod() != null
                        && ConfigurationDocs.kebab(property.getName()).equals(name));
        }
        return Arrays.stream(settings.getRecordComponents())
            .filter((component) -> ConfigurationDocs.kebab(component.getName()).equals(parts[0]))
            .anyMatch((component) -> parts.length == 1 || has(component.getType(), parts[1]));
    }

}
