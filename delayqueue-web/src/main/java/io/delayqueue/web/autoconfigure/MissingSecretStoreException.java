package io.delayqueue.web.autoconfigure;

import io.delayqueue.store.MessageStore;

/** Reports that each node would sign lease tokens with a different secret. */
final class MissingSecretStoreException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    MissingSecretStoreException(MessageStore store) {
        super(("delayqueue.web.api.enabled is set with the message store %s of the application, and there is no bean of type "
                + "io.delayqueue.store.SecretStore: each node would refuse the lease tokens of the others")
            .formatted(store.getClass().getName()));
    }

}
