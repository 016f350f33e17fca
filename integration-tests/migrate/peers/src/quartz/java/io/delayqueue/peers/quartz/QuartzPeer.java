package io.delayqueue.peers.quartz;

import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TimeZone;

import org.quartz.CronScheduleBuilder;
import org.quartz.CronTrigger;
import org.quartz.DisallowConcurrentExecution;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDataMap;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.JobExecutionException;
import org.quartz.JobKey;
import org.quartz.PersistJobDataAfterExecution;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.TriggerKey;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.impl.calendar.HolidayCalendar;

/**
 * An application that uses Quartz with tables, as it was before the migration. It
 * schedules jobs, or runs them until its input ends. Jobs that ran are rows of the table
 * {@code handled_by_old}.
 */
public final class QuartzPeer {

    private static final int SCHEDULED_AT_ONCE = 1_000;

    private static final JobKey JOB = JobKey.jobKey("orders");

    private static String url = "";

    private static volatile boolean ended;

    private final Scheduler scheduler;

    private QuartzPeer(boolean clustered, boolean properties) throws SchedulerException {
        Properties settings = new Properties();
        settings.setProperty("org.quartz.scheduler.instanceName", "shop");
        settings.setProperty("org.quartz.scheduler.instanceId", "AUTO");
        settings.setProperty("org.quartz.scheduler.skipUpdateCheck", "true");
        settings.setProperty("org.quartz.threadPool.class", "org.quartz.simpl.SimpleThreadPool");
        settings.setProperty("org.quartz.threadPool.threadCount", "4");
        settings.setProperty("org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX");
        settings.setProperty("org.quartz.jobStore.driverDelegateClass", "org.quartz.impl.jdbcjobstore."
                + (url.contains("postgresql") ? "PostgreSQLDelegate" : "StdJDBCDelegate"));
        settings.setProperty("org.quartz.jobStore.useProperties", Boolean.toString(properties));
        settings.setProperty("org.quartz.jobStore.isClustered", Boolean.toString(clustered));
        settings.setProperty("org.quartz.jobStore.clusterCheckinInterval", "2000");
        settings.setProperty("org.quartz.jobStore.dataSource", "orders");
        settings.setProperty("org.quartz.dataSource.orders.provider", "hikaricp");
        settings.setProperty("org.quartz.dataSource.orders.driver", url.contains("postgresql") ? "org.postgresql.Driver"
                : url.contains("mariadb") ? "org.mariadb.jdbc.Driver" : "org.h2.Driver");
        settings.setProperty("org.quartz.dataSource.orders.URL", url);
        settings.setProperty("org.quartz.dataSource.orders.user", user());
        settings.setProperty("org.quartz.dataSource.orders.password", "");
        settings.setProperty("org.quartz.dataSource.orders.maxConnections", "8");
        this.scheduler = new StdSchedulerFactory(settings).getScheduler();
    }

    /**
     * Runs the application.
     * @param arguments URL, {@code clustered} or {@code alone}, {@code properties} or
     * {@code serialized}, and then {@code send FIRST COUNT DELAY SPREAD ...},
     * {@code produce FIRST PER_SECOND DELAY}, {@code cron NAME EXPRESSION ZONE KIND ...},
     * {@code consume} or {@code special}; times in milliseconds
     */
    public static void main(String[] arguments) throws Exception {
        // The threads of the library would keep the process, and the test would wait.
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
        Thread input = new Thread(QuartzPeer::awaitEnd, "input");
        input.setDaemon(true);
        input.start();
        url = arguments[0];
        QuartzPeer peer = new QuartzPeer(arguments[1].equals("clustered"), arguments[2].equals("properties"));
        switch (arguments[3]) {
            case "send" -> {
                for (int i = 4; i < arguments.length; i += 4) {
                    peer.send(number(arguments[i]), number(arguments[i + 1]), number(arguments[i + 2]),
                            number(arguments[i + 3]));
                }
                System.out.println("SENT all");
            }
            case "produce" -> peer.produce(number(arguments[4]), number(arguments[5]), number(arguments[6]));
            case "special" -> peer.special();
            case "cron" -> {
                for (int i = 4; i < arguments.length; i += 4) {
                    peer.cron(arguments[i], arguments[i + 1], arguments[i + 2], arguments[i + 3]);
                }
                System.out.println("SENT all");
            }
            default -> peer.consume();
        }
        peer.scheduler.shutdown(true);
        System.exit(0);
    }

    /** Notices a line, or the end of the process that has started this one. */
    private static void awaitEnd() {
        try {
            System.in.read();
        }
        catch (IOException ex) {
            // The input has ended.
        }
        ended = true;
    }

    private static String user() {
        return url.contains("postgresql") ? "postgres" : url.contains("mariadb") ? "root" : "sa";
    }

    private static long number(String text) {
        return Long.parseLong(text);
    }

    private void send(long first, long count, long delay, long spread) throws SchedulerException {
        addJob();
        JobDetail job = this.scheduler.getJobDetail(JOB);
        Set<Trigger> triggers = new HashSet<>();
        for (long i = 0; i < count; i++) {
            long wait = delay + ((spread == 0) ? 0 : i * 7919 % spread);
            triggers.add(trigger(first + i, wait).build());
            if (triggers.size() == SCHEDULED_AT_ONCE || i == count - 1) {
                // With the job, or Quartz would look for it once for each trigger.
                this.scheduler.scheduleJobs(Map.of(job, triggers), true);
                triggers = new HashSet<>();
            }
        }
    }

    private void addJob() throws SchedulerException {
        this.scheduler.addJob(JobBuilder.newJob(OrderJob.class).withIdentity(JOB).storeDurably().build(), true);
    }

    private static TriggerBuilder<Trigger> trigger(long number, long delay) {
        return TriggerBuilder.newTrigger()
            .withIdentity("order-" + number)
            .forJob(JOB)
            .usingJobData(data(number))
            .startAt(new Date(System.currentTimeMillis() + delay));
    }

    private static JobDataMap data(long number) {
        JobDataMap data = new JobDataMap();
        data.put("number", Long.toString(number));
        data.put("note", "order \"" + number + "\" f\u00fcr M\u00fcller, to be cancelled if it is not paid in time");
        return data;
    }

    /** Schedules jobs until the input ends. */
    private void produce(long first, long perSecond, long delay) throws InterruptedException, SchedulerException {
        System.out.println("READY");
        long start = System.nanoTime();
        long sent = 0;
        while (!ended) {
            long due = (System.nanoTime() - start) * perSecond / 1_000_000_000L;
            if (sent < due) {
                this.scheduler.scheduleJob(trigger(first + sent, delay).build());
                sent++;
            }
            else {
                // Real time: the load has a rate.
                Thread.sleep(5);
            }
        }
        System.out.println("SENT " + sent);
    }

    /** Schedules triggers of the kinds that are not moved, and a job of its own. */
    private void special() throws SchedulerException {
        addJob();
        Date inAnHour = new Date(System.currentTimeMillis() + 3_600_000);
        List<Trigger> triggers = new ArrayList<>();
        triggers.add(trigger(1, 3_600_000).withSchedule(SimpleScheduleBuilder.repeatHourlyForTotalCount(3)).build());
        triggers.add(trigger(2, 3_600_000).withSchedule(CronScheduleBuilder.cronSchedule("0 0 8 * * ?")).build());
        triggers.add(trigger(3, 3_600_000).build());
        for (Trigger trigger : triggers) {
            this.scheduler.scheduleJob(trigger);
        }
        this.scheduler.pauseTrigger(TriggerKey.triggerKey("order-3"));
        JobDetail own = JobBuilder.newJob(OrderJob.class)
            .withIdentity("order-4-job", "shop")
            .usingJobData(data(4))
            .build();
        this.scheduler.scheduleJob(own,
                TriggerBuilder.newTrigger().withIdentity("order-4", "shop").startAt(inAnHour).build());
        System.out.println("SENT 4");
    }

    /** Schedules a cron trigger with a job of its own. */
    private void cron(String name, String expression, String zone, String kind) throws SchedulerException {
        Class<? extends Job> type = switch (kind) {
            case "exclusive" -> ExclusiveOrderJob.class;
            case "changing" -> ChangingOrderJob.class;
            default -> OrderJob.class;
        };
        JobDetail job = JobBuilder.newJob(type)
            .withIdentity(name + "-job")
            .usingJobData(kind.equals("empty") ? new JobDataMap() : data(42))
            .build();
        CronScheduleBuilder times = CronScheduleBuilder.cronSchedule(expression).inTimeZone(TimeZone.getTimeZone(zone));
        switch (kind) {
            case "nothing" -> times.withMisfireHandlingInstructionDoNothing();
            case "ignore" -> times.withMisfireHandlingInstructionIgnoreMisfires();
            default -> times.withMisfireHandlingInstructionFireAndProceed();
        }
        TriggerBuilder<CronTrigger> trigger = TriggerBuilder.newTrigger()
            .withIdentity(name, kind.equals("grouped") ? "shop" : "DEFAULT")
            .withSchedule(times);
        switch (kind) {
            case "end" -> trigger.endAt(new Date(System.currentTimeMillis() + 86_400_000_000L));
            case "later" -> trigger.startAt(new Date(System.currentTimeMillis() + 86_400_000));
            case "calendar" -> {
                this.scheduler.addCalendar("holidays", new HolidayCalendar(), true, false);
                trigger.modifiedByCalendar("holidays");
            }
            default -> trigger.startNow();
        }
        this.scheduler.scheduleJob(job, trigger.build());
        if (kind.equals("paused")) {
            this.scheduler.pauseTrigger(trigger.build().getKey());
        }
    }

    /** Runs jobs until the input ends. */
    private void consume() throws InterruptedException, SchedulerException {
        this.scheduler.start();
        System.out.println("READY");
        while (!ended) {
            // Real time: the test decides how long.
            Thread.sleep(20);
        }
        System.out.println("STOPPED");
    }

    /** Handles an order. */
    public static class OrderJob implements Job {

        @Override
        public void execute(JobExecutionContext context) throws JobExecutionException {
            try (Connection connection = DriverManager.getConnection(url, user(), "");
                    PreparedStatement insert = connection
                        .prepareStatement("INSERT INTO handled_by_old (number) VALUES (?)")) {
                insert.setString(1, number(context));
                insert.executeUpdate();
            }
            catch (SQLException ex) {
                throw new JobExecutionException(ex);
            }
        }

        /** Returns the number of the order, or the time of a cron trigger. */
        private static String number(JobExecutionContext context) {
            return (context.getTrigger() instanceof CronTrigger trigger)
                    ? trigger.getKey().getName() + "@" + context.getScheduledFireTime().getTime()
                    : context.getMergedJobDataMap().getString("number");
        }

    }

    /** Handles one order at a time. */
    @DisallowConcurrentExecution
    public static class ExclusiveOrderJob extends OrderJob {

    }

    /** Keeps the changes of its data. */
    @PersistJobDataAfterExecution
    public static class ChangingOrderJob extends OrderJob {

    }

}
