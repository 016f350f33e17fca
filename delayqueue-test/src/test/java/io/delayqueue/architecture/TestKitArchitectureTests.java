package io.delayqueue.architecture;

import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.JavaClass;
import org.junit.jupiter.params.provider.Arguments;

/** Applies the rules to the library and the test kit together. */
class TestKitArchitectureTests extends ArchitectureTests {

    @Override
    Stream<Arguments> arrows() {
        return Stream.concat(super.arrows(),
                Stream.of(
                        from(TEST, API, ADMIN, STORE, ROUTING, SCRIPT, HANDLER, POLL, LISTENER, TEMPLATE, ENVELOPE,
                                SCHEDULE_STORE), //
                        from(TEST + ".autoconfigure", API, ADMIN, JOURNAL, STORE, ROUTING, ENVELOPE, SCHEDULE_STORE,
                                MEMORY, REDIS, SCRIPT, LISTENER, HANDLER, POLL, TEMPLATE, AUTOCONFIGURE, TEST)));
    }

    @Override
    Stream<JavaClass> typesOfThisModule() {
        return main.stream().filter((type) -> type.getPackageName().startsWith(TEST));
    }

    /**
     * One embedded Redis serves all contexts of a process, which have nothing else in
     * common.
     */
    @Override
    boolean mayChange(String field) {
        return field.equals(TEST + ".autoconfigure.EmbeddedRedis.SERVERS");
    }

}
