package io.delayqueue.web;

import io.delayqueue.web.consume.ApiServer;

/** Runs an {@link ApiServer} in its own JVM, which ends when standard input does. */
public final class ChildServer {

    private ChildServer() {
    }

    public static void main(String[] arguments) throws Exception {
        String[] properties = new String[arguments.length];
        for (int i = 0; i < arguments.length; i++) {
            properties[i] = arguments[i].replaceFirst("^--", "");
        }
        ApiServer server = ApiServer.start(properties);
        System.out.println("READY " + server.port());
        while (System.in.read() >= 0) {
            continue;
        }
        Runtime.getRuntime().halt(2);
    }

}
