package io.delayqueue.autoconfigure;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.Backoff;
import io.delayqueue.DelayedListener;
import io.delayqueue.fixtures.application.ConfigurationDocs;
import io.delayqueue.fixtures.application.ConfigurationMetadata;
import io.delayqueue.fixtures.application.ConfigurationMetadata.Property;
import org.junit.jupiter.api.Test;

import org.springframework.util.ClassUtils;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that docs/configuration.md lists exactly the existing settings, with their
 * defaults.
 */
public class ConfigurationDocsTests {

    private static final String PROPERTIES = "| Property | Type | Default | Meaning | Rule |";

    private static final String QUEUE_PROPERTIES = "| Property | Type | Default |";

    private static final String FORWARD_PROPERTIES = "| Property of a forward | Type | Default | Meaning | Rule |";

    private static final String INTAKE_PROPERTIES = "| Property of an intake | Type | Default | Meaning | Rule |";

    /** Properties with the settings of queues and topics by name, in tables below. */
    private static final Set<String> MAPS = Set.of("delayqueue.queues", "delayqueue.forward", "delayqueue.intake.kafka",
            "delayqueue.intake.rabbit");

    private static final String ATTRIBUTES = "| Attribute | Stands before |";

    private static final Pattern CODE = Pattern.compile("`([^`]+)`");

    private static final Map<Class<?>, String> TYPES = Map.of(int.class, "integer", Boolean.class, "boolean",
            boolean.class, "boolean", String.class, "text", Duration.class, "duration", DataSize.class, "size",
            Integer.class, "integer", Double.class, "number");

    @Test
    void propertiesAreThoseOfTheMetadata() {
        assertDocumented((property) -> !property.startsWith("delayqueue.web."));
    }

    /** Asserts that the page has the properties of this module, and no others of it. */
    public static void assertDocumented(Predicate<String> ofThisModule) {
        List<List<String>> documented = ConfigurationDocs.table(PROPERTIES)
            .stream()
            .map((cells) -> cells.subList(0, 3))
            .filter((cells) -> ofThisModule.test(cells.get(0).replace("`", "")))
            .toList();

        assertThat(documented).containsExactlyInAnyOrderElementsOf(ConfigurationMetadata.properties()
            .stream()
            .filter((property) -> !MAPS.contains(property.name()))
            .map(ConfigurationDocsTests::row)
            .toList());
    }

    private static List<String> row(Property property) {
        String type = property.type().equals("java.util.Set<java.lang.String>") ? "list of texts"
                : type(ClassUtils.resolveClassName(property.type(), null));
        return List.of(code(property.name()), type,
                (property.defaultValue() != null) ? code(property.defaultValue()) : "");
    }

    @Test
    void everyPropertyIsExplained() {
        assertThat(ConfigurationDocs.table(PROPERTIES)).allMatch((cells) -> cells.get(3).endsWith("."));
    }

    @Test
    void propertiesOfAQueueAreThoseOfItsRecord() {
        assertThat(ConfigurationDocs.table(QUEUE_PROPERTIES))
            .containsExactlyInAnyOrderElementsOf(components(DelayQueueProperties.Queue.class, "")
                .map((component) -> List.of(code("delayqueue.queues.<name>." + component.name()),
                        type(component.type()), code(defaultOf(component.name()))))
                .toList());
    }

    @Test
    void propertiesOfAForwardAreThoseOfItsRecord() {
        assertThat(ConfigurationDocs.table(FORWARD_PROPERTIES).stream().map((cells) -> cells.subList(0, 2)))
            .containsExactlyInAnyOrderElementsOf(components(ForwardSettings.class, "")
                .map((component) -> List.of(code("delayqueue.forward.<name>." + component.name()),
                        type(component.type())))
                .toList());
    }

    @Test
    void propertiesOfAnIntakeAreThoseOfItsRecords() {
        assertThat(ConfigurationDocs.table(INTAKE_PROPERTIES).stream().map((cells) -> cells.subList(0, 2)))
            .containsExactlyInAnyOrderElementsOf(Stream
                .concat(components(IntakeSettings.Topic.class, "kafka.<topic>."),
                        components(IntakeSettings.Source.class, "rabbit.<queue>."))
                .map((component) -> List.of(code("delayqueue.intake." + component.name()), type(component.type())))
                .toList());
    }

    /**
     * The number of partitions is not for all queues, and the journal not of listeners.
     */
    private static String defaultOf(String property) {
        return switch (property) {
            case "partitions" -> "1";
            case "journal-mode" -> "delayqueue.journal.mode";
            default -> "delayqueue.listener." + property;
        };
    }

    private static Stream<Setting> components(Class<?> type, String prefix) {
        return Arrays.stream(type.getRecordComponents())
            .flatMap((component) -> component.getType().isRecord()
                    ? components(component.getType(), prefix + ConfigurationDocs.kebab(component.getName()) + ".")
                    : Stream
                        .of(new Setting(prefix + ConfigurationDocs.kebab(component.getName()), component.getType())));
    }

    @Test
    void attributesAreThoseOfTheAnnotation() {
        List<String> documented = ConfigurationDocs.table(ATTRIBUTES)
            .stream()
            .flatMap((cells) -> codes(cells.get(0)))
            .toList();

        assertThat(documented).containsExactlyInAnyOrderElementsOf(
                Stream
                    .concat(attributes(DelayedListener.class).filter((name) -> !name.equals("backoff")),
                            attributes(Backoff.class).map((name) -> "backoff." + name))
                    .toList());
    }

    @Test
    void attributesTakePrecedenceOverProperties() {
        List<String> settings = components(DelayQueueProperties.Queue.class, "").map(Setting::name).toList();

        assertThat(ConfigurationDocs.table(ATTRIBUTES)).allSatisfy((cells) -> {
            List<String> attributes = codes(cells.get(0)).map(ConfigurationDocs::kebab).toList();
            List<String> properties = (cells.size() > 1) ? codes(cells.get(1)).toList() : List.of();
            assertThat(properties).isEqualTo(attributes.stream().filter(settings::contains).toList());
        });
    }

    /** Also outside the tables nothing is named that does not exist. */
    @Test
    void noOtherPropertyIsNamed() {
        List<String> known = Stream.of(PROPERTIES, QUEUE_PROPERTIES, FORWARD_PROPERTIES, INTAKE_PROPERTIES)
            .flatMap((table) -> ConfigurationDocs.table(table).stream())
            .flatMap((cells) -> codes(cells.get(0)))
            .toList();

        assertThat(ConfigurationDocs.lines()
            .stream()
            .flatMap(ConfigurationDocsTests::codes)
            .filter((code) -> code.startsWith("delayqueue."))
            .map((code) -> code.replaceAll("=.*", "")
                .replaceAll("queues\\[[^]]*]", "queues.<name>")
                .replaceAll("forward\\[[^]]*]", "forward.<name>"))
            .filter((name) -> !name.endsWith(".*"))).isNotEmpty().isSubsetOf(known);
    }

    private static Stream<String> attributes(Class<?> annotation) {
        return Arrays.stream(annotation.getDeclaredMethods()).map(Method::getName);
    }

    private static Stream<String> codes(String text) {
        return CODE.matcher(text).results().map((match) -> match.group(1));
    }

    private static String code(String text) {
        return "`" + text + "`";
    }

    private static String type(Class<?> type) {
        if (type.isEnum()) {
            return Arrays.stream(type.getEnumConstants())
                .map((constant) -> code(((Enum<?>) constant).name().toLowerCase(Locale.ROOT).replace('_', '-')))
                .collect(Collectors.joining(", "));
        }
        return Objects.requireNonNull(TYPES.get(type), () -> "No word for " + type);
    }

    private record Setting(String name, Class<?> type) {
    }

}
