package io.delayqueue.listener;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.delayqueue.Backoff;
import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedSchedule;
import io.delayqueue.QueueName;
import io.delayqueue.listener.handler.HandlerMethodFactory;
import io.delayqueue.listener.handler.InvalidListenerException;
import io.delayqueue.listener.handler.MessageHandler;
import io.delayqueue.listener.poll.BackoffPolicy;
import io.delayqueue.listener.poll.ListenerSettings;
import io.delayqueue.listener.poll.TestBed;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.schedule.DeclaredScheduleRegistrar;
import io.delayqueue.store.schedule.LocalSchedules;
import io.delayqueue.store.schedule.OccurrenceEvents;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.BeanNameAutoProxyCreator;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;
import org.springframework.core.annotation.AliasFor;
import org.springframework.core.env.MapPropertySource;
import org.springframework.messaging.handler.annotation.Header;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Tests which listeners are found, with which settings, and which are rejected. */
class DelayedListenerAnnotationBeanPostProcessorTests {

    private static final ListenerSettings DEFAULTS = TestBed.settings();

    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

    private final List<String> constructed = new ArrayList<>();

    private final LocalSchedules schedules = LocalSchedules.none();

    @AfterEach
    void close() {
        this.context.close();
    }

    private DelayedListenerRegistry start(Class<?>... beans) {
        for (Class<?> bean : beans) {
            this.context.registerBean(name(bean), bean);
        }
        return start();
    }

    private static String name(Class<?> type) {
        return type.getSimpleName().substring(0, 1).toLowerCase() + type.getSimpleName().substring(1);
    }

    private DelayedListenerRegistry start() {
        this.context.getEnvironment()
            .getPropertySources()
            .addFirst(new MapPropertySource("test", Map.of("queue", "from-property", "queues", "p1, p2", "number", "7",
                    "time", "90s", "switch", "false", "type", "java.io.UncheckedIOException")));
        this.context.registerBean("registry", DelayedListenerRegistry.class, () -> {
            this.constructed.add("registry");
            return new DelayedListenerRegistry((queue) -> DEFAULTS,
                    new HandlerMethodFactory(new EnvelopeCodec(JsonMapper.builder().build()), null,
                            MessageObservations.NONE),
                    MessageEventRecorderFactory.NONE);
        });
        this.context.registerBean("delayedListenerPostProcessor", DelayedListenerAnnotationBeanPostProcessor.class,
                () -> new DelayedListenerAnnotationBeanPostProcessor(
                        this.context.getBeanProvider(DelayedListenerRegistry.class), (system) -> null,
                        (system) -> this.schedules));
        this.context.registerBean(PropertySourcesPlaceholderConfigurer.class);
        this.context.refresh();
        return this.context.getBean(DelayedListenerRegistry.class);
    }

    private static ListenerSettings settings(DelayedListenerRegistry registry, String id) {
        return ((DefaultListenerContainer) registry.require(id)).bindings().get(0).settings();
    }

    private static List<String> queues(DelayedListenerRegistry registry, String id) {
        return registry.require(id).queues();
    }

    private InvalidListenerException refused(Class<?>... beans) {
        InvalidListenerException refused = findCause(catchThrowableOfType(Exception.class, () -> start(beans)));
        assertThat(refused).isNotNull();
        return refused;
    }

    @Test
    void namesAListenerAfterItsBeanAndMethodAndTakesItsSettingsFromOutside() {
        DelayedListenerRegistry registry = start(Plain.class);

        assertThat(registry.listeners()).extracting(ListenerContainer::id).containsExactly("plain.handle");
        assertThat(queues(registry, "plain.handle")).containsExactly("orders");
        assertThat(settings(registry, "plain.handle")).isEqualTo(DEFAULTS);
        assertThat(registry.listener("other")).isEmpty();
        assertThat(catchThrowableOfType(IllegalArgumentException.class, () -> registry.require("other")))
            .hasMessage("There is no listener 'other', only [plain.handle]");
    }

    @Test
    void readsEveryAttributeAsItStands() {
        DelayedListenerRegistry registry = start(Full.class);

        assertThat(settings(registry, "full")).isEqualTo(new ListenerSettings(12, Duration.ofSeconds(40),
                Duration.ofMinutes(1), 9, 3, new BackoffPolicy(Duration.ofMillis(500), 3, Duration.ofHours(1), 0.5),
                ExpiryPolicy.DROP, false, Set.of(IOException.class, ArithmeticException.class)));
        assertThat(queues(registry, "full")).containsExactly("a", "b");
    }

    @Test
    void resolvesPlaceholdersInEveryAttribute() {
        DelayedListenerRegistry registry = start(Placeholders.class);

        assertThat(settings(registry, "from-property")).isEqualTo(new ListenerSettings(7, Duration.ofSeconds(90),
                Duration.ofSeconds(90), 7, 3, new BackoffPolicy(Duration.ofSeconds(90), 7, Duration.ofSeconds(90), 0.7),
                ExpiryPolicy.DROP, false, Set.of(UncheckedIOException.class)));
        assertThat(queues(registry, "from-property")).containsExactly("from-property", "p1", "p2");
    }

    @Test
    void resolvesExpressionsInEveryAttribute() {
        this.context.registerBean("values", Values.class);
        DelayedListenerRegistry registry = start(Expressions.class);

        assertThat(settings(registry, "named")).isEqualTo(new ListenerSettings(5, Duration.ofMinutes(2), null, 5, 3,
                new BackoffPolicy(Duration.ofMinutes(2), 5, Duration.ofMinutes(2), 0.25), ExpiryPolicy.DROP, false,
                Set.of(IllegalStateException.class)));
        assertThat(queues(registry, "named")).containsExactly("l1", "l2", "a1", "a2", "t1", "t2");
    }

    @Test
    void findsAnnotationsThatAreRepeatedOrMadeOfIt() {
        DelayedListenerRegistry registry = start(Repeated.class, Meta.class);

        assertThat(registry.listeners()).extracting(ListenerContainer::id)
            .containsExactlyInAnyOrder("repeated.handle", "repeated.handle#2", "meta.handle");
        assertThat(queues(registry, "meta.handle")).containsExactly("meta");
        assertThat(settings(registry, "meta.handle").concurrency()).isEqualTo(3);
    }

    @Test
    void distinguishesOverloadedMethods() {
        assertThat(start(Overloaded.class).listeners()).extracting(ListenerContainer::id)
            .containsExactlyInAnyOrder("overloaded.handle", "overloaded.handle#2");
    }

    @Test
    void callsBeansThroughTheirProxies() throws Throwable {
        proxies(true);
        DelayedListenerRegistry registry = start(Plain.class);
        call(registry, "plain.handle");

        assertThat(this.constructed).contains("advised handle");
    }

    @Test
    void callsBeansThroughProxiesOfTheirInterfaces() throws Throwable {
        proxies(false);
        DelayedListenerRegistry registry = start(WithInterface.class);
        call(registry, "withInterface.handle");

        assertThat(this.constructed).contains("advised handle");
        assertThat(WithInterface.seen.get()).isEqualTo("text for m");
    }

    /** In a cycle, the proxy is created before the bean is complete. */
    @Test
    void callsBeansOfACycleThroughTheirProxies() throws Throwable {
        this.context.registerBean("advice", MethodInterceptor.class, () -> (invocation) -> {
            this.constructed.add("advised " + invocation.getMethod().getName());
            return invocation.proceed();
        });
        this.context.registerBean(BeanNameAutoProxyCreator.class, () -> {
            BeanNameAutoProxyCreator creator = new BeanNameAutoProxyCreator();
            creator.setBeanNames("circular");
            creator.setInterceptorNames("advice");
            creator.setProxyTargetClass(true);
            return creator;
        });
        DelayedListenerRegistry registry = start(Circular.class, Partner.class);
        call(registry, "circular.handle");

        assertThat(this.constructed).contains("advised handle");
    }

    @Test
    void refusesAMethodThatItsProxyDoesNotHave() {
        proxies(false);
        InvalidListenerException refused = refused(NotInInterface.class);

        assertThat(refused.problem()).contains("not found in any interface");
        assertThat(refused.beanName()).isEqualTo("notInInterface");
    }

    private void proxies(boolean targetClass) {
        this.context.getBeanFactory().addBeanPostProcessor(new BeanPostProcessor() {

            @Override
            public Object postProcessAfterInitialization(Object bean, String beanName) {
                if (bean.getClass().getEnclosingClass() != DelayedListenerAnnotationBeanPostProcessorTests.class) {
                    return bean;
                }
                ProxyFactory factory = new ProxyFactory(bean);
                factory.setProxyTargetClass(targetClass);
                factory.addAdvice((MethodInterceptor) (invocation) -> {
                    constructed.add("advised " + invocation.getMethod().getName());
                    return invocation.proceed();
                });
                return factory.getProxy();
            }

        });
    }

    private static void call(DelayedListenerRegistry registry, String id) throws Throwable {
        MessageHandler handler = ((DefaultListenerContainer) registry.require(id)).bindings().get(0).handler();
        TestBed bed = new TestBed();
        bed.store.add("m", Duration.ZERO, "{\"v\":1,\"headers\":{\"h\":\"text\"},\"payload\":\"m\"}");
        bed.handler = handler;
        bed.handleOnce(bed.loop());
        assertThat(bed.store.messages).isEmpty();
    }

    @Test
    void registersALazyBeanWhenItIsCreated() {
        this.context.registerBean("lazy", Plain.class, (definition) -> definition.setLazyInit(true));
        DelayedListenerRegistry registry = start();
        assertThat(registry.listeners()).isEmpty();

        this.context.getBean("lazy");
        assertThat(registry.listener("lazy.handle")).isPresent();
    }

    /** The next attempt to create the bean would register them again. */
    @Test
    void aLazyBeanWithAnInvalidListenerLeavesNoValidOnes() {
        this.context.registerBean("lazy", HalfValid.class, (definition) -> definition.setLazyInit(true));
        DelayedListenerRegistry registry = start();

        Exception failure = catchThrowableOfType(Exception.class, () -> this.context.getBean("lazy"));
        assertThat(findCause(failure).problem()).startsWith("concurrency must be");
        assertThat(registry.listeners()).isEmpty();
        DeclaredScheduleRegistrar declarations = new DeclaredScheduleRegistrar(this.schedules, new QueueName("orders"),
                OccurrenceEvents.NONE, Runnable::run);
        assertThat(declarations.count()).isZero();

        Exception next = catchThrowableOfType(Exception.class, () -> this.context.getBean("lazy"));
        assertThat(findCause(next)).hasMessage(findCause(failure).getMessage());
    }

    @Test
    void aRemovalThatFailsHidesNeitherTheCauseNorTheOtherRemovals() {
        this.context.registerBean("lazy", HalfValid.class, (definition) -> definition.setLazyInit(true));
        DelayedListenerRegistry registry = start();
        registry.onRemoval((listener) -> {
            throw new IllegalStateException(listener.queues() + " not removed");
        });

        Exception failure = catchThrowableOfType(Exception.class, () -> this.context.getBean("lazy"));
        assertThat(findCause(failure).problem()).startsWith("concurrency must be");
        assertThat(findCause(failure).getSuppressed()).extracting(Throwable::getMessage)
            .containsExactly("[orders] not removed", "[payments] not removed");
        assertThat(registry.listeners()).isEmpty();
    }

    private static InvalidListenerException findCause(Throwable thrown) {
        Throwable cause = thrown;
        while (cause != null && !(cause instanceof InvalidListenerException)) {
            cause = cause.getCause();
        }
        return (InvalidListenerException) cause;
    }

    @Test
    void createsNoOtherBean() {
        AbstractBeanDefinition lazy = BeanDefinitionBuilder.genericBeanDefinition(Values.class, () -> {
            this.constructed.add("values");
            return new Values();
        }).getBeanDefinition();
        lazy.setLazyInit(true);
        this.context.registerBeanDefinition("values", lazy);
        start(Plain.class);

        assertThat(this.constructed).containsExactly("registry");
    }

    static class Plain {

        @DelayedListener("orders")
        void handle(String text) {
        }

    }

    static class Circular {

        @Autowired
        Partner partner;

        @DelayedListener("orders")
        void handle(String text) {
        }

    }

    static class Partner {

        @Autowired
        Circular circular;

    }

    static class Invalid {

        @DelayedListener(queues = "orders", concurrency = "0")
        void invalid(String text) {
        }

    }

    /** Its own method is found before those of its superclass. */
    static class HalfValid extends Invalid {

        @DelayedListener("orders")
        @DelayedListener("payments")
        @DelayedSchedule(name = "daily", fixedRate = "1d", queue = "orders")
        void handle(String text) {
        }

    }

    static class Full {

        @DelayedListener(queues = { "a", "b" }, id = "full", concurrency = "12", lease = "40s", timeout = "PT1M",
                maxAttempts = "9", backoff = @Backoff(initial = "500ms", multiplier = "3", max = "1h", jitter = "0.5"),
                noRetryFor = IOException.class, noRetryForClassName = "java.lang.ArithmeticException",
                autoStartup = "false")
        void handle(String text) {
        }

    }

    static class Placeholders {

        @DelayedListener(
                queues = { "${queue}", "${queues}" }, id = "${queue}", concurrency = "${number}", lease = "${time}",
                timeout = "${time}", maxAttempts = "${number}", backoff = @Backoff(initial = "${time}",
                        multiplier = "${number}", max = "${time}", jitter = "0.${number}"),
                noRetryForClassName = "${type}", autoStartup = "${switch}")
        void handle(String text) {
        }

    }

    static class Values {

        public List<String> list = List.of("l1", "l2");

        public String[] array = { "a1", "a2" };

        public String texts = "t1,t2";

        public int number = 5;

        public Duration time = Duration.ofMinutes(2);

    }

    static class Expressions {

        @DelayedListener(queues = { "#{values.list}", "#{values.array}", "#{values.texts}" }, id = "#{'named'}",
                concurrency = "#{values.number}", lease = "#{values.time}", timeout = "#{0}",
                maxAttempts = "#{values.number}",
                backoff = @Backoff(initial = "#{values.time}", multiplier = "#{values.number}", max = "#{values.time}",
                        jitter = "#{1.0 / 4}"),
                noRetryForClassName = "#{'java.lang.IllegalStateException'}", autoStartup = "#{!true}")
        void handle(String text) {
        }

    }

    static class Repeated {

        @DelayedListener("a")
        @DelayedListener("b")
        void handle(String text) {
        }

    }

    @Retention(RetentionPolicy.RUNTIME)
    @DelayedListener(concurrency = "3")
    @interface MetaListener {

        @AliasFor(annotation = DelayedListener.class, attribute = "queues")
        String[] value();

    }

    static class Meta {

        @MetaListener("meta")
        void handle(String text) {
        }

    }

    static class Overloaded {

        @DelayedListener("a")
        void handle(String text) {
        }

        @DelayedListener("b")
        void handle(Integer number) {
        }

    }

    interface Handler {

        void handle(String text, String header);

    }

    static class WithInterface implements Handler {

        static final ThreadLocal<String> seen = new ThreadLocal<>();

        @Override
        @DelayedListener("orders")
        public void handle(String text, @Header("h") String header) {
            seen.set(header + " for " + text);
        }

    }

    static class NotInInterface implements Handler {

        @Override
        public void handle(String text, String header) {
        }

        @DelayedListener("orders")
        public void other(String text) {
        }

    }

}
