package io.delayqueue.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.core.type.classreading.CachingMetadataReaderFactory;
import org.springframework.core.type.classreading.MetadataReaderFactory;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that Boot finds the auto-configurations and failure analyzers of all modules on
 * the class path, and no others.
 */
public class RegistrationTests {

    @Test
    void bootKnowsAllAutoConfigurations() throws Exception {
        List<String> listed = ImportCandidates.load(AutoConfiguration.class, null)
            .getCandidates()
            .stream()
            .filter((name) -> name.startsWith("io.delayqueue."))
            .toList();

        assertThat(listed).containsExactlyInAnyOrderElementsOf(
                classes().filter((type) -> type.isAnnotationPresent(AutoConfiguration.class))
                    .map(Class::getName)
                    .toList());
    }

    @Test
    void bootKnowsAllFailureAnalyzers() throws Exception {
        assertThat(factories(FailureAnalyzer.class)).containsExactlyInAnyOrderElementsOf(
                classes().filter(FailureAnalyzer.class::isAssignableFrom).map(Class::getName).toList());
    }

    private static List<String> factories(Class<?> type) throws IOException {
        List<String> own = new ArrayList<>();
        for (Resource file : new PathMatchingResourcePatternResolver()
            .getResources("classpath*:META-INF/spring.factories")) {
            try (InputStream content = file.getInputStream()) {
                Properties factories = new Properties();
                factories.load(content);
                String names = factories.getProperty(type.getName(), "");
                Stream.of(names.split(",")).filter((name) -> name.startsWith("io.delayqueue.")).forEach(own::add);
            }
        }
        return own;
    }

    private static Stream<Class<?>> classes() throws IOException {
        MetadataReaderFactory reader = new CachingMetadataReaderFactory();
        Resource[] classes = new PathMatchingResourcePatternResolver()
            .getResources("classpath*:io/delayqueue/**/autoconfigure/*.class");
        assertThat(classes).isNotEmpty();
        return Arrays.stream(classes).map((file) -> {
            try {
                String name = reader.getMetadataReader(file).getClassMetadata().getClassName();
                return ClassUtils.resolveClassName(name, null);
            }
            catch (IOException ex) {
                throw new IllegalStateException(ex);
            }
        });
    }

}
