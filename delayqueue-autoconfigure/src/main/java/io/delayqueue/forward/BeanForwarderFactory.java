package io.delayqueue.forward;

import org.springframework.beans.factory.BeanFactory;

/** Finds the forwarders of the application, which are beans. */
public final class BeanForwarderFactory implements ForwarderFactory {

    private final BeanFactory beans;

    public BeanForwarderFactory(BeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public String scheme() {
        return "bean";
    }

    @Override
    public MessageForwarder create(String destination, Options options) {
        if (!this.beans.containsBean(destination) || !this.beans.isTypeMatch(destination, MessageForwarder.class)) {
            throw new IllegalArgumentException("there is no MessageForwarder bean '%s'".formatted(destination));
        }
        return this.beans.getBean(destination, MessageForwarder.class);
    }

}
