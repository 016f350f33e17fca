package io.delayqueue.autoconfigure;

import java.net.InetAddress;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/** Whether only this machine reaches the web server. */
final class LocalServer {

    private LocalServer() {
    }

    /**
     * Refuses an insecure server that others reach. That of the management endpoints does
     * not count: nothing of the delay queue's pages is served there.
     */
    static void require(Environment environment) {
        InetAddress address = Binder.get(environment).bind("server.address", InetAddress.class).orElse(null);
        if (address == null || !address.isLoopbackAddress()) {
            throw new InsecureWebException(
                    "delayqueue.web.insecure-local is set, but the web server listens to %s: everybody who reaches it could do everything"
                        .formatted((address == null) ? "all addresses of this machine"
                                : "'" + address.getHostAddress() + "'"),
                    "Set server.address to 127.0.0.1, or leave delayqueue.web.insecure-local out and add "
                            + "spring-boot-starter-security.");
        }
    }

}
