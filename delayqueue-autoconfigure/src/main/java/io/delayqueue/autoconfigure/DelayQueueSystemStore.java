package io.delayqueue.autoconfigure;

import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.DelayQueueIntegrityChecker;
import io.delayqueue.listener.BacklogCounter;
import io.delayqueue.memory.InMemoryIntegrityChecker;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.memory.MicrosClock;
import io.delayqueue.redis.RedisActivityStore;
import io.delayqueue.redis.RedisMessageInspector;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisNodeRegistry;
import io.delayqueue.redis.RedisPartitionLayoutStore;
import io.delayqueue.redis.RedisQueueInspector;
import io.delayqueue.redis.RedisQueueRegistry;
import io.delayqueue.redis.RedisScheduleStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.check.RedisIntegrityChecker;
import io.delayqueue.redis.check.RedisServerCheck;
import io.delayqueue.redis.wakeup.RedisWakeUps;
import io.delayqueue.store.ActivityStore;
import io.delayqueue.store.NodeRegistry;
import io.delayqueue.store.QueueRegistry;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.QueueRegistrar;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.template.InspectorTemplate;
import io.delayqueue.store.schedule.ScheduleStore;
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
 * @param components the store of messages
 * @param inspector inspects queues
 * @param integrityChecker checks the integrity of the stored data
 * @param nodes the registry that this process reports its listeners to
 * @param activity the store that this process reports the activity of its listeners to
 * @param backlogs counts the messages of queues
 * @param check the check of the server; {@code null} if there is none
 * @param wakeUps the subscription; {@code null} if there is none
 * @param access the access to the server; {@code null} if there is none
 */
record DelayQueueSystemStore(StoreComponents components, DelayQueueInspector inspector,
        DelayQueueIntegrityChecker integrityChecker, NodeRegistry nodes, ActivityStore activity,
        BacklogCounter backlogs, @Nullable Lifecycle check, @Nullable RedisWakeUps wakeUps,
        @Nullable RedisScriptExecutor access) {

    static DelayQueueSystemStore inMemory(DelayQueueSystemBuilder builder) {
        InMemoryMessageStore store = new InMemoryMessageStore(builder.codec(), new MicrosClock());
        PartitionLayouts layouts = builder.layouts(store.partitionRecords());
        QueueRegistrar registrar = new QueueRegistrar(store.queueRegistry(), System::nanoTime);
        return new DelayQueueSystemStore(
                new StoreComponents(store, store, store, layouts, builder.events(), registrar,
                        builder.settings()
                            .localSchedules(store.schedules(), builder.codec(), builder.applicationName())),
                new InspectorTemplate(
                        new InspectorTemplate.Stores(store.queueInspector(), store.queueRegistry(),
                                store.nodeRegistry(), store.activityStore(), store.schedules()),
                        layouts, builder.settings().answerLimit()),
                new InMemoryIntegrityChecker(), store.nodeRegistry(), store.activityStore(),
                new BacklogCounter(store.queueInspector(), layouts, System::nanoTime), null, null, null);
    }

    static DelayQueueSystemStore onRedis(DelayQueueSystemBuilder builder, RedisConnectionFactory connections,
            String namespace) {
        DelayQueueProperties properties = builder.settings();
        RedisScriptExecutor access = RedisScriptExecutor.to(connections, namespace, properties.commandTimeout(),
                properties.replicaWait(), builder.events());
        RedisWakeUps wakeUps = new RedisWakeUps(connections, access, properties.wakeup());
        PartitionLayouts layouts = builder.layouts(new RedisPartitionLayoutStore(access));
        QueueRegistry queues = new RedisQueueRegistry(access);
        NodeRegistry nodes = new RedisNodeRegistry(access);
        ScheduleStore schedules = new RedisScheduleStore(access);
        RedisQueueInspector inspector = new RedisQueueInspector(access);
        RedisActivityStore activity = new RedisActivityStore(access);
        return new DelayQueueSystemStore(
                new StoreComponents(new RedisMessageStore(access), new RedisMessageInspector(access, builder.codec()),
                        wakeUps, layouts, builder.events(), new QueueRegistrar(queues, System::nanoTime),
                        properties.localSchedules(schedules, builder.codec(), builder.applicationName())),
                new InspectorTemplate(new InspectorTemplate.Stores(inspector, queues, nodes, activity, schedules),
                        layouts, properties.answerLimit()),
                new RedisIntegrityChecker(access, () -> connections, builder.codec()), nodes, activity,
                new BacklogCounter(inspector, layouts, System::nanoTime),
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
