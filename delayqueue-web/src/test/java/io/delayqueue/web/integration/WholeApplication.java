package io.delayqueue.web.integration;

import io.delayqueue.DelayedListener;
import io.delayqueue.autoconfigure.DelayQueueSystem;
import io.delayqueue.autoconfigure.DelayQueueSystemBuilder;
import io.delayqueue.template.DelayQueueTemplate;
import jakarta.validation.Valid;

import org.springframework.aot.AotDetector;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.TaskDecorator;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;

/**
 * Runs an application with all features enabled, which prints the handled messages to
 * standard output; see {@link ChildJvm}.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class WholeApplication {

    public static void main(String[] arguments) {
        ConfigurableApplicationContext context = new SpringApplicationBuilder(WholeApplication.class)
            .web(WebApplicationType.SERVLET)
            // Conditions are evaluated when the application is processed ahead of time.
            .properties("server.address=127.0.0.1", "server.port=0", "delayqueue.web.api.enabled=true",
                    "delayqueue.web.dashboard.enabled=true", "delayqueue.observation.enabled=true",
                    "delayqueue.queues.orders.max-attempts=7", "management.endpoints.web.exposure.include=*",
                    "management.endpoint.health.show-details=always")
            .run(arguments);
        context.getBean(DelayQueueTemplate.class).send("orders", new Order(1, "first"));
        context.getBean(DelayQueueSystem.class).template().send("orders", new Order(2, "second"));
        System.out.println("READY %b %d".formatted(AotDetector.useGeneratedArtifacts(),
                ((WebServerApplicationContext) context).getWebServer().getPort()));
    }

    @Bean
    Handler handler() {
        return new Handler();
    }

    @Bean
    DelayQueueSystem second(DelayQueueSystemBuilder builder) {
        return builder.namespace("whole:second").build();
    }

    @Bean
    TaskDecorator decorator() {
        return (task) -> task;
    }

    @Bean
    UserDetailsService users() {
        return new InMemoryUserDetailsManager(User.withUsername("operator")
            .password("{noop}secret")
            .authorities("DELAYQUEUE_VIEW", "DELAYQUEUE_SEND")
            .build());
    }

    /** A payload. */
    record Order(int number, String text) {
    }

    static class Handler {

        @DelayedListener("orders")
        void handle(@Valid Order order) {
            System.out.println("HANDLING " + order);
        }

        @DelayedListener(queues = "orders", system = "second", id = "second")
        void handleSecond(Order order) {
            System.out.println("HANDLING second " + order);
        }

    }

}
