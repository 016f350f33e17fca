package io.delayqueue.autoconfigure;

import java.util.concurrent.ThreadLocalRandom;

import io.delayqueue.DelayQueueInspector;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.QueueName;
import io.delayqueue.engine.ConsumedQueues;
import io.delayqueue.engine.EnvelopeCodec;
import io.delayqueue.engine.SecretStore;
import io.delayqueue.engine.ServerWatch;
import io.delayqueue.engine.StorePorts;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.ListenerSettings;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.web.Access;
import io.delayqueue.web.ApiPorts;
import io.delayqueue.web.ConsumeSettings;
import io.delayqueue.web.ConsumerFormat;
import io.delayqueue.web.Consumers;
import io.delayqueue.web.ContentTypeFilter;
import io.delayqueue.web.Dashboard;
import io.delayqueue.web.DashboardSources;
import io.delayqueue.web.Herald;
import io.delayqueue.web.HttpApi;
import io.delayqueue.web.LeaseTokens;
import io.delayqueue.web.LoopbackAccess;
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
import org.springframework.context.annotation.Proxyable;
import org.springframework.context.annotation.ProxyType;
import org.springframework.core.env.Environment;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * Auto-configuration for the HTTP API and the dashboard, each off unless asked for. Comes
 * after Boot's own security, which would believe that the application has a filter chain
 * and leave all its other paths open.
 */
@AutoConfiguration(after = DelayQueueAutoConfiguration.class,
        afterName = { "org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration" })
@Conditional(DelayQueueWebAutoConfiguration.OnAsked.class)
@ConditionalOnBean(StorePorts.class)
public final class DelayQueueWebAutoConfiguration {

    DelayQueueWebAutoConfiguration() {
    }

    /** On a servlet container. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = Type.SERVLET)
    @ConditionalOnClass(DispatcherServlet.class)
    @EnableConfigurationProperties(DelayQueueWebProperties.class)
    @Import({ DelayQueueWebSecurityConfiguration.class, DelayQueueDashboardSecurityConfiguration.class })
    static class ServletConfiguration {

        private static ConsumedQueues noneConsumed() {
            return new ConsumedQueues(0, System::nanoTime);
        }

        /** The API. */
        @Configuration(proxyBeanMethods = false)
        @ConditionalOnBooleanProperty("delayqueue.web.api.enabled")
        @ImportRuntimeHints(DelayQueueRuntimeHints.Api.class)
        static class ApiConfiguration {

            @Bean
            Herald delayQueueHttpHerald(ApplicationEventPublisher events) {
                return new Herald(events);
            }

            @Bean
            ConsumerFormat delayQueueHttpConsumerFormat(EnvelopeCodec codec, StorePorts ports,
                    ObjectProvider<SecretStore> secrets, DelayQueueProperties properties) {
                return new ConsumerFormat(codec, new LeaseTokens(
                        secrets.getIfAvailable(() -> secretsOfThisProcess(ports)), properties.namespace()));
            }

            /** Enough where the messages are in this process as well. */
            private static SecretStore secretsOfThisProcess(StorePorts ports) {
                if (!(ports.messages() instanceof InMemoryMessageStore)) {
                    throw new MissingSecretStoreException(ports.messages());
                }
                return SecretStore.inMemory();
            }

            @Bean
            Consumers delayQueueHttpConsumers(StorePorts ports, ConsumerFormat format, DelayQueueProperties properties,
                    DelayQueueWebProperties web, Herald herald) {
                return new Consumers(ports, format, (queue) -> consumeSettings(properties, queue),
                        web.api().waitLimits(), herald);
            }

            private static ConsumeSettings consumeSettings(DelayQueueProperties properties, QueueName queue) {
                ListenerSettings settings = properties.listenerSettings(queue);
                return new ConsumeSettings(settings.lease(), settings.maxAttempts(), settings.maxLapses(),
                        settings.expiredPolicy(), properties.safetyPoll(), (failures) -> settings.retryPolicy()
                            .delayAfter(failures, ThreadLocalRandom.current()::nextDouble));
            }

            @Bean
            ApiPorts delayQueueHttpPorts(DelayQueueOperations operations, ObjectProvider<DelayQueueInspector> inspector,
                    Consumers consumers, ObjectProvider<ConsumedQueues> consumed) {
                return new ApiPorts(operations, inspector.getIfAvailable(), consumers,
                        consumed.getIfAvailable(ServletConfiguration::noneConsumed));
            }

            @Bean
            HttpApi delayQueueHttpApi(DelayQueueWebProperties web, Access access, ApiPorts ports,
                    ApplicationEventPublisher events) {
                return new HttpApi(web.api().settings(), access, ports, events);
            }

            @Bean
            RouterFunction<ServerResponse> delayQueueHttpRouter(HttpApi api) {
                return api.router();
            }

            @Bean
            FilterRegistrationBean<ContentTypeFilter> delayQueueHttpContentTypeFilter(HttpApi api) {
                return new FilterRegistrationBean<>(new ContentTypeFilter(api));
            }

        }

        /** The page. */
        @Configuration(proxyBeanMethods = false)
        @ConditionalOnBooleanProperty("delayqueue.web.dashboard.enabled")
        @ImportRuntimeHints(DelayQueueRuntimeHints.Dashboard.class)
        static class DashboardConfiguration {

            @Bean
            Dashboard delayQueueDashboard(DelayQueueWebProperties web, DelayQueueProperties properties, Access access,
                    DelayQueueOperations operations, DelayQueueInspector inspector,
                    ObjectProvider<DelayedListenerRegistry> listeners, ObjectProvider<ServerWatch> server,
                    ObjectProvider<ConsumedQueues> consumed, ApplicationEventPublisher events) {
                DashboardSources sources = new DashboardSources(operations, inspector,
                        server.getIfAvailable(() -> ServerWatch.NONE), listeners::getIfAvailable,
                        consumed.getIfAvailable(ServletConfiguration::noneConsumed), properties.commandTimeout());
                return new Dashboard(web.dashboard().path(), access, sources, events);
            }

            @Bean
            RouterFunction<ServerResponse> delayQueueDashboardRouter(Dashboard dashboard) {
                return dashboard.router();
            }

        }

        /** Open to this machine, as was asked for. */
        @Configuration(proxyBeanMethods = false)
        @ConditionalOnBooleanProperty("delayqueue.web.insecure-local")
        static class InsecureConfiguration {

            private static final Logger logger = LoggerFactory.getLogger(InsecureConfiguration.class);

            @Bean
            @Proxyable(ProxyType.INTERFACES)
            @ConditionalOnMissingBean(Access.class)
            LoopbackAccess delayQueueWebAccess(Environment environment) {
                LocalServer.require(environment);
                logger.warn("Everybody on this machine may do everything with the delay queue over HTTP "
                        + "(delayqueue.web.insecure-local is set)");
                return new LoopbackAccess();
            }

        }

        /** Refuses to open to everybody. */
        @Configuration(proxyBeanMethods = false)
        @ConditionalOnBooleanProperty(name = "delayqueue.web.insecure-local", havingValue = false,
                matchIfMissing = true)
        @ConditionalOnMissingClass("org.springframework.security.config.annotation.web.builders.HttpSecurity")
        static class UnprotectedConfiguration {

            @Bean
            @ConditionalOnMissingBean
            Access delayQueueWebAccess() {
                throw new InsecureWebException(
                        "delayqueue.web.api.enabled or delayqueue.web.dashboard.enabled is set, but nothing protects what it serves: Spring Security is not on the class path",
                        "Add spring-boot-starter-security. To try things out on this machine alone, set "
                                + "delayqueue.web.insecure-local to true and server.address to 127.0.0.1.");
            }

        }

    }

    /** Where there are no servlets. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = Type.REACTIVE)
    static class ReactiveConfiguration {

        private static final Logger logger = LoggerFactory.getLogger(ReactiveConfiguration.class);

        ReactiveConfiguration() {
            logger.warn(
                    "What the delay queue serves over HTTP stays off: it needs a servlet application, and this one is "
                            + "reactive (delayqueue.web.api.enabled or delayqueue.web.dashboard.enabled is set)");
        }

    }

    /** Where there is no web server at all, which is easily forgotten. */
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

    /** Either of them. */
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
