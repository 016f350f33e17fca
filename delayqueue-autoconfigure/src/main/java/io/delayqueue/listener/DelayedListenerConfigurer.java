package io.delayqueue.listener;

/**
 * Registers listeners that are not annotated methods, before the application starts. All
 * beans of this type are called, in their order, after the annotated methods were
 * registered. <pre class="code">
 * &#64;Bean
 * DelayedListenerConfigurer tenantListeners(TenantRepository tenants, Reminders reminders) {
 *     return (registry) -&gt; tenants.findAll()
 *         .forEach((tenant) -&gt; registry.register(DelayedListenerEndpoint
 *             .builder("reminders-" + tenant.name(), "reminders." + tenant.name())
 *             .handler(Reminder.class, (reminder, delivery) -&gt; reminders.send(tenant, reminder))
 *             .build()));
 * }
 * </pre>
 *
 * @see DelayedListenerRegistry#register(DelayedListenerEndpoint)
 */
@FunctionalInterface
public interface DelayedListenerConfigurer {

    /**
     * Registers listeners.
     * @param registry the registry of the application's own queues
     */
    void configureDelayedListeners(DelayedListenerRegistry registry);

}
