package io.delayqueue.test;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compiles the examples of the documentation that use the test kit, and compares the
 * names of its properties.
 */
@Tag("long")
class TestingPageTests {

    private static final Pattern JAVA = Pattern.compile("(?ms)^```java\\n(.*?)^```$");

    private static final Pattern PROPERTY = Pattern.compile("(?<![\\w./])delayqueue\\.test\\.[a-z-]+");

    private static final String PRELUDE = """
            import static org.assertj.core.api.Assertions.assertThat;
            import static org.mockito.Mockito.verify;

            import io.delayqueue.*;
            import io.delayqueue.test.*;
            import io.delayqueue.test.autoconfigure.*;
            import java.time.Duration;
            import org.junit.jupiter.api.Test;
            import org.springframework.beans.factory.annotation.Autowired;
            import org.springframework.test.context.bean.override.mockito.MockitoBean;

            class Example {

                record OrderTimeout(long orderId) {
                }

                interface OrderService {
                    void cancel(long orderId);
                }

                interface Account {
                    int balance();
                }

                class OrderListener {
                }

                class OrderTimeouts {
                    void placed(long id) {
                    }
                }

                Account account;

                DelayQueueOperations queue;

                DelayQueueTester tester;

                %s
            }
            """;

    @Test
    void examplesCompile(@TempDir Path classes) throws IOException {
        List<JavaFileObject> sources = new ArrayList<>();
        for (String page : List.of("testing.md", "getting-started.md")) {
            JAVA.matcher(Files.readString(Path.of("../docs", page)))
                .results()
                .map((example) -> example.group(1))
                .filter((example) -> page.equals("testing.md") || example.contains("@DelayQueueTest"))
                .forEach((example) -> sources.add(source(sources.size(), PRELUDE.formatted(example))));
        }
        assertThat(sources).hasSizeGreaterThan(3);
        for (JavaFileObject source : sources) {
            assertThat(problems(source, classes).getDiagnostics()).isEmpty();
        }
    }

    @Test
    void namesEachPropertyAndNoOther() throws IOException {
        JsonNode metadata = JsonMapper.shared()
            .readTree(getClass().getResourceAsStream("/META-INF/spring-configuration-metadata.json"));
        List<String> properties = metadata.get("properties")
            .valueStream()
            .map((property) -> property.get("name").asString())
            .toList();

        Set<String> named = PROPERTY.matcher(Files.readString(Path.of("../docs/testing.md")))
            .results()
            .map(MatchResult::group)
            .collect(Collectors.toSet());
        assertThat(named).containsExactlyInAnyOrderElementsOf(properties);
    }

    private static DiagnosticCollector<JavaFileObject> problems(JavaFileObject source, Path classes) {
        DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        ToolProvider.getSystemJavaCompiler()
            .getTask(null, null, problems, List.of("-proc:none", "-cp", classPath, "-d", classes.toString()), null,
                    List.of(source))
            .call();
        return problems;
    }

    private static JavaFileObject source(int number, String code) {
        return new SimpleJavaFileObject(URI.create("memory:///" + number + ".java"), JavaFileObject.Kind.SOURCE) {

            @Override
            public boolean isNameCompatible(String simpleName, Kind kind) {
                return true;
            }

            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return code;
            }

        };
    }

}
