package io.delayqueue.web.autoconfigure;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.NodeOperations;
import io.delayqueue.admin.MessageHistory;
import io.delayqueue.autoconfigure.DelayQueueAutoConfiguration;
import io.delayqueue.autoconfigure.DelayQueueProperties;
import io.delayqueue.journal.JournalFactory;
import io.delayqueue.journal.JournalOperations;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.RemoteConsumerQueues;
import io.delayqueue.store.SecretStore;
import io.delayqueue.store.ServerMonitor;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.web.api.ApiServices;
import io.delayqueue.web.api.HttpApi;
import io.delayqueue.web.consume.AsyncEventPublisher;
import io.delayqueue.web.consume.HttpConsumerCodecs;
import io.delayqueue.web.consume.HttpConsumerServices;
import io.delayqueue.web.consume.LeaseTokenService;
import io.delayqueue.web.dashboard.Dashboard;
import io.delayqueue.web.dashboard.DashboardServices;
import io.delayqueue.web.http.AccessControl;
import io.delayqueue.web.http.ContentTypeHidingFilter;
import io.delayqueue.web.http.LoopbackAccessControl;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnNotWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.context.annotation.ProxyType;
import org.springframework.context.annotation.Proxyable;
import org.springframework.core.env.Environment;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * Auto-configuration for the HTTP API and the dashboard, both disabled by default. Runs
 * after Boot's security, which would otherwise assume that the application has a filter
 * chain and leave all its other paths open.
 */
@AutoConfiguration(after = DelayQueueAutoConfiguration.class,
        afterName = { "org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration" })
@Conditional(DelayQueueWebAutoConfiguration.OnAsked.class)
@ConditionalOnBean(StoreComponents.class)
public final class DelayQueueWebAutoConfiguration {

    DelayQueueWebAutoConfiguration() {
    }

    /** Applies on a servlet container. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = Type.SERVLET)
    @ConditionalOnClass(DispatcherServlet.class)
    @EnableConfigurationProperties(DelayQueueWebProperties.class)
    @Import({ DelayQueueWebSecurityConfiguration.class, DelayQueueDashboardSecurityConfiguration.class })
    static class ServletConfiguration {

        private static RemoteConsumerQueues noneConsumed() {
            return new RemoteConsumerQueues(0, System::nanoTime);
        }

        /** Configures the API. */
        @Configuration(proxyBeanMethods = false)
        @ConditionalOnBooleanProperty("delayqueue.web.api.enabled")
        @ImportRuntimeHints(DelayQueueWebRuntimeHints.Api.class)
        static class ApiConfiguration {

            @Bean
            AsyncEventPublisher delayQueueHttpEventPublisher(ApplicationEventPublisher events) {
                return new AsyncEventPublisher(events);
            }

            @Bean
            HttpConsumerCodecs delayQueueHttpConsumerCodecs(EnvelopeCodec codec, MessageStore store,
                    ObjectProvider<SecretStore> secrets, DelayQueueProperties properties) {
                return new HttpConsumerCodecs(codec, new LeaseTokenService(
                        secrets.getIfAvailable(() -> secretsOfThisProcess(store)), properties.namespace()));
            }

            /** Sufficient if the messages are stored in this process as well. */
            private static SecretStore secretsOfThisProcess(MessageStore store) {
                if (!(store instanceof InMemoryMessageStore)) {
                    throw new MissingSecretStoreException(store);
                }
                return SecretStore.inMemory();
            }

            @Bean
            HttpConsumerServices delayQueueHttpConsumers(StoreComponents components, HttpConsumerCodecs format,
                    DelayQueueProperties properties, DelayQueueWebProperties web, AsyncEventPublisher publisher) {
                return new HttpConsumerServices(components, format, properties::consumeSettings, web.api().waitLimits(),
                        publisher);
            }

            @Bean
            ApiServices delayQueueApiServices(DelayQueueOperations operations,
                    ObjectProvider<DelayQueueInspector> inspector, ObjectProvider<NodeOperations> nodes,
                    ObjectProvider<MessageHistory> history, ObjectProvider<JournalOperations> journal,
                    HttpConsumerServices consumers, ObjectProvider<RemoteConsumerQueues> consumed) {
                return new ApiServices(operations, inspector.getIfAvailable(), nodes.getIfAvailable(),
                        history.getIfAvailable(), journal.getIfAvailable(), consumers,
                        consumed.getIfAvailable(ServletConfiguration::noneConsumed));
            }

            @Bean
            HttpApi delayQueueHttpApi(DelayQueueWebProperties web, AccessControl access, ApiServices services,
                    ApplicationEventPublisher events) {
                return new HttpApi(web.api().settings(), access, services, events);
            }

            @Bean
            RouterFunction<ServerResponse> delayQueueHttpRouter(HttpApi api) {
                return api.router();
            }

            @Bean
            FilterRegistrationBean<ContentTypeHidingFilter> delayQueueHttpContentTypeFilter(HttpApi api) {
                return new FilterRegistrationBean<>(new ContentTypeHidingFilter(api::answers));
            }

        }

        /** Configures the dashboard. */
        @Configuration(proxyBeanMethods = false)
        @ConditionalOnBooleanProperty("delayqueue.web.dashboard.enabled")
        @ImportRuntimeHints(DelayQueueWebRuntimeHints.Dashboard.class)
        static class DashboardConfiguration {

            @Bean
            Dashboard delayQueueDashboard(DelayQueueWebProperties web, DelayQueueProperties properties,
                    AccessControl access, DelayQueueOperations operations, DelayQueueInspector inspector,
                    ObjectProvider<NodeOperations> nodes, ObjectProvider<MessageHistory> history,
                    ObjectProvider<JournalOperations> journal, ObjectProvider<JournalFactory> journals,
                    ObjectProvider<DelayedListenerRegistry> listeners, ObjectProvider<ServerMonitor> server,
                    ObjectProvider<RemoteConsumerQueues> consumed, ApplicationEventPublisher events) {
                DashboardServices services = new DashboardServices(operations, inspector, nodes.getIfAvailable(),
                        history.getIfAvailable(), journal.getIfAvailable(),
                        journals.stream().map(JournalFactory::status).findFirst().orElse(null),
                        server.getIfAvailable(() -> ServerMonitor.NONE), listeners::getIfAvailable,
                        consumed.getIfAvailable(ServletConfiguration::noneConsumed), properties.commandTimeout(),
                        web.dashboard().latenessObjective());
                return new Dashboard(web.dashboard().path(), access, services, events);
            }

            @Bean
            RouterFunction<ServerResponse> delayQueueDashboardRouter(Dashboard dashboard) {
                return dashboard.router();
            }

        }

        /** Opens access to this machine, as configured. */
        @Configuration(proxyBeanMethods = false)
        @ConditionalOnBooleanProperty("delayqueue.web.insecure-local")
        static class InsecureConfiguration {

            private static final Logger logger = LoggerFactory.getLogger(InsecureConfiguration.class);

            @Bean
            @Proxyable(ProxyType.INTERFACES)
            @ConditionalOnMissingBean(AccessControl.class)
            LoopbackAccessControl delayQueueWebAccess(Environment environment) {
                LoopbackServerCheck.require(environment);
                logger.warn("Every local user may do everything with the delay queue over HTTP "
                        + "(delayqueue.web.insecure-local is set)");
                return new LoopbackAccessControl();
            }

        }

        /** Fails the start instead of allowing unrestricted access. */
        @Configuration(proxyBeanMethods = false)
        @ConditionalOnBooleanProperty(name = "delayqueue.web.insecure-local", havingValue = false,
                matchIfMissing = true)
        @ConditionalOnMissingClass("org.springframework.security.config.annotation.web.builders.HttpSecurity")
        static class UnprotectedConfiguration {

            @Bean
            @ConditionalOnMissingBean
            AccessControl delayQueueWebAccess() {
                throw new InsecureWebException(
                        "delayqueue.web.api.enabled or delayqueue.web.dashboard.enabled is set, but nothing protects what it serves: Spring Security is not on the class path",
                        "Add spring-boot-starter-security. To try things out on this machine alone, set "
                                + "delayqueue.web.insecure-local to true and server.address to 127.0.0.1.");
            }

        }

    }

    /** Applies to a reactive application, which has no servlets. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = Type.REACTIVE)
    static class ReactiveConfiguration {

        private static final Logger logger = LoggerFactory.getLogger(ReactiveConfiguration.class);

        ReactiveConfiguration() {
            logger.warn("The HTTP API and the dashboard are disabled: they need a servlet application, and this one is "
                    + "reactive (delayqueue.web.api.enabled or delayqueue.web.dashboard.enabled is set)");
        }

    }

    /** Applies if there is no web server, which is easily overlooked. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnNotWebApplication
    static class NoWebConfiguration {

        private static final Logger logger = LoggerFactory.getLogger(NoWebConfiguration.class);

        NoWebConfiguration() {
            logger.warn("The delay queue serves nothing over HTTP: it needs a servlet application, as "
                    + "spring-boot-starter-webmvc makes one, and this one is none (delayqueue.web.api.enabled or "
                    + "delayqueue.web.dashboard.enabled is set)");
        }

    }

    /** Matches if the API or the dashboard is enabled. */
    static class OnAsked extends AnyNestedCondition {

        OnAsked() {
            super(ConfigurationPhase.PARSE_CONFIGURATION);
        }

        @ConditionalOnBooleanProperty("delayqueue.web.api.enabled")
        static class Api {

        }

        @ConditionalOnBooleanProperty("delayqueue.web.dashboard.enabled")
        static class Page {

        }

    }

}
