package io.delayqueue.depot;

/** Manages a broker of AMQP 0-9-1 that listens on this machine. */
interface AmqpServer {

    String virtualHost();

    /** Adds a user with all permissions. */
    void addUser(String name, String password);

    void changePassword(String name, String password);

}
