package io.delayqueue.autoconfigure;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import io.delayqueue.store.SimilarNames;

import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Finds properties below {@code delayqueue.queues} and the other maps of settings by name
 * that name no setting, which Boot ignores. The usual cause is a name with a dot but
 * without brackets: the text after the first dot is then taken as the setting.
 */
final class UnboundSettingsCheck {

    private static final List<UnboundSettingsCheck> ALL = List.of(
            new UnboundSettingsCheck("delayqueue.queues", "queue", "queues", DelayQueueProperties.Queue.class),
            new UnboundSettingsCheck("delayqueue.forward", "queue", "forwards", ForwardSettings.class),
            new UnboundSettingsCheck("delayqueue.intake.kafka", "topic", "intakes from Kafka",
                    IntakeSettings.Topic.class),
            new UnboundSettingsCheck("delayqueue.intake.rabbit", "queue", "intakes from RabbitMQ",
                    IntakeSettings.Source.class));

    private final ConfigurationPropertyName prefix;

    private final String named;

    private final String owners;

    /** The names of the settings as they are written in properties. */
    private final Set<String> settings;

    /**
     * Creates a check of one map.
     * @param prefix the property of the map
     * @param named the kind of its names
     * @param owners what has the settings, in the plural
     * @param settings the record of the settings of one name
     */
    private UnboundSettingsCheck(String prefix, String named, String owners, Class<?> settings) {
        this.prefix = ConfigurationPropertyName.of(prefix);
        this.named = named;
        this.owners = owners;
        this.settings = settings(settings, "").collect(Collectors.toUnmodifiableSet());
    }

    /** Returns a description of each, only once per name that was probably meant. */
    static Collection<String> in(Environment environment) {
        TreeMap<String, String> problems = new TreeMap<>();
        StreamSupport.stream(ConfigurationPropertySources.get(environment).spliterator(), false)
            // Its names are ambiguous, and Boot tries several interpretations.
            .filter((source) -> !(source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource))
            .filter(IterableConfigurationPropertySource.class::isInstance)
            .flatMap((source) -> ((IterableConfigurationPropertySource) source).stream())
            .flatMap((name) -> ALL.stream().flatMap((check) -> check.problem(name).stream()))
            .forEach((problem) -> problems.putIfAbsent(problem.about, problem.text));
        return problems.values();
    }

    private Optional<Problem> problem(ConfigurationPropertyName property) {
        int first = this.prefix.getNumberOfElements();
        if (!this.prefix.isAncestorOf(property) || property.getNumberOfElements() <= first + 1) {
            return Optional.empty();
        }
        List<String> elements = new ArrayList<>();
        for (int i = first; i < property.getNumberOfElements(); i++) {
            elements.add(property.getElement(i, Form.ORIGINAL));
        }
        if (setting(elements, 1).isPresent()) {
            return Optional.empty();
        }
        return Optional.of(IntStream.range(2, elements.size())
            .filter((begin) -> setting(elements, begin).isPresent())
            .mapToObj((begin) -> withoutBrackets(property, elements, begin))
            .findFirst()
            .orElseGet(() -> unknown(property, String.join(".", elements.subList(1, elements.size())))));
    }

    private Optional<String> setting(List<String> elements, int begin) {
        String written = plain(String.join(".", elements.subList(begin, elements.size())));
        return this.settings.stream().filter((setting) -> plain(setting).equals(written)).findFirst();
    }

    private static String plain(String setting) {
        return setting.toLowerCase(Locale.ROOT).replaceAll("[^a-z.]", "");
    }

    private Problem withoutBrackets(ConfigurationPropertyName property, List<String> elements, int begin) {
        String name = String.join(".", elements.subList(0, begin));
        return new Problem(this.prefix + "." + name,
                ("Property '%s' is ignored, as a %s name with a dot needs brackets: write "
                        + "%s[%s].%s, or \"[%s]\" with the quotes in YAML")
                    .formatted(property, this.named, this.prefix, name, setting(elements, begin).orElseThrow(), name));
    }

    private Problem unknown(ConfigurationPropertyName property, String written) {
        String meant = SimilarNames.among(this.settings, written)
            .map((setting) -> ". Did you mean '%s'?".formatted(setting))
            .orElse("");
        return new Problem(property.toString(), "Property '%s' is ignored, as %s have no setting '%s'%s"
            .formatted(property, this.owners, written, meant));
    }

    private static Stream<String> settings(Class<?> type, String prefix) {
        return Arrays.stream(type.getRecordComponents()).flatMap((component) -> settings(component, prefix));
    }

    private static Stream<String> settings(RecordComponent component, String prefix) {
        String name = prefix + DataObjectPropertyName.toDashedForm(component.getName());
        return component.getType().isRecord() ? settings(component.getType(), name + ".") : Stream.of(name);
    }

    /**
     * Describes a property that is ignored.
     *
     * @param about identifies descriptions of the same problem
     * @param text the description
     */
    private record Problem(String about, String text) {
    }

}
