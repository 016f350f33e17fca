package io.delayqueue.web.autoconfigure;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.delayqueue.web.api.DelayQueueApiSecurityCustomizer;
import io.delayqueue.web.api.HttpApi;
import io.delayqueue.web.http.AccessControl;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.SpringSecurityAccessControl;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ProxyType;
import org.springframework.context.annotation.Proxyable;
import org.springframework.core.annotation.Order;
import org.springframework.security.authorization.AuthorizationDecision;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.config.annotation.web.configurers.HttpBasicConfigurer;
import org.springframework.security.config.annotation.web.configurers.oauth2.server.resource.OAuth2ResourceServerConfigurer;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.core.Authentication;
import org.springframework.security.web.DefaultSecurityFilterChain;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.header.writers.ReferrerPolicyHeaderWriter.ReferrerPolicy;

/**
 * Configures the filter chain of the API. It matches only the path of the API, uses no
 * session, and denies every operation without a granted authority. A bean with its name
 * replaces it; the API itself still checks the authorities.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ HttpSecurity.class, SecurityFilterChain.class })
final class DelayQueueWebSecurityConfiguration {

    /** Name of the chain, and of its replacement. */
    static final String API_CHAIN = "delayQueueApiSecurityFilterChain";

    /** Before the chains of the application, which may match more paths. */
    static final int API_ORDER = -1000;

    private static final String CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'";

    @Bean
    @Proxyable(ProxyType.INTERFACES)
    @ConditionalOnBooleanProperty(name = "delayqueue.web.insecure-local", havingValue = false, matchIfMissing = true)
    @ConditionalOnMissingBean(AccessControl.class)
    SpringSecurityAccessControl delayQueueWebAccess() {
        return new SpringSecurityAccessControl();
    }

    @Bean(name = API_CHAIN)
    @Order(API_ORDER)
    @ConditionalOnBooleanProperty("delayqueue.web.api.enabled")
    @ConditionalOnMissingBean(name = API_CHAIN)
    SecurityFilterChain delayQueueApiSecurityFilterChain(ObjectProvider<HttpSecurity> builders, HttpApi api,
            AccessControl access, DelayQueueWebProperties properties,
            ObjectProvider<DelayQueueApiSecurityCustomizer> customizers) {
        HttpSecurity http = builder(builders, access, "delayqueue.web.api.enabled");
        if (http == null) {
            return unused();
        }
        boolean open = properties.insecureLocal();
        List<DelayQueueApiSecurityCustomizer> own = customizers.orderedStream().toList();
        List<String> challenges = new ArrayList<>();
        stateless(http.securityMatcher(api::answers));
        http.headers((headers) -> headers.contentSecurityPolicy((policy) -> policy.policyDirectives(CONTENT_POLICY))
            .referrerPolicy((policy) -> policy.policy(ReferrerPolicy.NO_REFERRER)));
        http.exceptionHandling(
                (handling) -> handling.authenticationEntryPoint((request, response, ex) -> refuse(response, challenges))
                    .accessDeniedHandler((request, response, ex) -> write(response, HttpServletResponse.SC_FORBIDDEN,
                            api.denialReason(request))));
        http.authorizeHttpRequests((requests) -> requests.dispatcherTypeMatchers(DispatcherType.ASYNC)
            .permitAll()
            .anyRequest()
            .access((caller, context) -> new AuthorizationDecision(
                    open || mayAsk(caller.get(), api.authorities(context.getRequest())))));
        if (!open && own.isEmpty()) {
            http.httpBasic(
                    (basic) -> basic.authenticationEntryPoint((request, response, ex) -> refuse(response, challenges)));
        }
        own.forEach((customizer) -> customizer.customize(http));
        challenges.addAll(challenges(http));
        return http.build();
    }

    /**
     * Returns the builder of a chain.
     * @return {@code null} if Spring Security is not set up and not needed, because the
     * application has its own access control
     * @throws InsecureWebException if there would be no access control
     */
    static @Nullable HttpSecurity builder(ObjectProvider<HttpSecurity> builders, AccessControl access,
            String property) {
        HttpSecurity http = builders.getIfAvailable();
        if (http == null && AopProxyUtils.ultimateTargetClass(access) == SpringSecurityAccessControl.class) {
            throw new InsecureWebException(property
                    + " is set, but Spring Security is not set up for servlets: nothing protects what it serves",
                    "Do not exclude Boot's auto-configurations for security, or use @EnableWebSecurity.");
        }
        return http;
    }

    /**
     * Returns a chain that matches nothing, for an application without Spring Security's
     * filter.
     */
    static SecurityFilterChain unused() {
        return new DefaultSecurityFilterChain((request) -> false);
    }

    /**
     * Disables CSRF tokens and sessions; the endpoints detect cross-site requests
     * themselves.
     */
    static void stateless(HttpSecurity http) {
        http.csrf(AbstractHttpConfigurer::disable)
            .cors(AbstractHttpConfigurer::disable)
            .formLogin(AbstractHttpConfigurer::disable)
            .logout(AbstractHttpConfigurer::disable)
            .requestCache(AbstractHttpConfigurer::disable)
            .sessionManagement((sessions) -> sessions.sessionCreationPolicy(SessionCreationPolicy.STATELESS));
    }

    static boolean mayAsk(Authentication caller, Set<Authority> authorities) {
        List<String> needed = authorities.stream().map(Authority::text).toList();
        return caller != null && caller.isAuthenticated()
                && caller.getAuthorities().stream().anyMatch((granted) -> needed.contains(granted.getAuthority()));
    }

    /**
     * Returns the challenges for callers without credentials: one for each scheme that is
     * configured and has a challenge.
     */
    @SuppressWarnings("unchecked")
    static List<String> challenges(HttpSecurity http) {
        List<String> challenges = new ArrayList<>();
        if (!http.getConfigurers(HttpBasicConfigurer.class).isEmpty()) {
            challenges.add("Basic realm=\"DelayQueue\", charset=\"UTF-8\"");
        }
        if (!http.getConfigurers(OAuth2ResourceServerConfigurer.class).isEmpty()) {
            challenges.add("Bearer");
        }
        return challenges;
    }

    static void refuse(HttpServletResponse response, List<String> challenges) throws IOException {
        challenges.forEach((challenge) -> response.addHeader("WWW-Authenticate", challenge));
        write(response, HttpServletResponse.SC_UNAUTHORIZED, HttpApi.unknown());
    }

    static void write(HttpServletResponse response, int status, byte[] problem) throws IOException {
        response.setStatus(status);
        response.setContentType("application/problem+json");
        response.getOutputStream().write(problem);
    }

}
