package io.delayqueue.autoconfigure;

import io.delayqueue.DelayQueueDoctor;
import io.delayqueue.DelayQueueInspector;
import io.delayqueue.engine.NodeDirectory;
import io.delayqueue.engine.PartitionTable;
import io.delayqueue.engine.QueueDirectory;
import io.delayqueue.engine.QueueNotes;
import io.delayqueue.engine.StorePorts;
import io.delayqueue.memory.InMemoryDoctor;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.memory.ProcessClock;
import io.delayqueue.redis.RedisAccess;
import io.delayqueue.redis.RedisDoctor;
import io.delayqueue.redis.RedisMessageInspector;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisNodeDirectory;
import io.delayqueue.redis.RedisPartitionRecords;
import io.delayqueue.redis.RedisQueueDirectory;
import io.delayqueue.redis.RedisQueueInspector;
import io.delayqueue.redis.RedisServerCheck;
import io.delayqueue.redis.RedisWakeUps;
import io.delayqueue.template.QueueInspection;
import org.jspecify.annotations.Nullable;

import org.springframework.context.Lifecycle;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.serializer.RedisSerializer;

/**
 * Holds the store of a {@link DelayQueueSystem}, which it starts, stops and closes. Those
 * of the application's own queues are beans of {@link DelayQueueAutoConfiguration}, each
 * of which can be replaced.
 *
 * @param ports where messages live
 * @param inspector looks at queues
 * @param doctor examines what is stored
 * @param nodes where the listeners of this process are reported
 * @param check of the server; {@code null} if there is none
 * @param wakeUps the subscription; {@code null} if there is none
 * @param access to the server; {@code null} if there is none
 */
record SystemStore(StorePorts ports, DelayQueueInspector inspector, DelayQueueDoctor doctor, NodeDirectory nodes,
        @Nullable Lifecycle check, @Nullable RedisWakeUps wakeUps, @Nullable RedisAccess access) {

    static SystemStore inMemory(SystemParts parts) {
        InMemoryMessageStore store = new InMemoryMessageStore(parts.codec(), new ProcessClock());
        PartitionTable table = parts.partitionTable(store.partitionRecords());
        QueueNotes notes = new QueueNotes(store.queueDirectory(), System::nanoTime);
        return new SystemStore(new StorePorts(store, store, store, table, parts.events(), notes),
                new QueueInspection(store.queueInspector(), store.queueDirectory(), store.nodeDirectory(), table,
                        parts.properties().answerLimit()),
                new InMemoryDoctor(), store.nodeDirectory(), null, null, null);
    }

    static SystemStore onRedis(SystemParts parts, RedisConnectionFactory connections, String namespace) {
        DelayQueueProperties properties = parts.properties();
        RedisAccess access = RedisAccess.to(connections, namespace, properties.commandTimeout(),
                properties.replicaWait(), parts.events());
        RedisWakeUps wakeUps = new RedisWakeUps(connections, access, properties.wakeup());
        PartitionTable table = parts.partitionTable(new RedisPartitionRecords(access));
        QueueDirectory queues = new RedisQueueDirectory(access);
        NodeDirectory nodes = new RedisNodeDirectory(access);
        return new SystemStore(
                new StorePorts(new RedisMessageStore(access), new RedisMessageInspector(access, parts.codec()), wakeUps,
                        table, parts.events(), new QueueNotes(queues, System::nanoTime)),
                new QueueInspection(new RedisQueueInspector(access), queues, nodes, table, properties.answerLimit()),
                new RedisDoctor(access, () -> connections, parts.codec()), nodes,
                new ServerCheckLifecycle(new RedisServerCheck(access, template(connections), properties.wakeup()),
                        properties.commandTimeout()),
                wakeUps, access);
    }

    void start() {
        if (this.check != null) {
            this.check.start();
        }
        if (this.wakeUps != null) {
            this.wakeUps.start();
        }
    }

    void stop() {
        if (this.wakeUps != null) {
            this.wakeUps.stop();
        }
        if (this.check != null) {
            this.check.stop();
        }
    }

    void close() {
        if (this.wakeUps != null) {
            this.wakeUps.close();
        }
        if (this.access != null) {
            this.access.close();
        }
    }

    /** For inspection and administration. */
    static RedisTemplate<String, byte[]> template(RedisConnectionFactory connections) {
        RedisTemplate<String, byte[]> template = new RedisTemplate<>();
        template.setConnectionFactory(connections);
        template.setDefaultSerializer(RedisSerializer.byteArray());
        template.setKeySerializer(RedisSerializer.string());
        template.setHashKeySerializer(RedisSerializer.string());
        template.afterPropertiesSet();
        return template;
    }

}
