package io.delayqueue.clinic;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;

/** A vet of the clinic. */
@Entity
class Vet {

    @Id
    @GeneratedValue
    private Long id;

    private String name;

    protected Vet() {
    }

    Vet(String name) {
        this.name = name;
    }

    Long getId() {
        return this.id;
    }

    String getName() {
        return this.name;
    }

    void rename(String name) {
        this.name = name;
    }

}
