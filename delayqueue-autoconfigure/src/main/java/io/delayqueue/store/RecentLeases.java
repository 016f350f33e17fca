package io.delayqueue.store;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Remembers the last 10,000 leases that were added, by which a repeated settlement is
 * known. Thread-safe.
 */
public final class RecentLeases {

    static final int LIMIT = 10_000;

    private final Set<Lease> leases = Collections
        .synchronizedSet(Collections.newSetFromMap(new LinkedHashMap<Lease, Boolean>() {

            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Lease, Boolean> eldest) {
                return size() > LIMIT;
            }

        }));

    /** Adds a lease, and returns whether it was absent. */
    public boolean add(Lease lease) {
        return this.leases.add(lease);
    }

    /** Forgets a lease. */
    public void remove(Lease lease) {
        this.leases.remove(lease);
    }

    /** Returns whether a lease was added, and not forgotten since. */
    public boolean contains(Lease lease) {
        return this.leases.contains(lease);
    }

}
