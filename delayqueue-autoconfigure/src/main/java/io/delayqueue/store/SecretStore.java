package io.delayqueue.store;

import java.util.concurrent.CompletableFuture;

/**
 * Stores the secret that all processes of a namespace share. It is stored independently
 * of messages. Threads and failures are the same as in {@link MessageStore}.
 */
public interface SecretStore {

    /** Minimum length of a secret in bytes. */
    int SECRET_BYTES = 32;

    /**
     * Returns the secret. If there is none, stores the candidate atomically: concurrent
     * calls all return the candidate of the first one.
     * @param candidate {@value #SECRET_BYTES} random bytes
     * @return completes with the secret, at least {@value #SECRET_BYTES} bytes
     */
    CompletableFuture<byte[]> getOrCreate(byte[] candidate);

    /** Creates an in-memory store, for a namespace that only this process uses. */
    static SecretStore inMemory() {
        CompletableFuture<byte[]> secret = new CompletableFuture<>();
        return (candidate) -> {
            secret.complete(candidate.clone());
            return secret.thenApply(byte[]::clone);
        };
    }

}
