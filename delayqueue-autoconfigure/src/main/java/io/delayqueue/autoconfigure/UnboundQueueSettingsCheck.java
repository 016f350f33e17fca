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
 * Finds properties below {@code delayqueue.queues} that name no setting of a queue, which
 * Boot ignores. The usual cause is a queue name with a dot but without brackets: the text
 * after the first dot is then taken as the setting.
 */
final class UnboundQueueSettingsCheck {

    private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("delayqueue.queues");

    /** The names of the settings as they are written in properties. */
    private static final Set<String> SETTINGS = settings(DelayQueueProperties.Queue.class, "")
        .collect(Collectors.toUnmodifiableSet());

    private UnboundQueueSettingsCheck() {
    }

    /** Returns a description of each, only once per queue that was probably meant. */
    static Collection<String> in(Environment environment) {
        TreeMap<String, String> problems = new TreeMap<>();
        StreamSupport.stream(ConfigurationPropertySources.get(environment).spliterator(), false)
            // Its names are ambiguous, and Boot tries several interpretations.
            .filter((source) -> !(source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource))
            .filter(IterableConfigurationPropertySource.class::isInstance)
            .flatMap((source) -> ((IterableConfigurationPropertySource) source).stream())
            .filter((name) -> PREFIX.isAncestorOf(name)
                    && name.getNumberOfElements() > PREFIX.getNumberOfElements() + 1)
            .forEach((name) -> problem(name).ifPresent((problem) -> problems.putIfAbsent(problem.about, problem.text)));
        return problems.values();
    }

    private static Optional<Problem> problem(ConfigurationPropertyName name) {
        List<String> elements = new ArrayList<>();
        for (int i = PREFIX.getNumberOfElements(); i < name.getNumberOfElements(); i++) {
            elements.add(name.getElement(i, Form.ORIGINAL));
        }
        if (setting(elements, 1).isPresent()) {
            return Optional.empty();
        }
        return Optional.of(IntStream.range(2, elements.size())
            .filter((begin) -> setting(elements, begin).isPresent())
            .mapToObj((begin) -> withoutBrackets(name, elements, begin))
            .findFirst()
            .orElseGet(() -> unknown(name, String.join(".", elements.subList(1, elements.size())))));
    }

    private static Optional<String> setting(List<String> elements, int begin) {
        String written = plain(String.join(".", elements.subList(begin, elements.size())));
        return SETTINGS.stream().filter((setting) -> plain(setting).equals(written)).findFirst();
    }

    private static String plain(String setting) {
        return setting.toLowerCase(Locale.ROOT).replaceAll("[^a-z.]", "");
    }

    private static Problem withoutBrackets(ConfigurationPropertyName name, List<String> elements, int begin) {
        String queue = String.join(".", elements.subList(0, begin));
        return new Problem(queue,
                ("Property '%s' is ignored, as a queue name with a dot needs brackets: write "
                        + "delayqueue.queues[%s].%s, or \"[%s]\" with the quotes in YAML")
                    .formatted(name, queue, setting(elements, begin).orElseThrow(), queue));
    }

    private static Problem unknown(ConfigurationPropertyName name, String written) {
        String meant = SimilarNames.among(SETTINGS, written)
            .map((setting) -> ". Did you mean '%s'?".formatted(setting))
            .orElse("");
        return new Problem(name.toString(),
                "Property '%s' is ignored, as queues have no setting '%s'%s".formatted(name, written, meant));
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
