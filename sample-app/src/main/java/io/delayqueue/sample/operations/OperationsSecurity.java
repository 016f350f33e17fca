package io.delayqueue.sample.operations;

import java.util.List;

import jakarta.servlet.http.HttpServletRequest;

import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.InMemoryAuditEventRepository;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/**
 * Defines a few users, and their permissions for Actuator. The delay queue protects its
 * own pages by the same authorities. A real application has its users elsewhere, and no
 * passwords in its properties.
 */
@Configuration(proxyBeanMethods = false)
@Profile("operations")
class OperationsSecurity {

    private static final String ACTUATOR = "/actuator/**";

    private static final String VIEW = "DELAYQUEUE_VIEW";

    private static final String OPERATE = "DELAYQUEUE_OPERATE";

    @Bean
    InMemoryUserDetailsManager operationsUserDetails(OperationsUsers properties) {
        List<UserDetails> users = properties.users()
            .entrySet()
            .stream()
            .map((user) -> User.withUsername(user.getKey())
                .password("{noop}" + user.getValue().password())
                .authorities(user.getValue().authorities().toArray(String[]::new))
                .build())
            .toList();
        return new InMemoryUserDetailsManager(users);
    }

    /** Permits the health endpoint to all callers; the others need authorities. */
    @Bean
    @Order(1)
    SecurityFilterChain actuatorSecurityFilterChain(HttpSecurity http) {
        return http.securityMatcher(ACTUATOR)
            .authorizeHttpRequests((requests) -> requests.requestMatchers(HttpMethod.GET, "/actuator/health")
                .permitAll()
                .requestMatchers(HttpMethod.GET)
                .hasAuthority(VIEW)
                .anyRequest()
                .hasAuthority(OPERATE))
            .csrf((csrf) -> csrf.requireCsrfProtectionMatcher(OperationsSecurity::comesFromAPage))
            .httpBasic(Customizer.withDefaults())
            .sessionManagement((sessions) -> sessions.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
            .build();
    }

    /**
     * Stores the latest changes for the endpoint that shows them. The dashboard logs in
     * with each request, which would soon leave room for nothing else.
     */
    @Bean
    InMemoryAuditEventRepository auditEvents() {
        return new InMemoryAuditEventRepository() {

            @Override
            public void add(AuditEvent event) {
                if (event.getType().startsWith("delayqueue.")) {
                    super.add(event);
                }
            }

        };
    }

    /** No page acts on Actuator; so one that does is another site's. */
    private static boolean comesFromAPage(HttpServletRequest request) {
        return request.getHeader(HttpHeaders.ORIGIN) != null && !HttpMethod.GET.matches(request.getMethod());
    }

}
