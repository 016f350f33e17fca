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
 * Permits everything to callers on this machine, and nothing to others. Detects web pages
 * whose name resolves to this machine (DNS rebinding) by the requested host, and local
 * proxies by their headers. A proxy that adds no header and requests this machine by name
 * is not detected. Judges the original request, without the wrappers of filters.
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
    public String denialReason(Set<Authority> needed) {
        return "It is open to this machine alone, under its own name and without a proxy";
    }

    @Override
    public String principal(HttpServletRequest request) {
        return "insecure-local";
    }

    private static boolean isLoopback(String address) {
        try {
            // The address is never a name, so nothing is resolved.
            return InetAddress.getByName(address).isLoopbackAddress();
        }
        catch (UnknownHostException ex) {
            return false;
        }
    }

}
