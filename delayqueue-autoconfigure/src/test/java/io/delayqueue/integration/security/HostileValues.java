package io.delayqueue.integration.security;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Lists hostile values that a writer to Redis might store. */
final class HostileValues {

    private static final int DEEP = 10_000;

    private static final int LARGE = 1 << 20;

    private HostileValues() {
    }

    /** For any place. */
    static List<byte[]> all() {
        List<byte[]> values = new ArrayList<>();
        Stream
            .of("", " ", "\0", "\0\0\0\0\0\0\0\0", "null", "C", "S|", "Sx|y", "S0:0:4|", "S0:0:9:g|ssevenok", "0:0:4",
                    "1:2", "1:2:3:h:4:5", "0:0:0:h:" + "9".repeat(400) + ":",
                    "9".repeat(30) + ":" + "9".repeat(30) + ":2:l:1:x", "5:" + "9".repeat(400) + ":9:g",
                    "9".repeat(400), "-1", "inf", "-inf", "nan", "1e999", "0x7fffffff", "0:0:0:0:0:4:0:0:",
                    "0:0:0:0:0:4:999999999:999999999:", "inf:-inf:1:1:1:9+99:1:1:xx", "-1:-1:-1:-1:-1:-1:-1:-1:",
                    "999999999|1", "1|999", "1|", "5|1,1", "node 5", "node " + "9".repeat(400), "g 000000000000000:x",
                    "g \0", "\r\n+OK\r\n$5\r\n", "*1\r\n$8\r\nFLUSHALL\r\n", "'; redis.call('FLUSHALL') --", "%s%n%d{}",
                    "${jndi:ldap://127.0.0.1:1/x}", "{\"payload\":", "{\"headers\":{\"a\":1},\"payload\":1}",
                    "{\"headers\":[],\"payload\":1}", "{\"v\":2,\"payload\":1}", "{\"payload\":1}{\"payload\":2}")
            .map((text) -> text.getBytes(StandardCharsets.UTF_8))
            .forEach(values::add);
        payloads().forEach((json) -> values.add(("{\"payload\":" + json + "}").getBytes(StandardCharsets.UTF_8)));
        values.add(new byte[] { (byte) 0xff, (byte) 0xfe, 0x7b, 0 });
        values.add(new byte[] { (byte) 0xc0, (byte) 0x80, (byte) 0xed, (byte) 0xa0, (byte) 0x80 });
        values.add("{\"payload\":\"\uffff\"}".getBytes(StandardCharsets.UTF_16));
        values.add("{\"payload\":1}".getBytes(StandardCharsets.UTF_16LE));
        values.add(serialized());
        return values;
    }

    /** JSON for a payload, some of it well-formed. */
    static List<String> payloads() {
        String name = Canary.class.getName();
        return List.of("{\"@class\":\"" + name + "\",\"name\":\"x\"}", "[\"" + name + "\",{\"name\":\"x\"}]",
                "{\"@type\":\"" + name + "\",\"name\":\"x\"}", "{\"type\":\"" + name + "\"}", "\"" + name + "\"",
                "{\"any\":[\"" + name + "\",{\"name\":\"x\"}],\"number\":1}",
                "{\"any\":{\"@class\":\"" + name + "\"},\"number\":1}",
                "{\"open\":{\"@class\":\"" + name + "\",\"name\":\"x\"},\"number\":1}", "[\"java.util.ArrayList\",[1]]",
                "[\"javax.naming.InitialContext\",{}]", "{\"@class\":\"javax.script.ScriptEngineManager\"}",
                "[".repeat(DEEP) + "]".repeat(DEEP), "[".repeat(DEEP), "{\"a\":".repeat(DEEP) + "1" + "}".repeat(DEEP),
                "{\"more\":" + "[".repeat(450) + "]".repeat(450) + "}", "\"" + "x".repeat(LARGE) + "\"",
                "{\"" + "k".repeat(LARGE) + "\":1}", "1".repeat(5000), "1e999999999", "{\"number\":1e999999999}",
                "{\"at\":1e999999999}", "{\"span\":1e999999999}", "{\"amount\":1e999999999,\"number\":1}",
                "{\"span\":\"P999999999999999999999D\"}", "{\"number\":2147483648}", "\"\\ud800\"",
                "{\"number\":1,\"number\":2}", "null", "{}", "[]", "NaN", "{\"a\":\"\0\"}", "\"\\u0000\"", "/* c */ 1",
                "'x'", "{\"shape\":{\"kind\":\"" + name + "\"}}");
    }

    private static byte[] serialized() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(new Bait());
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        return bytes.toByteArray();
    }

    /** Whether a connection was made. */
    static boolean isForeignClassLoaded() {
        return Boolean.getBoolean("dq.canary");
    }

    /** Must never be loaded: no listener names it, only the contents of messages. */
    public static class Canary {

        static {
            System.setProperty("dq.canary", "true");
        }

        public void setName(String name) {
            System.setProperty("dq.canary", "true");
        }

    }

    /** Tells when it is deserialized by the JDK. */
    static class Bait implements Serializable {

        private static final long serialVersionUID = 1L;

        private void readObject(java.io.ObjectInputStream in) {
            System.setProperty("dq.canary", "true");
        }

    }

}
