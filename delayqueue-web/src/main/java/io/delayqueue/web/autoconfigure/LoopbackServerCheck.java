package io.delayqueue.web.autoconfigure;

import java.net.InetAddress;
import java.util.List;
import java.util.Locale;

import org.springframework.boot.cloud.CloudPlatform;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/** Checks that the web server is reachable only from this machine. */
final class LoopbackServerCheck {

    private static final List<String> PROXY_HEADERS = List.of("server.tomcat.remoteip.remote-ip-header",
            "server.tomcat.remoteip.protocol-header");

    private LoopbackServerCheck() {
    }

    /**
     * Rejects an insecure server that other machines can reach. Ignores the management
     * server, because it does not serve the API or the dashboard.
     */
    static void require(Environment environment) {
        InetAddress address = Binder.get(environment).bind("server.address", InetAddress.class).orElse(null);
        if (address == null || !address.isLoopbackAddress()) {
            throw new InsecureWebException(
                    "delayqueue.web.insecure-local is set, but the web server listens on %s: every client that reaches it could do everything"
                        .formatted((address == null) ? "all addresses of this machine"
                                : "'" + address.getHostAddress() + "'"),
                    "Set server.address to 127.0.0.1, or leave delayqueue.web.insecure-local out and add "
                            + "spring-boot-starter-security.");
        }
        requireNoProxy(environment);
    }

    /** Behind a local proxy, every request comes from this machine. */
    private static void requireNoProxy(Environment environment) {
        String strategy = Binder.get(environment).bind("server.forward-headers-strategy", String.class).orElse("");
        CloudPlatform cloud = strategy.isEmpty() ? CloudPlatform.getActive(environment) : null;
        String what = null;
        if (!strategy.isEmpty() && !strategy.equalsIgnoreCase("none")) {
            what = "server.forward-headers-strategy is '%s'".formatted(strategy.toLowerCase(Locale.ROOT));
        }
        else if (cloud != null && cloud.isUsingForwardHeaders()) {
            what = "the application runs on " + cloud;
        }
        else if (PROXY_HEADERS.stream().anyMatch(environment::containsProperty)) {
            what = "server.tomcat.remoteip is set";
        }
        if (what != null) {
            throw new InsecureWebException(
                    "delayqueue.web.insecure-local is set, but %s, so that there is a proxy in front of the web server: every client that reaches the proxy could do everything"
                        .formatted(what),
                    "Leave out what is for proxies, with server.forward-headers-strategy=none where the platform brings it, "
                            + "or leave delayqueue.web.insecure-local out and add spring-boot-starter-security.");
        }
    }

}
