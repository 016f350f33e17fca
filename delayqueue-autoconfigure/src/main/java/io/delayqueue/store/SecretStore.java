package io.delayqueue.store;

import java.util.concurrent.CompletableFuture;

/**
 * Keeps the secret of the namespace, which all its processes share: a setting that
 * outlives messages. Threads and failures are as with {@link MessageStore}.
 */
public interface SecretStore {

    /** Fewest bytes of a secret. */
    int SECRET_BYTES = 32;

    /**
     * Reads the secret. If there is none, the candidate becomes it, in one step: of
     * several processes that find none, all get that of the first.
     * @param candidate {@value #SECRET_BYTES} random bytes
     * @return completes with the secret, at least {@value #SECRET_BYTES} bytes
     */
    CompletableFuture<byte[]> getOrCreate(byte[] candidate);

    /** Creates a store in this process, for where no other process takes part. */
    static SecretStore inMemory() {
        CompletableFuture<byte[]> secret = new CompletableFuture<>();
        return (candidate) -> {
            secret.complete(candidate.clone());
            return secret.thenApply(byte[]::clone);
        };
    }

}
