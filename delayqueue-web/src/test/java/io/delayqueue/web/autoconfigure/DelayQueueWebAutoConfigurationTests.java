package io.delayqueue.web.autoconfigure;

import java.util.List;

import io.delayqueue.autoconfigure.DelayQueueAutoConfiguration;
import io.delayqueue.fixtures.application.StartupFailures;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.SecretStore;
import io.delayqueue.store.WakeUps;
import io.delayqueue.web.api.HttpApi;
import io.delayqueue.web.http.AccessControl;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.LoopbackAccessControl;
import io.delayqueue.web.http.SpringSecurityAccessControl;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.security.autoconfigure.SecurityAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.DefaultSecurityFilterChain;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.servlet.DispatcherServlet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

/** Checks when the API exists, how it is protected, and when the start fails. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class DelayQueueWebAutoConfigurationTests {

    private static final String ENABLED = "delayqueue.web.api.enabled=true";

    private static final String INSECURE = "delayqueue.web.insecure-local=true";

    private final WebApplicationContextRunner web = new WebApplicationContextRunner()
        .withConfiguration(
                AutoConfigurations.of(WebMvcAutoConfiguration.class, DispatcherServletAutoConfiguration.class,
                        SecurityAutoConfiguration.class, ServletWebSecurityAutoConfiguration.class,
                        DelayQueueAutoConfiguration.class, DelayQueueWebAutoConfiguration.class))
        .withPropertyValues("delayqueue.store=memory");

    @Test
    void isDisabledByDefault() {
        this.web.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(HttpApi.class));
        this.web.withPropertyValues(ENABLED, "delayqueue.enabled=false")
            .run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(HttpApi.class));
    }

    @Test
    void hasItsOwnFilterChainBesidesBoots() {
        this.web.withPropertyValues(ENABLED).run((context) -> {
            assertThat(context).hasSingleBean(HttpApi.class).hasSingleBean(SpringSecurityAccessControl.class);
            assertThat(context.getBeansOfType(SecurityFilterChain.class)).hasSize(2)
                .containsKey(DelayQueueWebSecurityConfiguration.API_CHAIN);
            SecurityFilterChain chain = context.getBean(DelayQueueWebSecurityConfiguration.API_CHAIN,
                    SecurityFilterChain.class);
            assertThat(chain.matches(request("/delayqueue/api/v1/queues"))).isTrue();
            assertThat(chain.matches(request("/delayqueue/apix"))).isFalse();
            assertThat(chain.matches(request("/delayqueue"))).isFalse();
        });
    }

    private static MockHttpServletRequest request(String path) {
        return new MockHttpServletRequest("GET", path);
    }

    @Test
    void aBeanOfItsNameReplacesTheChain() {
        this.web.withPropertyValues(ENABLED)
            .withBean(DelayQueueWebSecurityConfiguration.API_CHAIN, SecurityFilterChain.class,
                    () -> new DefaultSecurityFilterChain((request) -> true))
            .run((context) -> {
                assertThat(context).hasSingleBean(SecurityFilterChain.class);
                // The chain permits all requests, and the API none.
                assertThat(context.getBean(AccessControl.class)
                    .permits(request("/delayqueue/api/v1/queues"), Authority.VIEW)).isFalse();
            });
    }

    /**
     * Else each node would sign with a secret of its own, and refuse the others' tokens.
     */
    @Test
    void failsTheStartWithACustomStoreAndNoSharedSecret() {
        WebApplicationContextRunner own = new WebApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(WebMvcAutoConfiguration.class, DispatcherServletAutoConfiguration.class,
                            SecurityAutoConfiguration.class, ServletWebSecurityAutoConfiguration.class,
                            DelayQueueAutoConfiguration.class, DelayQueueWebAutoConfiguration.class))
            .withBean(MessageStore.class, () -> mock())
            .withBean(MessageInspector.class, () -> mock())
            .withBean(WakeUps.class, () -> mock())
            .withPropertyValues(ENABLED);
        own.run((context) -> assertThat(StartupFailures.of(context.getStartupFailure())).satisfies((analysis) -> {
            assertThat(analysis.getDescription()).contains("no bean of type io.delayqueue.store.SecretStore");
            assertThat(analysis.getAction()).contains("SecretStore").contains("all nodes");
        }));
        own.withBean(SecretStore.class, SecretStore::inMemory)
            .run((context) -> assertThat(context).hasNotFailed().hasSingleBean(HttpApi.class));
    }

    @Test
    void failsTheStartWithoutSpringSecurity() {
        withoutSecurity().withPropertyValues(ENABLED)
            .run((context) -> assertThat(analysis(context.getStartupFailure())).satisfies((analysis) -> {
                assertThat(analysis.getDescription()).contains("Spring Security is not on the class path");
                assertThat(analysis.getAction()).contains("spring-boot-starter-security");
            }));
    }

    @Test
    void startsWithoutSpringSecurityIfTheApplicationControlsAccess() {
        withoutSecurity().withPropertyValues(ENABLED, "delayqueue.web.dashboard.enabled=true")
            .withBean("own", AccessControl.class, LoopbackAccessControl::new)
            .run((context) -> {
                assertThat(context).hasNotFailed().getBeanNames(AccessControl.class).containsExactly("own");
                MockMvc mvc = MockMvcBuilders.webAppContextSetup(context).build();
                for (String path : List.of("/delayqueue/api/v1/queues", "/delayqueue/")) {
                    mvc.perform(get(path)).andExpect(status().isOk());
                    mvc.perform(get(path).header("X-Forwarded-For", "192.0.2.1")).andExpect(status().isForbidden());
                }
            });
    }

    @Test
    void startsWithSpringSecurityNotSetUpIfTheApplicationControlsAccess() {
        new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(WebMvcAutoConfiguration.class, DelayQueueAutoConfiguration.class,
                    DelayQueueWebAutoConfiguration.class))
            .withPropertyValues("delayqueue.store=memory", ENABLED, "delayqueue.web.dashboard.enabled=true")
            .withBean("own", AccessControl.class, LoopbackAccessControl::new)
            .run((context) -> assertThat(context).hasNotFailed()
                .getBeanNames(AccessControl.class)
                .containsExactly("own"));
    }

    @Test
    void failsTheStartIfSpringSecurityIsNotSetUp() {
        new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(WebMvcAutoConfiguration.class, DelayQueueAutoConfiguration.class,
                    DelayQueueWebAutoConfiguration.class))
            .withPropertyValues("delayqueue.store=memory", ENABLED)
            .run((context) -> assertThat(analysis(context.getStartupFailure()).getDescription())
                .contains("Spring Security is not set up for servlets"));
    }

    @ParameterizedTest
    @ValueSource(strings = { "unused=1", "server.address=0.0.0.0", "server.address=192.0.2.1", "server.address=::",
            "management.server.address=127.0.0.1" })
    void insecureLocalIsRejectedIfOtherMachinesReachTheServer(String address) {
        withoutSecurity().withPropertyValues(ENABLED, INSECURE, address)
            .run((context) -> assertThat(analysis(context.getStartupFailure())).satisfies((analysis) -> {
                assertThat(analysis.getDescription()).contains("delayqueue.web.insecure-local");
                assertThat(analysis.getAction()).contains("server.address");
            }));
    }

    /** All requests through a proxy on this machine come from this machine. */
    @ParameterizedTest
    @ValueSource(strings = { "server.forward-headers-strategy=framework", "server.forward-headers-strategy=NATIVE",
            "server.tomcat.remoteip.remote-ip-header=X-Real-IP", "server.tomcat.remoteip.protocol-header=X-P",
            "spring.main.cloud-platform=kubernetes" })
    void insecureLocalIsRejectedBehindAProxy(String setting) {
        withoutSecurity().withPropertyValues(ENABLED, INSECURE, "server.address=127.0.0.1", setting)
            .run((context) -> assertThat(analysis(context.getStartupFailure())).satisfies((analysis) -> {
                assertThat(analysis.getDescription()).contains("delayqueue.web.insecure-local", "proxy");
                assertThat(analysis.getAction()).contains("spring-boot-starter-security");
            }));
        withoutSecurity()
            .withPropertyValues(ENABLED, INSECURE, "server.address=127.0.0.1", "server.forward-headers-strategy=none")
            .run((context) -> assertThat(context).hasNotFailed());
    }

    @ParameterizedTest
    @ValueSource(strings = { "127.0.0.1", "::1", "localhost" })
    void insecureLocalIsAcceptedOnLoopback(String address, CapturedOutput output) {
        withoutSecurity().withPropertyValues(ENABLED, INSECURE, "server.address=" + address)
            .run((context) -> assertThat(context).hasNotFailed().hasSingleBean(LoopbackAccessControl.class));
        assertThat(output).contains("Every local user may do everything");
    }

    private WebApplicationContextRunner withoutSecurity() {
        return new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(WebMvcAutoConfiguration.class, DelayQueueAutoConfiguration.class,
                    DelayQueueWebAutoConfiguration.class))
            .withPropertyValues("delayqueue.store=memory")
            .withClassLoader(new FilteredClassLoader(HttpSecurity.class, SecurityFilterChain.class));
    }

    private static FailureAnalysis analysis(Throwable failure) {
        assertThat(failure).isNotNull();
        FailureAnalysis analysis = new InsecureWebFailureAnalyzer().analyze(failure);
        assertThat(analysis).isNotNull();
        return analysis;
    }

    @Test
    void staysOffInAReactiveApplicationAndLogsIt(CapturedOutput output) {
        new ReactiveWebApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(DelayQueueAutoConfiguration.class, DelayQueueWebAutoConfiguration.class))
            .withPropertyValues("delayqueue.store=memory", ENABLED)
            .run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(HttpApi.class));
        assertThat(output).contains("are disabled: they need a servlet application");
    }

    @Test
    void needsNoWebClassesInANonWebApplicationAndLogsIt(CapturedOutput output) {
        new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(DelayQueueAutoConfiguration.class, DelayQueueWebAutoConfiguration.class))
            .withPropertyValues("delayqueue.store=memory", ENABLED)
            .withClassLoader(new FilteredClassLoader(HttpSecurity.class, SecurityFilterChain.class,
                    DispatcherServlet.class, AuditApplicationEvent.class))
            .run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(HttpApi.class));
        assertThat(output).contains("serves nothing over HTTP");
    }

    @Test
    void insecureLocalPermitsLoopbackCallersOnly() {
        LoopbackAccessControl access = new LoopbackAccessControl();
        MockHttpServletRequest local = request("/delayqueue/api/v1/queues");
        assertThat(access.permits(local, Authority.VIEW)).isTrue();

        MockHttpServletRequest rebound = request("/delayqueue/api/v1/queues");
        rebound.setServerName("evil.example");
        assertThat(access.permits(rebound, Authority.VIEW)).isFalse();

        MockHttpServletRequest remote = request("/delayqueue/api/v1/queues");
        remote.setRemoteAddr("192.0.2.1");
        assertThat(access.permits(remote, Authority.VIEW)).isFalse();

        MockHttpServletRequest proxied = request("/delayqueue/api/v1/queues");
        proxied.addHeader("X-Forwarded-For", "192.0.2.1");
        assertThat(access.permits(proxied, Authority.VIEW)).isFalse();
    }

}
