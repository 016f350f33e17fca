package io.delayqueue.web.consume;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Builds lease tokens for a message from all responses to a caller, and from tokens of
 * other messages. Knows the format of tokens, but not the secret.
 */
public final class TokenForger {

    private static final Pattern TIME = Pattern.compile("\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z");

    private static final Pattern BASE64 = Pattern.compile("[A-Za-z0-9_-]{16,}");

    private static final Pattern NUMBER = Pattern.compile("\\d{13,17}");

    private static final long NEIGHBOURS = 2;

    private static final List<String> MACS = List.of("", "A", "A".repeat(22), "A".repeat(43), "_".repeat(22));

    private final Set<Long> numbers = new LinkedHashSet<>();

    private final Set<String> macs = new LinkedHashSet<>(MACS);

    private final List<String> own = new ArrayList<>();

    /** Extracts every time and every number from a response, also from cursors. */
    void see(String answer) {
        Matcher times = TIME.matcher(answer);
        while (times.find()) {
            Instant time = Instant.parse(times.group());
            near(time.getEpochSecond() * 1_000_000 + time.getNano() / 1_000);
            near(time.toEpochMilli() * 1_000);
            near(time.getEpochSecond() * 1_000_000);
        }
        numbersIn(answer);
        Matcher encoded = BASE64.matcher(answer);
        while (encoded.find()) {
            try {
                numbersIn(new String(Base64.getUrlDecoder().decode(encoded.group()), StandardCharsets.ISO_8859_1));
            }
            catch (IllegalArgumentException ex) {
                // Not a cursor.
            }
        }
    }

    private void numbersIn(String text) {
        Matcher number = NUMBER.matcher(text);
        while (number.find()) {
            near(Long.parseLong(number.group()));
        }
    }

    private void near(long number) {
        for (long i = -NEIGHBOURS; i <= NEIGHBOURS; i++) {
            this.numbers.add(number + i);
        }
    }

    /** Adds a token that the caller has. */
    void own(String token) {
        this.own.add(token);
        this.macs.add(macOf(token));
    }

    private static String macOf(String token) {
        return token.substring(token.indexOf('.') + 1);
    }

    private static String plainOf(String token) {
        String body = (token.indexOf('.') < 0) ? token : token.substring(0, token.indexOf('.'));
        return new String(Base64.getUrlDecoder().decode(body), StandardCharsets.ISO_8859_1);
    }

    /** Returns all tokens that can be built. */
    Set<String> tokens() {
        Set<String> tokens = new LinkedHashSet<>();
        for (long number : this.numbers) {
            tokens.add(encoded("1.0.0.0." + number));
            tokens.add(encoded("2.0.0.0." + number));
            this.macs.forEach((mac) -> tokens.add(encoded("2.0.0.0." + number) + "." + mac));
            this.own.forEach((token) -> tokens.add(encoded(with(plainOf(token), 4, "" + number)) + "." + macOf(token)));
        }
        this.own.forEach((token) -> addVariants(token, tokens));
        return tokens;
    }

    private void addVariants(String token, Set<String> tokens) {
        String plain = plainOf(token);
        String mac = macOf(token);
        for (String other : List.of(with(plain, 0, "1"), with(plain, 0, "3"), with(plain, 1, "1"), with(plain, 1, "00"),
                with(plain, 2, "1"), with(plain, 2, "99"), with(plain, 3, "0"), with(plain, 3, "-1"), plain + "0",
                plain + " ", "", "." + plain)) {
            tokens.add(encoded(other) + "." + mac);
        }
        this.macs.forEach((one) -> tokens.add(encoded(plain) + "." + one));
        for (int i = 0; i < mac.length(); i++) {
            char turned = (mac.charAt(i) == 'A') ? 'B' : 'A';
            tokens.add(encoded(plain) + "." + mac.substring(0, i));
            tokens.add(encoded(plain) + "." + mac.substring(0, i) + turned + mac.substring(i + 1));
        }
        tokens.add(encoded(plain));
        tokens.add(mac);
        tokens.add(mac + "." + encoded(plain));
        tokens.add(token + "A");
        tokens.add(token + "=");
        tokens.add(token + "." + mac);
        tokens.add(token.replace(".", ".."));
        tokens.add(token.toUpperCase(java.util.Locale.ROOT));
        tokens.add(Base64.getUrlEncoder().encodeToString(plain.getBytes(StandardCharsets.ISO_8859_1)) + "." + mac);
        tokens.remove(token);
    }

    private static String with(String plain, int index, String value) {
        String[] parts = plain.split("\\.", -1);
        parts[Math.min(index, parts.length - 1)] = value;
        return String.join(".", parts);
    }

    private static String encoded(String plain) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(plain.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Returns a token that verifies, of a lease that need not exist. */
    public static String sealed(LeaseTokenService tokens, LeaseToken token) {
        return tokens.signer().join().text(token);
    }

}
