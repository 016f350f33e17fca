package io.delayqueue.web.http;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Collections;
import java.util.Locale;
import java.util.Set;

import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;

/**
 * Lets everybody on this machine do everything, and nobody else anything. A page on the
 * web that has its name resolve to this machine is told from the machine itself by the
 * host that it asks for, and a proxy on this machine by what it adds. A proxy that adds
 * nothing, and asks for this machine, goes unnoticed. The request is judged as it came,
 * whatever filters have made of it.
 */
public final class LoopbackAccessControl implements AccessControl {

    private static final Set<String> NAMES = Set.of("localhost", "127.0.0.1", "[::1]", "::1", "[0:0:0:0:0:0:0:1]");

    private static final Set<String> PROXIED = Set.of("forwarded", "via", "x-real-ip", "x-client-ip",
            "x-cluster-client-ip", "x-original-host", "x-original-url", "true-client-ip", "cf-connecting-ip");

    @Override
    public boolean permits(HttpServletRequest request, Authority authority) {
        ServletRequest original = request;
        while (original instanceof ServletRequestWrapper wrapper) {
            original = wrapper.getRequest();
        }
        return original instanceof HttpServletRequest came && isLoopback(came.getRemoteAddr())
                && NAMES.contains(came.getServerName())
                && Collections.list(came.getHeaderNames()).stream().noneMatch(LoopbackAccessControl::isOfProxy);
    }

    private static boolean isOfProxy(String header) {
        String name = header.toLowerCase(Locale.ROOT);
        return name.startsWith("x-forwarded") || PROXIED.contains(name);
    }

    @Override
    public String refusal(Set<Authority> needed) {
        return "It is open to this machine alone, under its own name and without a proxy";
    }

    @Override
    public String who(HttpServletRequest request) {
        return "insecure-local";
    }

    private static boolean isLoopback(String address) {
        try {
            // An address and not a name, so nothing is resolved.
            return InetAddress.getByName(address).isLoopbackAddress();
        }
        catch (UnknownHostException ex) {
            return false;
        }
    }

}
