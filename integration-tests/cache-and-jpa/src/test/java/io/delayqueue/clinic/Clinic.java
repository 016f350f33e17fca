package io.delayqueue.clinic;

import java.time.Duration;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.SendResult;
import io.delayqueue.template.DelayQueueTemplate;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** An application with a database and a cache. */
@SpringBootApplication
@EnableCaching
class Clinic {

    /** Changes vets, now and later. */
    @Service
    static class VetService {

        private final Vets vets;

        private final DelayQueueTemplate delayQueue;

        VetService(Vets vets, DelayQueueTemplate delayQueue) {
            this.vets = vets;
            this.delayQueue = delayQueue;
        }

        /** Hires a vet and renames that vet after the commit. */
        @Transactional
        public SendResult hire(String name) {
            Vet vet = this.vets.save(new Vet(name));
            return this.delayQueue.send(DelayedMessage.builder("rename", vet.getId())
                .delay(Duration.ofMillis(10))
                .afterCommit(true)
                .build());
        }

        @DelayedListener("rename")
        @Transactional
        public void rename(Long id) {
            Vet vet = this.vets.findById(id).orElseThrow();
            vet.rename("Dr. " + vet.getName());
            this.vets.save(vet);
        }

    }

}
