package io.delayqueue.migrate;

import java.util.Map;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

/** Checks the dependencies between the packages of the tool, and forbidden calls. */
class MigrateArchitectureTests {

    private static final String API = "io.delayqueue.migrate";

    /** The packages that each package may use, besides the interfaces. */
    private static final Map<String, String[]> ARROWS = Map.of(API, new String[] { API }, API + ".engine",
            new String[] { API }, API + ".redis", new String[] { API }, API + ".jdbc", new String[] { API },
            API + ".cli", new String[] { API, API + ".engine", API + ".redis", API + ".jdbc" });

    private static final JavaClasses main = new ClassFileImporter()
        .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
        .importPackages(API);

    @Test
    void packagesUseOnlyTheirArrows() {
        ARROWS.forEach((from, to) -> {
            String[] allowed = new String[to.length + 1];
            System.arraycopy(to, 0, allowed, 0, to.length);
            allowed[to.length] = from;
            noClasses().that(resideInAPackage(from))
                .should()
                .dependOnClassesThat(resideInAPackage(API + "..").and(resideInAnyPackage(allowed).negate()))
                .check(main);
        });
    }

    @Test
    void onlyThePublicApiOfTheLibraryIsUsed() {
        noClasses().should()
            .dependOnClassesThat(resideInAPackage("io.delayqueue..")
                .and(resideInAnyPackage("io.delayqueue", "io.delayqueue.admin", API + "..").negate()))
            .check(main);
    }

    @Test
    void noObjectsAreDeserialized() {
        noClasses().should()
            .dependOnClassesThat()
            .haveFullyQualifiedName("java.io.ObjectInputStream")
            .orShould()
            .dependOnClassesThat(resideInAnyPackage("com.esotericsoftware..", "org.springframework.core.serializer.."))
            .check(main);
    }

    @Test
    void packagesAreNullMarked() {
        classes().that().haveSimpleName("package-info").should().beAnnotatedWith(NullMarked.class).check(main);
    }

}
