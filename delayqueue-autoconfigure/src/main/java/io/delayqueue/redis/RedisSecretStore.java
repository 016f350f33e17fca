package io.delayqueue.redis;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import io.delayqueue.StoreRefusedException;
import io.delayqueue.redis.script.RedisKeys;
import io.delayqueue.redis.script.RedisScripts;
import io.delayqueue.store.SecretStore;

/** Stores the secret of the namespace in Redis, by {@code secret.lua}. */
public final class RedisSecretStore implements SecretStore {

    private final RedisScriptExecutor redis;

    public RedisSecretStore(RedisScriptExecutor redis) {
        this.redis = redis;
    }

    @Override
    public CompletableFuture<byte[]> getOrCreate(byte[] candidate) {
        return this.redis.directory(RedisScripts.SECRET, candidate)
            .thenApply((reply) -> requireLength((byte[]) reply.get(0)));
    }

    private byte[] requireLength(byte[] secret) {
        if (secret.length < SECRET_BYTES) {
            throw new CompletionException(new StoreRefusedException(
                    ("The secret of namespace '%s' has %d bytes, and needs %d: delete the key '%s'; the next call writes "
                            + "a new one")
                        .formatted(this.redis.namespace(), secret.length, SECRET_BYTES,
                                RedisKeys.secretOf(this.redis.namespace())),
                    null));
        }
        return secret;
    }

}
