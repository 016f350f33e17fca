package io.delayqueue.web.api;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.delayqueue.web.consume.ApiServer;
import io.delayqueue.web.consume.ApiServer.Reply;
import io.delayqueue.web.dashboard.DelayQueueDashboardSecurityCustomizer;
import io.delayqueue.web.http.Authority;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.oauth2.jwt.BadJwtException;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.access.intercept.AuthorizationFilter;
import org.springframework.web.filter.OncePerRequestFilter;

import static org.assertj.core.api.Assertions.assertThat;

/** Checks replacements of HTTP Basic, and the rules that still hold. */
@Tag("server")
class OtherSecurityTests {

    private static final String QUEUE = ApiServer.PATH + "/queues/other-security";

    private static final String BASIC = "Basic realm=\"DelayQueue\", charset=\"UTF-8\"";

    /** The chain permits everything; the API checks by itself. */
    @Test
    void aChainThatPermitsAllRequestsOpensNoRoute() {
        try (ApiServer server = ApiServer.start(OpenChain.class)) {
            assertThat(server.call(null, "GET", ApiServer.PATH + "/queues", null).problem()).isEqualTo("forbidden");
            assertThat(server.call(null, "GET", ApiServer.PATH + "/nothing", null).problem()).isEqualTo("forbidden");
            assertThat(server.call(null, "POST", QUEUE + "/messages", "{\"payload\": 1}").problem())
                .isEqualTo("forbidden");
            assertThat(server.call("view", "POST", QUEUE + "/messages", "{\"payload\": 1}").problem())
                .isEqualTo("forbidden");
            assertThat(server.audited()).isEmpty();

            assertThat(server.call("send", "POST", QUEUE + "/messages", "{\"payload\": 1}").status()).isEqualTo(201);
        }
    }

    /** Other authentication needs the same authorities, and is audited. */
    @Test
    void aCustomizerBringsAnotherAuthentication() {
        try (ApiServer server = ApiServer.start(KeyHolders.class)) {
            assertThat(byKey(server, "POST", QUEUE + "/messages", "{\"payload\": \"secret\", \"id\": \"1\"}").status())
                .isEqualTo(201);
            assertThat(byKey(server, "POST", QUEUE + "/dead-letters/purge",
                    "{\"filter\": {\"idPrefix\": \"order-\", " + "\"deadLetteredBefore\": \"2026-01-01T00:00:00Z\"}}")
                .status()).isEqualTo(200);
            assertThat(byKey(server, "GET", QUEUE, null).problem()).isEqualTo("forbidden");

            Reply basic = server.call("all", "GET", QUEUE, null);
            assertThat(basic.status()).isEqualTo(401);
            assertThat(basic.header("WWW-Authenticate")).isEmpty();
            List<AuditEvent> audited = server.bean(BootAudit.class).events;
            assertThat(audited).extracting(AuditEvent::getPrincipal).containsOnly("key-holder");
            assertThat(audited).extracting(AuditEvent::getType).containsExactly("delayqueue.send", "delayqueue.purge");
            assertThat(audited.get(0).getData()).containsOnlyKeys("queue", "filter", "count", "outcome")
                .containsEntry("queue", "other-security")
                .containsEntry("filter", "1")
                .containsEntry("count", 1L);
            assertThat(audited.get(1).getData()).containsEntry("count", 0L)
                .hasEntrySatisfying("filter",
                        (filter) -> assertThat(filter.toString()).contains("\"idPrefix\":\"order-\""));
        }
    }

    /** RFC 9110 requires a challenge, without which a browser asks for no password. */
    @Test
    void callersWithoutCredentialsGetTheChallengesOfTheCustomizers() {
        try (ApiServer server = ApiServer.start(PasswordsAndTokens.class, "delayqueue.web.dashboard.enabled=true")) {
            Reply reply = server.call(null, "GET", QUEUE, null);

            assertThat(reply.problem()).isEqualTo("unauthenticated");
            assertThat(challenges(reply)).containsExactly(BASIC, "Bearer");
            assertThat(challenges(server.call(null, "GET", "/delayqueue/", null))).containsExactly(BASIC);
            assertThat(server.call("view", "GET", ApiServer.PATH + "/queues", null).status()).isEqualTo(200);
        }
    }

    private static List<String> challenges(Reply reply) {
        assertThat(reply.status()).isEqualTo(401);
        return reply.http().headers().allValues("WWW-Authenticate");
    }

    private static Reply byKey(ApiServer server, String method, String path, String body) {
        return server.send(method, path, body,
                (request) -> request.header("X-Key", "good").header("Content-Type", "application/json"));
    }

    @Configuration(proxyBeanMethods = false)
    @Import(ApiServer.Application.class)
    static class OpenChain {

        @Bean
        SecurityFilterChain delayQueueApiSecurityFilterChain(HttpSecurity http) {
            return http.csrf(AbstractHttpConfigurer::disable)
                .httpBasic(Customizer.withDefaults())
                .authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
                .build();
        }

    }

    @Configuration(proxyBeanMethods = false)
    @Import(ApiServer.Application.class)
    static class KeyHolders {

        @Bean
        DelayQueueApiSecurityCustomizer keys() {
            return (http) -> http.addFilterBefore(new KeyFilter(), AuthorizationFilter.class);
        }

        @Bean
        BootAudit bootAudit() {
            return new BootAudit();
        }

    }

    @Configuration(proxyBeanMethods = false)
    @Import(ApiServer.Application.class)
    static class PasswordsAndTokens {

        @Bean
        DelayQueueApiSecurityCustomizer callers() {
            return (http) -> http.httpBasic(Customizer.withDefaults())
                .oauth2ResourceServer((server) -> server.jwt((jwt) -> jwt.decoder((token) -> {
                    throw new BadJwtException("unknown");
                })));
        }

        @Bean
        DelayQueueDashboardSecurityCustomizer viewers() {
            return (http) -> http.httpBasic(Customizer.withDefaults());
        }

    }

    static final class KeyFilter extends OncePerRequestFilter {

        @Override
        protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            if ("good".equals(request.getHeader("X-Key"))) {
                SecurityContextHolder.getContext()
                    .setAuthentication(UsernamePasswordAuthenticationToken.authenticated("key-holder", null,
                            AuthorityUtils.createAuthorityList(Authority.SEND.text(), Authority.OPERATE.text())));
            }
            chain.doFilter(request, response);
        }

    }

    static final class BootAudit {

        private final List<AuditEvent> events = Collections.synchronizedList(new ArrayList<>());

        @EventListener
        void audited(AuditApplicationEvent event) {
            if (event.getAuditEvent().getType().startsWith("delayqueue.")) {
                this.events.add(event.getAuditEvent());
            }
        }

    }

}
