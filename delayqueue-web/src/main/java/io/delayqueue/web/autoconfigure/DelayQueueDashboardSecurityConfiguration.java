package io.delayqueue.web.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import io.delayqueue.web.dashboard.Dashboard;
import io.delayqueue.web.dashboard.DelayQueueDashboardSecurityCustomizer;
import io.delayqueue.web.http.AccessControl;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.security.authorization.AuthorizationDecision;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.web.SecurityFilterChain;

/**
 * Configures the filter chain of the dashboard. It matches only the path of the
 * dashboard. It creates no session, but uses an existing one of an application with a
 * login. A bean with its name replaces it; the dashboard itself still checks the
 * authorities.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ HttpSecurity.class, SecurityFilterChain.class })
@ConditionalOnBooleanProperty("delayqueue.web.dashboard.enabled")
final class DelayQueueDashboardSecurityConfiguration {

    /** Name of the chain, and of its replacement. */
    static final String DASHBOARD_CHAIN = "delayQueueDashboardSecurityFilterChain";

    /** After the chain of the API, whose path may be below that of the dashboard. */
    static final int DASHBOARD_ORDER = DelayQueueWebSecurityConfiguration.API_ORDER + 10;

    @Bean(name = DASHBOARD_CHAIN)
    @Order(DASHBOARD_ORDER)
    @ConditionalOnMissingBean(name = DASHBOARD_CHAIN)
    SecurityFilterChain delayQueueDashboardSecurityFilterChain(ObjectProvider<HttpSecurity> builders,
            Dashboard dashboard, AccessControl access, DelayQueueWebProperties properties,
            ObjectProvider<DelayQueueDashboardSecurityCustomizer> customizers) {
        HttpSecurity http = DelayQueueWebSecurityConfiguration.builder(builders, access,
                "delayqueue.web.dashboard.enabled");
        if (http == null) {
            return DelayQueueWebSecurityConfiguration.unused();
        }
        boolean open = properties.insecureLocal();
        List<DelayQueueDashboardSecurityCustomizer> own = customizers.orderedStream().toList();
        List<String> challenges = new ArrayList<>();
        DelayQueueWebSecurityConfiguration.stateless(http.securityMatcher(dashboard::answers));
        http.sessionManagement((sessions) -> sessions.sessionCreationPolicy(SessionCreationPolicy.NEVER));
        http.exceptionHandling((handling) -> handling
            .authenticationEntryPoint(
                    (request, response, ex) -> DelayQueueWebSecurityConfiguration.refuse(response, challenges))
            .accessDeniedHandler((request, response, ex) -> dashboard.deny(request, response)));
        http.authorizeHttpRequests((requests) -> requests.anyRequest()
            .access((caller, context) -> new AuthorizationDecision(open || DelayQueueWebSecurityConfiguration
                .mayAsk(caller.get(), dashboard.authorities(context.getRequest())))));
        if (!open && own.isEmpty()) {
            http.httpBasic((basic) -> basic.authenticationEntryPoint(
                    (request, response, ex) -> DelayQueueWebSecurityConfiguration.refuse(response, challenges)));
        }
        own.forEach((customizer) -> customizer.customize(http));
        challenges.addAll(DelayQueueWebSecurityConfiguration.challenges(http));
        return http.build();
    }

}
