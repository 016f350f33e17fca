package io.delayqueue.architecture;

import java.util.Set;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.JavaClass;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.Arguments;

import org.springframework.boot.autoconfigure.AutoConfiguration;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

/**
 * Applies the rules to both modules together, with the arrows of the packages of the HTTP
 * API and the dashboard.
 */
class WebArchitectureTests extends ArchitectureTests {

    private static final String HTTP = WEB + ".http";

    private static final String HTTP_API = WEB + ".api";

    private static final String HTTP_CONSUME = WEB + ".consume";

    private static final String DASHBOARD = WEB + ".dashboard";

    /** Types that only applications use, each with the reason. */
    private static final Set<String> PUBLIC_FOR_USERS = Set.of(
            // returned by DelayedListenerRegistry.listener(id), with its counts
            "ListenerContainer", "ListenerStatistics",
            // argument and result of JournalOperations
            "RestorePlan", "RestoreReport",
            // to forward messages to other brokers, and the settings of a queue
            "MessageForwarder", "ForwardedMessage", "BrokerUnavailableException", "UndeliverableMessageException",
            "BrokerHeaders", "ForwardSettings", "IntakeSettings",
            // for the expression language, and generated code of the container
            "ExpressionRoot", "ForwardingHandler",
            // to name and tag observations otherwise
            "DelayQueueObservation", "SendObservationContext", "HandleObservationContext",
            "DefaultSendObservationConvention", "DefaultHandleObservationConvention",
            // listeners that are registered by calls, see docs/getting-started.md
            "DelayedListenerConfigurer", "DelayedListenerEndpoint",
            // a second Redis or namespace, see docs/configuration.md
            "DelayQueueSystem", "DelayQueueSystemBuilder",
            // wraps handlers in tests, in delayqueue-test
            "HandlerDecorator",
            // Boot binds it; described in docs/configuration.md
            "DelayQueueProperties");

    @Override
    Stream<Arguments> arrows() {
        return Stream.concat(super.arrows(), Stream.of(from(HTTP, API, ADMIN, STORE), //
                from(HTTP_CONSUME, API, ADMIN, STORE, ENVELOPE, ROUTING, CONSUME, HTTP), //
                from(HTTP_API, API, ADMIN, STORE, CONSUME, JOURNAL, HTTP, HTTP_CONSUME), //
                from(DASHBOARD, API, ADMIN, STORE, JOURNAL, LISTENER, HANDLER, POLL, HTTP, HTTP_API), //
                from(WEB + ".autoconfigure", API, ADMIN, STORE, ENVELOPE, ROUTING, CONSUME, JOURNAL, MEMORY, LISTENER,
                        POLL, AUTOCONFIGURE, HTTP, HTTP_API, HTTP_CONSUME, DASHBOARD)));
    }

    /** Types are package-private until needed; the root package is the public API. */
    @Test
    void aTypeIsPublicOnlyIfAnotherPackageUsesIt() {
        classes().that()
            .resideOutsideOfPackage(API)
            .and()
            .arePublic()
            .and()
            .areTopLevelClasses()
            .and()
            .areNotAnnotatedWith(AutoConfiguration.class)
            .should(condition("be used by another package", (type, problems) -> {
                if (!isUsedElsewhere(type) && !PUBLIC_FOR_USERS.contains(type.getSimpleName())) {
                    problems.add(type.getName() + " is public and only used in its package");
                }
            }))
            .check(main);
    }

    private static boolean isUsedElsewhere(JavaClass type) {
        return type.getDirectDependenciesToSelf()
            .stream()
            .anyMatch((use) -> !use.getOriginClass().getPackageName().equals(type.getPackageName()));
    }

}
