package io.delayqueue.architecture;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.Clock;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Calendar;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaCodeUnitAccess;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.util.ReflectionUtils;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Checks the dependencies between packages, and that main code avoids forbidden calls and
 * constructs. A new dependency is a line here.
 */
@TestInstance(Lifecycle.PER_CLASS)
class ArchitectureTests {

    static final String API = "io.delayqueue";

    static final String ADMIN = API + ".admin";

    static final String STORE = API + ".store";

    static final String ENVELOPE = STORE + ".envelope";

    static final String ROUTING = STORE + ".routing";

    static final String SCHEDULE_STORE = STORE + ".schedule";

    static final String CONSUME = API + ".consume";

    static final String JOURNAL = API + ".journal";

    static final String TEMPLATE = API + ".template";

    static final String MEMORY = API + ".memory";

    static final String REDIS = API + ".redis";

    static final String SCRIPT = REDIS + ".script";

    private static final String REPLICATION = REDIS + ".replication";

    private static final String WAKEUP = REDIS + ".wakeup";

    private static final String CHECK = REDIS + ".check";

    static final String LISTENER = API + ".listener";

    static final String HANDLER = LISTENER + ".handler";

    static final String POLL = LISTENER + ".poll";

    private static final String OBSERVATION = API + ".observation";

    private static final String FORWARD = API + ".forward";

    private static final String INTAKE = API + ".intake";

    private static final String ACTUATOR = API + ".actuator";

    static final String WEB = API + ".web";

    static final String TEST = API + ".test";

    static final String AUTOCONFIGURE = API + ".autoconfigure";

    /**
     * Beans that applications inject or replace by class; aspects create subclasses of
     * them.
     */
    private static final Set<String> OPEN_FOR_PROXIES = Set.of("DelayQueueTemplate", "DelayedListenerRegistry",
            "DelayedListenerLifecycle", "EnvelopeCodec", "InMemoryMessageStore", "DelayQueueEndpoint",
            "DelayQueueHealthIndicator", "DelayQueueSystem", "DelayQueueSystemBuilder");

    static final JavaClasses main = new ClassFileImporter()
        .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
        .withImportOption((location) -> !location.contains("-tests.jar"))
        .importPackages(API);

    /** Returns the permitted dependencies of the packages of this module. */
    Stream<Arguments> arrows() {
        return Stream.of(from(API), //
                from(ADMIN, API), //
                from(STORE, API, ADMIN), //
                from(ENVELOPE, API, STORE), //
                from(ROUTING, API, ADMIN, STORE, SCHEDULE_STORE), //
                from(SCHEDULE_STORE, API, STORE, ENVELOPE), //
                from(OBSERVATION, API), //
                from(CONSUME, API, STORE, ROUTING), //
                from(JOURNAL, API, ADMIN, STORE, ROUTING, SCHEDULE_STORE), //
                from(TEMPLATE, API, ADMIN, STORE, ENVELOPE, ROUTING, SCHEDULE_STORE, CONSUME, JOURNAL, OBSERVATION), //
                from(MEMORY, API, ADMIN, STORE, ENVELOPE, SCHEDULE_STORE), //
                from(SCRIPT, API, STORE, SCHEDULE_STORE), //
                from(REPLICATION, API, STORE, SCRIPT), //
                from(REDIS, API, ADMIN, STORE, ENVELOPE, SCHEDULE_STORE, SCRIPT, REPLICATION), //
                from(WAKEUP, API, STORE, SCRIPT, REDIS), //
                from(CHECK, API, ADMIN, STORE, ENVELOPE, SCRIPT, REDIS, WAKEUP), //
                from(HANDLER, API, STORE, ENVELOPE, SCHEDULE_STORE, OBSERVATION), //
                from(POLL, API, ADMIN, STORE, ENVELOPE, ROUTING, OBSERVATION, HANDLER), //
                from(LISTENER, API, ADMIN, STORE, ENVELOPE, ROUTING, SCHEDULE_STORE, OBSERVATION, HANDLER, POLL), //
                from(FORWARD, API, STORE, ENVELOPE, LISTENER, HANDLER, POLL), //
                from(INTAKE, API, ADMIN, STORE, ENVELOPE, FORWARD), //
                from(ACTUATOR, API, ADMIN, STORE, ROUTING, JOURNAL, LISTENER, HANDLER, POLL, INTAKE), //
                from(AUTOCONFIGURE, API, ADMIN, STORE, ENVELOPE, ROUTING, SCHEDULE_STORE, CONSUME, JOURNAL, TEMPLATE,
                        MEMORY, REDIS, SCRIPT, REPLICATION, WAKEUP, CHECK, LISTENER, HANDLER, POLL, OBSERVATION,
                        ACTUATOR, FORWARD, INTAKE));
    }

    static Arguments from(String name, String... others) {
        return arguments(name, List.of(others));
    }

    @ParameterizedTest
    @MethodSource("arrows")
    void packageUsesOnlyItsPermittedDependencies(String name, List<String> others) {
        String[] allowed = Stream.concat(Stream.of(name), others.stream()).toArray(String[]::new);
        classes().that()
            .resideInAPackage(name)
            .should()
            .onlyDependOnClassesThat(resideOutsideOfPackage(API + "..").or(resideInAnyPackage(allowed)))
            .check(main);
    }

    @Test
    void everyPackageHasItsArrows() {
        assertThat(packages()).containsExactlyInAnyOrderElementsOf(
                arrows().map((arrow) -> (String) Objects.requireNonNull(arrow.get()[0])).toList());
    }

    @Test
    void packagesAreFreeOfCycles() {
        slices().matching("io.(**)").should().beFreeOfCycles().check(main);
    }

    @Test
    void onlyTheRedisAdapterAndTheWiringKnowRedis() {
        noClasses().that()
            .resideOutsideOfPackages(REDIS + "..", API + "..autoconfigure")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.springframework.data..", "io.lettuce..", "redis.clients..")
            .check(main);
    }

    @Test
    void onlyTheAutoConfigurationAndTheActuatorKnowBoot() {
        noClasses().that()
            .resideOutsideOfPackages(API + "..autoconfigure", ACTUATOR)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.springframework.boot..")
            .check(main);
    }

    @Test
    void autoConfigurationsArePublicAndFinalAndMadeBySpringOnly() {
        classes().that()
            .areAnnotatedWith(AutoConfiguration.class)
            .should()
            .bePublic()
            .andShould()
            .haveModifier(JavaModifier.FINAL)
            .andShould(haveOnlyPackagePrivate("constructors", JavaClass::getConstructors))
            .andShould(haveOnlyPackagePrivate("bean methods",
                    (type) -> type.getMethods()
                        .stream()
                        .filter((method) -> !method.getModifiers().contains(JavaModifier.SYNTHETIC))
                        .toList()))
            .check(main);
    }

    private static ArchCondition<JavaClass> haveOnlyPackagePrivate(String what,
            Function<JavaClass, Collection<? extends JavaCodeUnit>> members) {
        Set<JavaModifier> visible = Set.of(JavaModifier.PUBLIC, JavaModifier.PROTECTED, JavaModifier.PRIVATE);
        return condition("have only package-private " + what,
                (type, problems) -> members.apply(type)
                    .stream()
                    .filter((member) -> member.getModifiers().stream().anyMatch(visible::contains))
                    .forEach((member) -> problems.add(member.getFullName() + " is not package-private")));
    }

    @Test
    void classesAreFinalOrMeantToHaveSubclasses() {
        classes()
            .that(DescribedPredicate.describe("are not proxied",
                    (JavaClass type) -> !OPEN_FOR_PROXIES.contains(type.getSimpleName())))
            .and()
            .areNotInterfaces()
            .and()
            .areTopLevelClasses()
            .and()
            .doNotHaveModifier(JavaModifier.ABSTRACT)
            .and()
            .haveSimpleNameNotEndingWith("package-info")
            .and()
            .doNotHaveSimpleName("StoreRefusedException") // a store refines it
            .and()
            .areNotEnums()
            .should()
            .haveModifier(JavaModifier.FINAL)
            .check(main);
    }

    @Test
    void nothingIsInjectedIntoFields() {
        fields().should()
            .notBeAnnotatedWith(Autowired.class)
            .andShould()
            .notBeAnnotatedWith(Value.class)
            .andShould()
            .notBeAnnotatedWith("jakarta.inject.Inject")
            .andShould()
            .notBeAnnotatedWith("jakarta.annotation.Resource")
            .check(main);
    }

    /**
     * The store's clock is the one clock; spans are measured by the monotonic one.
     * {@code MicrosClock} is the store's clock where there is no server. Traces show
     * wall-clock times, which come from the clocks of machines in any case. H2 has no
     * statement timestamp, and usually runs in this process. The time of a test begins at
     * the real time.
     */
    @Test
    void noClassReadsTheClockOfTheMachine() {
        classes().that()
            .doNotHaveFullyQualifiedName(MEMORY + ".MicrosClock")
            .and()
            .doNotHaveFullyQualifiedName(OBSERVATION + ".SentAtHeader")
            .and()
            .doNotHaveFullyQualifiedName(JOURNAL + ".JournalDialect")
            .and()
            .doNotHaveFullyQualifiedName(TEST + ".VirtualTime")
            .should(notCall("the wall clock", ArchitectureTests::isWallClock))
            .check(main);
    }

    private static boolean isWallClock(CodeUnitAccessTarget target) {
        JavaClass owner = target.getOwner();
        String name = target.getName();
        boolean noArguments = target.getRawParameterTypes().isEmpty();
        return (owner.isEquivalentTo(System.class) && name.equals("currentTimeMillis"))
                || (owner.getPackageName().startsWith("java.time") && name.equals("now"))
                || (owner.isEquivalentTo(Clock.class) && (name.startsWith("system") || name.startsWith("tick")))
                || (owner.isEquivalentTo(InstantSource.class) && name.equals("system"))
                || (owner.isEquivalentTo(Calendar.class) && name.equals("getInstance"))
                || (owner.isAssignableTo(Date.class) && name.equals("<init>") && noArguments);
    }

    @Test
    void noClassSleeps() {
        classes()
            .should(notCall("sleep",
                    (target) -> target.getName().equals("sleep") && (target.getOwner().isEquivalentTo(Thread.class)
                            || target.getOwner().isEquivalentTo(TimeUnit.class))))
            .check(main);
    }

    private static ArchCondition<JavaClass> notCall(String what, Predicate<CodeUnitAccessTarget> forbidden) {
        return condition("not use " + what,
                (type, problems) -> accesses(type).filter((access) -> forbidden.test(access.getTarget()))
                    .forEach((access) -> problems.add(access.getDescription())));
    }

    /** Calls, and references such as {@code Instant::now}. */
    private static Stream<? extends JavaCodeUnitAccess<?>> accesses(JavaClass type) {
        return Stream
            .of(type.getMethodCallsFromSelf(), type.getConstructorCallsFromSelf(), type.getMethodReferencesFromSelf(),
                    type.getConstructorReferencesFromSelf())
            .flatMap(Collection::stream);
    }

    /**
     * Checks the values of the fields: the type {@code Map} does not show whether it is
     * immutable.
     */
    @Test
    void noStaticFieldCanChange() {
        assertThat(typesOfThisModule().flatMap(ArchitectureTests::fieldsOf)
            .filter((field) -> Modifier.isStatic(field.getModifiers()) && !field.isSynthetic())
            .filter((field) -> !mayChange(field.getDeclaringClass().getName() + "." + field.getName()))
            .filter(ArchitectureTests::canChange)).isEmpty();
    }

    /** Returns the types that can be loaded, as their libraries are on the class path. */
    Stream<JavaClass> typesOfThisModule() {
        return main.stream();
    }

    /** Returns whether a static field may change, by its full name. */
    boolean mayChange(String field) {
        return false;
    }

    /**
     * Leaves out types of libraries that are optional and only on the path of their
     * module.
     */
    private static Stream<Field> fieldsOf(JavaClass type) {
        try {
            return Arrays.stream(type.reflect().getDeclaredFields());
        }
        catch (NoClassDefFoundError ex) {
            assertThat(ex.getMessage()).as(type.getName())
                .matches("(org/(springframework/(kafka|amqp|messaging)|apache/kafka)|com/rabbitmq|kotlin)/.*");
            return Stream.empty();
        }
    }

    private static boolean canChange(Field field) {
        if (!Modifier.isFinal(field.getModifiers())) {
            return true;
        }
        ReflectionUtils.makeAccessible(field);
        Object value = ReflectionUtils.getField(field, null);
        if (value instanceof Collection<?> || value instanceof Map<?, ?>) {
            return !value.getClass().getName().startsWith("java.util.ImmutableCollections");
        }
        if (value instanceof Object[] || value instanceof byte[]) {
            // Arrays are always mutable, so they must at least be private.
            return !Modifier.isPrivate(field.getModifiers());
        }
        return value != null && value.getClass().getPackageName().startsWith(AtomicBoolean.class.getPackageName());
    }

    @Test
    void everyPackageIsNullMarked() {
        assertThat(packages()).allSatisfy(
                (name) -> assertThat(main.getPackage(name).isAnnotatedWith(NullMarked.class)).as(name).isTrue());
    }

    private static Set<String> packages() {
        return main.stream().map(JavaClass::getPackageName).collect(Collectors.toSet());
    }

    static ArchCondition<JavaClass> condition(String description, BiConsumer<JavaClass, List<String>> check) {
        return new ArchCondition<>(description) {

            @Override
            public void check(JavaClass type, ConditionEvents events) {
                List<String> problems = new ArrayList<>();
                check.accept(type, problems);
                problems.forEach((problem) -> events.add(SimpleConditionEvent.violated(type, problem)));
            }

        };
    }

}
