package io.delayqueue.autoconfigure;

import java.util.Objects;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;

/**
 * Returns the text that Boot's registered failure analyzers show for a failed start.
 */
final class FailureTexts {

    private FailureTexts() {
    }

    static FailureAnalysis of(Throwable failure) {
        ArgumentResolver arguments = ArgumentResolver.of(BeanFactory.class, new DefaultListableBeanFactory())
            .and(Environment.class, new StandardEnvironment());
        return SpringFactoriesLoader.forDefaultResourceLocation()
            // Some need classes that are not here.
            .load(FailureAnalyzer.class, arguments, (type, name, problem) -> {
            })
            .stream()
            .map((analyzer) -> analyzer.analyze(failure))
            .filter(Objects::nonNull)
            .findFirst()
            .orElseThrow(() -> new AssertionError("Nobody explains", failure));
    }

}
