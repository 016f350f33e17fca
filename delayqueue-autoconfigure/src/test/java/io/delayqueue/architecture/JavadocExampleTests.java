package io.delayqueue.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that the Javadoc of each public type that applications use has an example, or a
 * link to a type with one.
 */
class JavadocExampleTests {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    /** The directories of the packages of the API. */
    private static final Set<String> PACKAGES = Set.of("delayqueue-autoconfigure/src/main/java/io/delayqueue",
            "delayqueue-autoconfigure/src/main/java/io/delayqueue/admin",
            "delayqueue-autoconfigure/src/main/java/io/delayqueue/forward",
            "delayqueue-autoconfigure/src/main/java/io/delayqueue/journal",
            "delayqueue-autoconfigure/src/main/java/io/delayqueue/observation",
            "delayqueue-autoconfigure/src/main/java/io/delayqueue/template",
            "delayqueue-test/src/main/java/io/delayqueue/test",
            "delayqueue-test/src/main/java/io/delayqueue/test/autoconfigure");

    /** Types that are public for other packages of the library. */
    private static final Set<String> INTERNAL = Set.of("BeanForwarderFactory", "CauseMasking",
            "ChannelForwarderFactory", "DelayQueueTesterProperties", "EmbeddedRedisAutoConfiguration", "ExpressionRoot",
            "ForwardRegistrar", "ForwarderFactory", "ForwardingHandler", "HandleMeterSuppressor",
            "HandlerTransactionExecutor", "HistoryFactory", "HistorySettings", "InspectorTemplate", "Journal",
            "JournalDatabase", "JournalFactory", "JournalSettings", "JournalStatus", "KafkaForwarderFactory",
            "LinkingTracingObservationHandler", "MessageObservations", "NodeOperationsTemplate",
            "RabbitForwarderFactory", "TableNames", "TemplateSettings");

    private static final Pattern TYPE = Pattern
        .compile("(?m)^public (?:[a-z-]+ )*(?:class|interface|record|enum|@interface) (\\w+)");

    private static final Pattern LINK = Pattern.compile("@(?:see|link|linkplain)\\s+(?:[a-z]+\\.)*([A-Z]\\w*)");

    @Test
    void eachTypeHasAnExampleOrALinkToOne() throws IOException {
        Map<String, String> comments = new TreeMap<>();
        Set<String> examples = new TreeSet<>();
        for (String directory : PACKAGES) {
            try (Stream<Path> files = Files.list(ROOT.resolve(directory))) {
                files.filter((file) -> file.toString().endsWith(".java")).forEach((file) -> {
                    String source = read(file);
                    Matcher type = TYPE.matcher(source);
                    if (type.find()) {
                        int begin = source.lastIndexOf("\n/**", type.start());
                        comments.put(type.group(1), (begin < 0) ? "" : source.substring(begin, type.start()));
                        if (source.contains("<pre class=\"code\">")) {
                            examples.add(type.group(1));
                        }
                    }
                });
            }
        }
        assertThat(examples).hasSizeGreaterThan(20);

        Set<String> missing = new TreeSet<>(comments.keySet());
        missing.removeAll(examples);
        missing.removeIf((type) -> LINK.matcher(comments.get(type))
            .results()
            .anyMatch((link) -> examples.contains(link.group(1))));
        assertThat(missing).isEqualTo(new TreeSet<>(INTERNAL));
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

}
