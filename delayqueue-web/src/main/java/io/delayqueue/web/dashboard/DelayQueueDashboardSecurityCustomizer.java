package io.delayqueue.web.dashboard;

import io.delayqueue.web.http.Authority;

import org.springframework.security.config.annotation.web.builders.HttpSecurity;

/**
 * Customizes how users of the dashboard log in, in place of HTTP Basic. A bean of this
 * type receives the dashboard's filter chain before it is built. Permissions still depend
 * on the authorities; see {@link Authority}.
 * <p>
 * Users log in at the page of the application, such as one for OpenID Connect. That page
 * belongs to the application's own chain, as this one applies to the path of the
 * dashboard only: <pre class="code">
 * &#64;Bean
 * DelayQueueDashboardSecurityCustomizer dashboardLogin() {
 *     return (http) -&gt; http.exceptionHandling((handling) -&gt; handling
 *         .authenticationEntryPoint(new LoginUrlAuthenticationEntryPoint("/login")));
 * }
 * </pre>
 */
@FunctionalInterface
public interface DelayQueueDashboardSecurityCustomizer {

    /** Customizes the chain, for instance with an entry point to the login page. */
    void customize(HttpSecurity http);

}
