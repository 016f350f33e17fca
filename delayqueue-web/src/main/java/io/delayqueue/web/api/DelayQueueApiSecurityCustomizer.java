package io.delayqueue.web.api;

import io.delayqueue.web.http.Authority;

import org.springframework.security.config.annotation.web.builders.HttpSecurity;

/**
 * Customizes how callers of the API authenticate, in place of HTTP Basic. A bean of this
 * type receives the API's filter chain before it is built. Permissions still depend on
 * the authorities; see {@link Authority}.
 * <p>
 * Callers send a JWT: <pre class="code">
 * &#64;Bean
 * DelayQueueApiSecurityCustomizer apiLogin() {
 *     return (http) -&gt; http.oauth2ResourceServer((server) -&gt; server.jwt(Customizer.withDefaults()));
 * }
 * </pre>
 */
@FunctionalInterface
public interface DelayQueueApiSecurityCustomizer {

    /** Customizes the chain, for instance with {@code oauth2ResourceServer}. */
    void customize(HttpSecurity http);

}
