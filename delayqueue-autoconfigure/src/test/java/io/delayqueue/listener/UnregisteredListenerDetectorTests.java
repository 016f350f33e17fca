package io.delayqueue.listener;

import ch.qos.logback.classic.Level;
import io.delayqueue.DelayedListener;
import io.delayqueue.fixtures.LogCapture;
import io.delayqueue.listener.handler.InvalidListenerException;
import jakarta.validation.Valid;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.validation.Errors;
import org.springframework.validation.Validator;
import org.springframework.validation.annotation.Validated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/** Tests that annotations without effect are reported. */
class UnregisteredListenerDetectorTests {

    private final LogCapture log = new LogCapture();

    private final ListenerContext context = new ListenerContext();

    @AfterEach
    void close() {
        this.context.close();
        this.log.close();
    }

    @Test
    void aPrototypeWithAListenerFailsTheStart() {
        this.context.registerBean("many", Plain.class,
                (definition) -> definition.setScope(BeanDefinition.SCOPE_PROTOTYPE));

        InvalidListenerException refused = ListenerContext.refusal(catchThrowable(this.context::refresh));

        assertThat(refused).hasMessage(
                "@DelayedListener on method '%s.handle(String)' of bean 'many' is not valid: the bean must be a "
                        + "singleton, but its scope is 'prototype': each of its instances would be one more listener",
                Plain.class.getName());
    }

    @Test
    void aBeanOfAnotherScopeFailsTheStart() {
        this.context.getBeanFactory().registerScope("thread", new SimpleThreadScope());
        this.context.registerBean("one", Plain.class, (definition) -> definition.setScope("thread"));

        assertThat(ListenerContext.refusal(catchThrowable(this.context::refresh)).problem())
            .contains("its scope is 'thread'");
    }

    @Test
    void aPrototypeWhoseTypeShowsLateFailsWhenItIsCreated() {
        this.context.registerBean("many", Object.class, Plain::new,
                (definition) -> definition.setScope(BeanDefinition.SCOPE_PROTOTYPE));
        this.context.refresh();

        assertThat(ListenerContext.refusal(catchThrowable(() -> this.context.getBean("many"))).problem())
            .startsWith("the bean must be a singleton");
    }

    @Test
    void aScopedProxyListens() {
        this.context.getBeanFactory().registerScope("thread", new SimpleThreadScope());
        this.context.register(Proxied.class);
        this.context.refresh();

        assertThat(this.context.getBean(DelayedListenerRegistry.class).listeners()).hasSize(1);
        assertThat(this.log.lines(Level.WARN)).isEmpty();
    }

    @Test
    void aScopedProxyOfAnInterfaceListens() {
        this.context.getBeanFactory().registerScope("thread", new SimpleThreadScope());
        this.context.register(ProxiedByInterface.class);
        this.context.refresh();

        assertThat(this.context.getBean(DelayedListenerRegistry.class).listeners()).hasSize(1);
    }

    @Test
    void theProductOfAFactoryListens() {
        this.context.registerBean("product", Factory.class);
        this.context.refresh();

        assertThat(this.context.getBean(DelayedListenerRegistry.class).listeners()).extracting(ListenerContainer::id)
            .containsExactly("product.handle");
    }

    @Test
    void aPrototypeWithoutListenersIsNoConcern() {
        this.context.registerBean("text", StringBuilder.class,
                (definition) -> definition.setScope(BeanDefinition.SCOPE_PROTOTYPE));
        this.context.refresh();

        assertThat(this.log.lines(Level.WARN)).isEmpty();
    }

    @Test
    void aLazyBeanIsLoggedUntilSomethingCreatesIt() {
        this.context.registerBean("lazy", Plain.class, (definition) -> definition.setLazyInit(true));
        this.context.refresh();

        assertThat(this.log.lines(Level.WARN)).containsExactly(("@DelayedListener method '%s.handle(String)' handles "
                + "nothing yet, because its bean 'lazy' is lazy and was not created at the start: it listens once "
                + "something else creates the bean. Remove @Lazy to have it listen from the start")
            .formatted(Plain.class.getName()));
        assertThat(this.context.getBeanFactory().containsSingleton("lazy")).isFalse();
    }

    @Test
    void aLazyBeanThatSomethingHasCreatedIsNotLogged() {
        this.context.registerBean("lazy", Plain.class, (definition) -> definition.setLazyInit(true));
        this.context.registerBean("user", String.class, () -> this.context.getBean("lazy").toString());
        this.context.refresh();

        assertThat(this.context.getBean(DelayedListenerRegistry.class).listeners()).hasSize(1);
        assertThat(this.log.lines(Level.WARN)).isEmpty();
    }

    @Test
    void validationWithoutAValidatorIsLogged() {
        this.context.with(ValidListener.class, ValidatedListener.class).refresh();

        assertThat(this.log.lines(Level.WARN)).hasSize(2)
            .allSatisfy((line) -> assertThat(line).contains("are not validated", "spring-boot-starter-validation"));
    }

    @Test
    void validationWithAValidatorIsNotLogged() {
        try (ListenerContext validating = new ListenerContext(new Anything())) {
            validating.with(ValidListener.class, ValidatedListener.class).refresh();

            assertThat(this.log.lines(Level.WARN)).isEmpty();
        }
    }

    static class Plain {

        @DelayedListener("orders")
        void handle(String text) {
        }

    }

    @Scope(scopeName = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
    static class Proxied {

        @DelayedListener("orders")
        public void handle(String text) {
        }

    }

    interface Texts {

        void handle(String text);

    }

    @Scope(scopeName = "thread", proxyMode = ScopedProxyMode.INTERFACES)
    static class ProxiedByInterface implements Texts {

        @Override
        @DelayedListener("orders")
        public void handle(String text) {
        }

    }

    static class Factory implements FactoryBean<Plain> {

        @Override
        public Plain getObject() {
            return new Plain();
        }

        @Override
        public Class<?> getObjectType() {
            return Plain.class;
        }

    }

    static class ValidListener {

        @DelayedListener("valid")
        void handle(@Valid String text) {
        }

    }

    static class ValidatedListener {

        @DelayedListener("validated")
        void handle(@Validated String text) {
        }

    }

    private static final class Anything implements Validator {

        @Override
        public boolean supports(Class<?> type) {
            return true;
        }

        @Override
        public void validate(Object target, Errors errors) {
        }

    }

}
